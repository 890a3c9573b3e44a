/* libsmalti_ukernels: hand-tuned microkernels for matmul and convolution.
 *
 * Select a kernel once, call it many times. No allocation, no state: every function may be called from any thread. Each says
 * what it does not check. Offsets and strides count elements.
 */

#ifndef SMALTI_UKERNELS_H
#define SMALTI_UKERNELS_H

/* Made by cbindgen from src/native.rs. */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * What a call came to.
 */
typedef enum smalti_status {
  /**
   * It is done.
   */
  SMALTI_OK = 0,
  /**
   * A pointer is null that is needed.
   */
  SMALTI_NULL = 1,
  /**
   * The target's text is not understood, or it is of another architecture than the library.
   */
  SMALTI_TARGET = 2,
  /**
   * No kernel is on these operand types, or a type is no value of `smalti_type`.
   */
  SMALTI_TYPES = 3,
  /**
   * The kernel is not as `smalti_select` made it, or it is of another operation.
   */
  SMALTI_KERNEL = 4,
  /**
   * More rows or columns than the tile has, or a size of 0 where there is none.
   */
  SMALTI_TILE = 5,
  /**
   * Sizes, strides and offsets reach beyond the address space.
   */
  SMALTI_OVERFLOW = 6,
  /**
   * The output overlaps an operand.
   */
  SMALTI_OVERLAP = 7,
  /**
   * Offsets or strides part a byte of two 4-bit elements.
   */
  SMALTI_NIBBLE = 8,
  /**
   * Less scratch than the kernel says.
   */
  SMALTI_SCRATCH = 9,
} smalti_status;

/**
 * Element types. 4-bit integers lie two in a byte, the first one in the low nibble.
 */
typedef enum smalti_type {
  /**
   * IEEE 754 binary64.
   */
  SMALTI_F64 = 0,
  /**
   * IEEE 754 binary32.
   */
  SMALTI_F32 = 1,
  /**
   * IEEE 754 binary16.
   */
  SMALTI_F16 = 2,
  /**
   * The upper half of a binary32.
   */
  SMALTI_BF16 = 3,
  /**
   * Signed 32-bit integer.
   */
  SMALTI_I32 = 4,
  /**
   * Signed 16-bit integer.
   */
  SMALTI_I16 = 5,
  /**
   * Signed 8-bit integer.
   */
  SMALTI_I8 = 6,
  /**
   * Unsigned 8-bit integer.
   */
  SMALTI_U8 = 7,
  /**
   * Signed 4-bit integer.
   */
  SMALTI_I4 = 8,
  /**
   * Unsigned 4-bit integer.
   */
  SMALTI_U4 = 9,
} smalti_type;

/**
 * Operations.
 */
typedef enum smalti_op {
  /**
   * Batch-reduce product of tiles.
   */
  SMALTI_MMT4D = 0,
  /**
   * Strided matrix to panels.
   */
  SMALTI_PACK = 1,
  /**
   * Panels to strided matrix.
   */
  SMALTI_UNPACK = 2,
} smalti_op;

/**
 * What is asked of a kernel.
 */
typedef struct smalti_query {
  /**
   * A value of `smalti_op`.
   */
  uint32_t op;
  /**
   * Values of `smalti_type`: left, right, output; of moves the first one counts.
   */
  uint32_t types[3];
  /**
   * Elements of k that share a scale of the right operand: 0 where there are no groups.
   */
  uint32_t group;
  /**
   * Whether the result must have the same bits on every machine.
   */
  bool strict;
  /**
   * Rows, columns and depth of the product; of moves the first two are the panel's tile.
   */
  size_t m;
  /**
   * See `m`.
   */
  size_t n;
  /**
   * See `m`.
   */
  size_t k;
} smalti_query;

/**
 * A kernel. It runs on machines of the target that it was selected for; that this machine is one is not checked.
 */
typedef struct smalti_kernel {
  /**
   * Its number, in this build of the library.
   */
  size_t id;
  /**
   * Rows of its tile. Of moves: rows of the panel's tile.
   */
  size_t m0;
  /**
   * Columns of its tile. Of moves: columns of the panel's tile.
   */
  size_t n0;
  /**
   * Depth of a k-tile.
   */
  size_t k0;
  /**
   * Bytes of scratch that a call needs.
   */
  size_t scratch;
  /**
   * 0 generic, 1 portable, 2 tuned.
   */
  uint32_t tier;
  /**
   * Whether it reads sums of the left operand's elements, which it else sums itself.
   */
  bool lhs_sums;
  /**
   * Its name, not terminated.
   */
  const char *name;
  /**
   * How many bytes the name has.
   */
  size_t name_length;
} smalti_kernel;

/**
 * One of the products that are summed.
 */
typedef struct smalti_batch {
  /**
   * Offset of row 0's first element in the left operand.
   */
  ptrdiff_t lhs;
  /**
   * Offset of column 0's first element in the right operand.
   */
  ptrdiff_t rhs;
  /**
   * Leading rows that take no part.
   */
  size_t skip_first;
  /**
   * Trailing rows that take no part.
   */
  size_t skip_last;
} smalti_batch;

