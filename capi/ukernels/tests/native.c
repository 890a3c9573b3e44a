/* Every native function of libsmalti_ukernels against plain loops, and what it refuses. */

#include "smalti_ukernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition, ...)                     \
  do {                                            \
    if (!(condition)) {                           \
      printf("%s:%d: ", __FILE__, __LINE__);      \
      printf(__VA_ARGS__);                        \
      printf("\n");                               \
      failures++;                                 \
    }                                             \
  } while (0)

/* A small generator (Marsaglia's xorshift32). */
static uint32_t state = 12345;
static int below(int n) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (int)(state >> 8) % n;
}

/* Small whole numbers: sums are exact in f32. */
static float f32(void) { return (float)(below(17) - 8); }

static smalti_kernel select_or_die(smalti_query query, const char *target) {
  smalti_kernel kernel;
  smalti_status status = smalti_select(&query, target, &kernel);
  if (status != SMALTI_OK) {
    printf("smalti_select on %s: %s\n", target, smalti_status_message(status));
    exit(1);
  }
  return kernel;
}

/* A product of m x n x k, row-major operands, the right one packed. */
static void f32_product(const char *target, size_t m, size_t n, size_t k) {
  smalti_query query = {.op = SMALTI_MMT4D, .types = {SMALTI_F32, SMALTI_F32, SMALTI_F32}, .m = m, .n = n, .k = k};
  smalti_kernel kernel = select_or_die(query, target);
  CHECK(kernel.name_length > 5 && memcmp(kernel.name, "mmt4d_", 6) == 0, "the kernel's name");
  smalti_query packing = {.op = SMALTI_PACK, .types = {SMALTI_F32}, .m = kernel.n0, .n = kernel.k0};
  smalti_kernel pack = select_or_die(packing, target);

  float *lhs = malloc(m * k * sizeof *lhs), *rhs = malloc(k * n * sizeof *rhs), *out = malloc(m * n * sizeof *out);
  for (size_t i = 0; i < m * k; i++) lhs[i] = f32();
  for (size_t i = 0; i < k * n; i++) rhs[i] = f32();
  for (size_t i = 0; i < m * n; i++) out[i] = 77.0f;
  size_t n1 = (n + kernel.n0 - 1) / kernel.n0, k1 = (k + kernel.k0 - 1) / kernel.k0;
  size_t panel = k1 * kernel.n0 * kernel.k0;
  float *packed = malloc(n1 * panel * sizeof *packed);
  /* The right operand's columns are the panels' rows. */
  smalti_pack_args columns = {
      .size = {n, k},
      .src = rhs,
      .src_strides = {1, (ptrdiff_t)n},
      .outer = {n1, k1},
      .out = packed,
      .out_strides = {(ptrdiff_t)panel, (ptrdiff_t)(kernel.n0 * kernel.k0)},
  };
  smalti_status status = smalti_pack(&pack, &columns);
  CHECK(status == SMALTI_OK, "smalti_pack: %s", smalti_status_message(status));
  void *scratch = malloc(kernel.scratch + 1);
  smalti_batch batch = {0};
  for (size_t i = 0; i < m; i += kernel.m0) {
    for (size_t j = 0; j < n1; j++) {
      smalti_mmt4d_args args = {
          .rows = m - i < kernel.m0 ? m - i : kernel.m0,
          .cols = n - j * kernel.n0 < kernel.n0 ? n - j * kernel.n0 : kernel.n0,
          .lhs = lhs + i * k,
          .lhs_row_stride = (ptrdiff_t)k,
          .lhs_k_stride = (ptrdiff_t)kernel.k0,
          .rhs = packed + j * panel,
          .rhs_k_stride = (ptrdiff_t)(kernel.n0 * kernel.k0),
          .batches = &batch,
          .batch_count = 1,
          .k_per_batch = k,
          .out = out + i * n + j * kernel.n0,
          .out_row_stride = (ptrdiff_t)n,
          .scratch = scratch,
          .scratch_length = kernel.scratch,
      };
      status = smalti_mmt4d(&kernel, &args);
      CHECK(status == SMALTI_OK, "smalti_mmt4d: %s", smalti_status_message(status));
    }
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      float sum = 0.0f;
      for (size_t l = 0; l < k; l++) sum += lhs[i * k + l] * rhs[l * n + j];
      CHECK(out[i * n + j] == sum, "%s %zux%zux%zu [%zu][%zu]: %g, expected %g", target, m, n, k, i, j, out[i * n + j],
            sum);
    }
  }
  free(lhs), free(rhs), free(out), free(packed), free(scratch);
}