/**
 * Operands of a tile of a product. Strides and offsets count elements.
 *
 * `out[r][c] = clamp(out0 + init[r][c] + sum of lhs * rhs over batches and k + bias[c])`, where `out0` is `out` if
 * `accumulate`, else 0: for `b` and `k` in order the products of `lhs[b.lhs + r*lhs_row_stride + k/K0*lhs_k_stride + k%K0]`
 * and `rhs[b.rhs + k/K0*rhs_k_stride + c*K0 + k%K0]`.
 */
typedef struct smalti_mmt4d_args {
  /**
   * Valid rows, at most the tile's.
   */
  size_t rows;
  /**
   * Valid columns, at most the tile's.
   */
  size_t cols;
  /**
   * Left operand.
   */
  const void *lhs;
  /**
   * From one row to the next.
   */
  ptrdiff_t lhs_row_stride;
  /**
   * From one k-tile to the next.
   */
  ptrdiff_t lhs_k_stride;
  /**
   * Right operand.
   */
  const void *rhs;
  /**
   * From one k-tile to the next.
   */
  ptrdiff_t rhs_k_stride;
  /**
   * The products to sum.
   */
  const struct smalti_batch *batches;
  /**
   * How many.
   */
  size_t batch_count;
  /**
   * Depth of each, in elements.
   */
  size_t k_per_batch;
  /**
   * Starting values of the output's type, or null.
   */
  const void *init;
  /**
   * From one row of starting values to the next; 0 where all rows share them.
   */
  ptrdiff_t init_row_stride;
  /**
   * One value of the output's type a column, or null.
   */
  const void *bias;
  /**
   * Low and high, of the output's type, or null.
   */
  const void *clamp;
  /**
   * Output.
   */
  void *out;
  /**
   * From one row to the next, at least the columns.
   */
  ptrdiff_t out_row_stride;
  /**
   * Whether `out` is added to.
   */
  bool accumulate;
  /**
   * Scales of the right operand, `[groups][N0]`, for types that have them; else null.
   */
  const float *scales;
  /**
   * Its zero points, of the same shape, or null where they are 0.
   */
  const float *zero_points;
  /**
   * Sums of the left operand's elements, `[groups][M0]`, or null.
   */
  const int32_t *lhs_sums;
  /**
   * Where the next right operand begins, or null.
   */
  const void *prefetch_rhs;
  /**
   * Where the next output begins, or null.
   */
  const void *prefetch_out;
  /**
   * Workspace.
   */
  void *scratch;
  /**
   * Its bytes.
   */
  size_t scratch_length;
} smalti_mmt4d_args;

/**
 * Operands of a pack: `out[o0*out_strides[0] + o1*out_strides[1] + i0*T1 + i1]` is the source's element of row `o0*T0+i0`,
 * column `o1*T1+i1`, or the padding value where there is none. Transposes are choices of strides.
 */
typedef struct smalti_pack_args {
  /**
   * Rows and columns of the source.
   */
  size_t size[2];
  /**
   * The source.
   */
  const void *src;
  /**
   * From one row, and one column, to the next.
   */
  ptrdiff_t src_strides[2];
  /**
   * How many tiles, in either dim.
   */
  size_t outer[2];
  /**
   * The panels.
   */
  void *out;
  /**
   * From one tile to the next, in either dim.
   */
  ptrdiff_t out_strides[2];
  /**
   * The padding value's bits, in the low bytes.
   */
  uint64_t padding;
} smalti_pack_args;

/**
 * Operands of an unpack, the inverse of a pack without padding.
 */
typedef struct smalti_unpack_args {
  /**
   * Rows and columns of the output.
   */
  size_t size[2];
  /**
   * The panels.
   */
  const void *src;
  /**
   * From one tile to the next, in either dim.
   */
  ptrdiff_t src_strides[2];
  /**
   * The output.
   */
  void *out;
  /**
   * From one row, and one column, to the next.
   */
  ptrdiff_t out_strides[2];
} smalti_unpack_args;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * A sentence for a status.
 */
const char *smalti_status_message(uint32_t status);

/**
 * Selects the kernel that serves a product, or moves panels, on machines of a target: a text such as `x86_64_v4`,
 * `riscv64+v,vlen=256` or `host`.
 *
 * # Safety
 * `query` and `out` are null or valid, `target` is null or a terminated text.
 */
enum smalti_status smalti_select(const struct smalti_query *query,
                                 const char *target,
                                 struct smalti_kernel *out);

/**
 * Runs a tile of a product.
 *
 * Not checked: that operands are as large as sizes, strides and offsets say, and that the machine is one of the target that
 * the kernel was selected for.
 *
 * # Safety
 * `kernel` and `args` are null or valid; what is not checked holds.
 */
enum smalti_status smalti_mmt4d(const struct smalti_kernel *kernel,
                                const struct smalti_mmt4d_args *args);

/**
 * Packs a matrix.
 *
 * Not checked: that operands are as large as sizes and strides say, that tiles do not overlap, and that the machine is one of
 * the target that the kernel was selected for.
 *
 * # Safety
 * `kernel` and `args` are null or valid; what is not checked holds.
 */
enum smalti_status smalti_pack(const struct smalti_kernel *kernel,
                               const struct smalti_pack_args *args);

/**
 * Unpacks a matrix.
 *
 * Not checked: as for `smalti_pack`.
 *
 * # Safety
 * `kernel` and `args` are null or valid; what is not checked holds.
 */
enum smalti_status smalti_unpack(const struct smalti_kernel *kernel,
                                 const struct smalti_unpack_args *args);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SMALTI_UKERNELS_H */