/* i8 on i4 with a scale and a zero point for each 32 of k, one whole tile. */
static void grouped_product(const char *target) {
  enum { K = 75, GROUPS = 3 };
  smalti_query query = {
      .op = SMALTI_MMT4D, .types = {SMALTI_I8, SMALTI_I4, SMALTI_F32}, .group = 32, .m = 3, .n = 40, .k = K};
  smalti_kernel kernel = select_or_die(query, target);
  size_t m0 = kernel.m0, n0 = kernel.n0, k0 = kernel.k0, k1 = (K + k0 - 1) / k0;
  int8_t *lhs = malloc(m0 * K);
  uint8_t *rhs = calloc(k1 * n0 * k0 / 2, 1);
  float *scales = malloc(GROUPS * n0 * sizeof *scales), *zeros = malloc(GROUPS * n0 * sizeof *zeros);
  float *out = malloc(m0 * n0 * sizeof *out);
  for (size_t i = 0; i < m0 * K; i++) lhs[i] = (int8_t)(below(255) - 127);
  for (size_t i = 0; i < k1 * n0 * k0 / 2; i++) rhs[i] = (uint8_t)below(256);
  for (size_t i = 0; i < GROUPS * n0; i++) scales[i] = (float)(1 << below(3)) / 2, zeros[i] = (float)(below(16) - 8);
  void *scratch = malloc(kernel.scratch + 1);
  smalti_batch batch = {0};
  smalti_mmt4d_args args = {
      .rows = m0,
      .cols = n0,
      .lhs = lhs,
      .lhs_row_stride = K,
      .lhs_k_stride = (ptrdiff_t)k0,
      .rhs = rhs,
      .rhs_k_stride = (ptrdiff_t)(n0 * k0),
      .batches = &batch,
      .batch_count = 1,
      .k_per_batch = K,
      .out = out,
      .out_row_stride = (ptrdiff_t)n0,
      .scales = scales,
      .zero_points = zeros,
      .scratch = scratch,
      .scratch_length = kernel.scratch,
  };
  smalti_status status = smalti_mmt4d(&kernel, &args);
  CHECK(status == SMALTI_OK, "smalti_mmt4d: %s", smalti_status_message(status));
  for (size_t r = 0; r < m0; r++) {
    for (size_t c = 0; c < n0; c++) {
      float sum = 0.0f;
      for (size_t g = 0; g < GROUPS; g++) {
        float part = 0.0f;
        for (size_t k = 32 * g; k < 32 * (g + 1) && k < K; k++) {
          size_t at = (k / k0 * n0 + c) * k0 + k % k0;
          int nibble = rhs[at / 2] >> 4 * (at % 2) & 15;
          part += (float)lhs[r * K + k] * ((float)(nibble < 8 ? nibble : nibble - 16) - zeros[g * n0 + c]);
        }
        sum += scales[g * n0 + c] * part;
      }
      CHECK(out[r * n0 + c] == sum, "%s grouped [%zu][%zu]: %g, expected %g", target, r, c, out[r * n0 + c], sum);
    }
  }
  args.scales = NULL;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_NULL, "scales that are missing");
  args.scales = scales, args.rhs_k_stride++;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_NIBBLE, "half a byte");
  free(lhs), free(rhs), free(scales), free(zeros), free(out), free(scratch);
}

/* Panels of bytes, there and back, with and without transposes. */
static void moves(const char *target, size_t rows, size_t cols, size_t t0, size_t t1) {
  size_t o0 = (rows + t0 - 1) / t0, o1 = (cols + t1 - 1) / t1;
  uint8_t *matrix = malloc(rows * cols), *panels = malloc(o0 * o1 * t0 * t1), *back = calloc(rows * cols, 1);
  for (size_t i = 0; i < rows * cols; i++) matrix[i] = (uint8_t)below(256);
  for (int transposed = 0; transposed < 2; transposed++) {
    ptrdiff_t strides[2] = {transposed ? 1 : (ptrdiff_t)cols, transposed ? (ptrdiff_t)rows : 1};
    smalti_query query = {.op = SMALTI_PACK, .types = {SMALTI_U8}, .m = t0, .n = t1};
    smalti_kernel pack = select_or_die(query, target);
    query.op = SMALTI_UNPACK;
    smalti_kernel unpack = select_or_die(query, target);
    ptrdiff_t outer[2] = {(ptrdiff_t)(o1 * t0 * t1), (ptrdiff_t)(t0 * t1)};
    smalti_pack_args there = {
        {rows, cols}, matrix, {strides[0], strides[1]}, {o0, o1}, panels, {outer[0], outer[1]}, 0x5a};
    smalti_unpack_args again = {{rows, cols}, panels, {outer[0], outer[1]}, back, {strides[0], strides[1]}};
    CHECK(smalti_pack(&pack, &there) == SMALTI_OK, "smalti_pack");
    CHECK(smalti_unpack(&unpack, &again) == SMALTI_OK, "smalti_unpack");
    CHECK(memcmp(matrix, back, rows * cols) == 0, "%s %zux%zu in %zux%zu", target, rows, cols, t0, t1);
    for (size_t r = 0; r < o0 * t0; r++) {
      for (size_t c = 0; c < o1 * t1; c++) {
        uint8_t expected = r < rows && c < cols ? matrix[(ptrdiff_t)r * strides[0] + (ptrdiff_t)c * strides[1]] : 0x5a;
        CHECK(panels[(r / t0 * o1 + c / t1) * t0 * t1 + r % t0 * t1 + c % t1] == expected, "%s panels", target);
      }
    }
    there.out = matrix;
    CHECK(smalti_pack(&pack, &there) == SMALTI_OVERLAP, "panels over the source");
    there.out = NULL;
    CHECK(smalti_pack(&pack, &there) == SMALTI_NULL, "no panels");
    CHECK(smalti_pack(&unpack, &there) == SMALTI_KERNEL, "a kernel of another operation");
  }
  free(matrix), free(panels), free(back);
}

static void refusals(void) {
  smalti_query query = {.op = SMALTI_MMT4D, .types = {SMALTI_F32, SMALTI_F32, SMALTI_F32}, .m = 1, .n = 1, .k = 1};
  smalti_kernel kernel;
  CHECK(smalti_select(NULL, "host", &kernel) == SMALTI_NULL, "no query");
  CHECK(smalti_select(&query, NULL, &kernel) == SMALTI_NULL, "no target");
  CHECK(smalti_select(&query, "z80", &kernel) == SMALTI_TARGET, "a target of no kind");
  query.types[1] = 99;
  CHECK(smalti_select(&query, "host", &kernel) == SMALTI_TYPES, "a type of no kind");
  query.types[1] = SMALTI_I8, query.types[2] = SMALTI_F16;
  CHECK(smalti_select(&query, "host", &kernel) == SMALTI_TYPES, "types that no kernel is on");
  query.types[1] = query.types[2] = SMALTI_F32;
  CHECK(smalti_select(&query, "host", &kernel) == SMALTI_OK, "a kernel");

  float operands[64] = {0}, out[64] = {0};
  smalti_batch batch = {0};
  smalti_mmt4d_args good = {
      .rows = 1,
      .cols = 1,
      .lhs = operands,
      .lhs_row_stride = 1,
      .lhs_k_stride = 1,
      .rhs = operands,
      .rhs_k_stride = 1,
      .batches = &batch,
      .batch_count = 1,
      .k_per_batch = 4,
      .out = out,
      .out_row_stride = 1,
  };
  CHECK(smalti_mmt4d(&kernel, &good) == SMALTI_OK, "a good call");
  smalti_mmt4d_args args = good;
  args.lhs = NULL;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_NULL, "no left operand");
  args = good, args.out = NULL;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_NULL, "no output");
  args = good, args.rows = kernel.m0 + 1;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_TILE, "too many rows");
  args = good, args.out = operands;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_OVERLAP, "the output is an operand");
  args = good, args.rhs_k_stride = PTRDIFF_MAX;
  CHECK(smalti_mmt4d(&kernel, &args) == SMALTI_OVERFLOW, "beyond the address space");
  smalti_kernel wrong = kernel;
  wrong.id = 1u << 20;
  CHECK(smalti_mmt4d(&wrong, &good) == SMALTI_KERNEL, "a kernel of no number");
  wrong = kernel, wrong.m0 *= 2;
  CHECK(smalti_mmt4d(&wrong, &good) == SMALTI_KERNEL, "a tile that was changed");
  CHECK(smalti_mmt4d(NULL, &good) == SMALTI_NULL, "no kernel");
  CHECK(strstr(smalti_status_message(SMALTI_OVERLAP), "overlaps") != NULL, "a sentence");
}

int main(int argc, char **argv) {
  /* The machine's own level, or one that is below it. */
  const char *target = argc > 1 ? argv[1] : "host";
  f32_product(target, 1, 1, 1);
  f32_product(target, 2, 70, 33);
  f32_product(target, 29, 67, 53);
  f32_product(target, 3, 5, 0);
  grouped_product(target);
  moves(target, 1, 1, 1, 1);
  moves(target, 37, 53, 16, 4);
  moves(target, 64, 64, 8, 8);
  moves(target, 70, 33, 32, 2);
  moves(target, 5, 7, 3, 5);
  refusals();
  if (failures == 0) printf("native: all passed on %s\n", target);
  return failures != 0;
}
