/* Every entry point of the drop-in for IREE's microkernel library, on its structs, against plain loops: all types, flags,
 * offsets and strides, tiles with kernels and without, on every set of features that the machine has. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef int64_t idx;

typedef struct {
  const void *lhs;
  idx lhs_offset, lhs_stride0;
  const void *rhs;
  idx rhs_offset, rhs_stride0;
  void *out;
  idx out_offset, out_stride0, m, n, k;
  int32_t m0, n0, k0;
  uint32_t flags;
  const uint64_t *cpu_data;
} mmt4d_params;

typedef struct {
  const void *in;
  idx in_offset, in_stride0, in_stride1;
  void *out;
  idx out_offset, out_stride0, out_stride1, in_size0, in_size1, out_size0, out_size1, out_size2, out_size3;
  uint64_t padding;
  uint32_t flags;
  const uint64_t *cpu_data;
} pack_params;

typedef struct {
  const void *in;
  idx in_offset, in_stride0, in_stride1;
  void *out;
  idx out_offset, out_stride0, out_stride1, in_size0, in_size1, in_size2, in_size3, out_size0, out_size1;
  uint32_t flags;
  const uint64_t *cpu_data;
} unpack_params;

typedef struct {
  const void *input;
  idx input_offset, input_stride_n, input_stride_ic, input_stride_h;
  const void *filter;
  idx filter_offset, filter_stride_oc, filter_stride_ic, filter_stride_fh;
  void *output;
  idx output_offset, output_stride_n, output_stride_oc, output_stride_oh, n, oc, oh, ow, ic, fh, fw;
  int32_t k0, c0, stride_h, stride_w;
  uint32_t flags;
  idx ow_count;
  const uint64_t *cpu_data;
} conv_params;

typedef struct {
  uint32_t flags;
  idx size0, size1;
  const uint64_t *cpu_data;
} query_params;

void iree_uk_mmt4d_p(const mmt4d_params *);
uint32_t iree_uk_mmt4d_info_p(const mmt4d_params *);
void iree_uk_mmt4d(const void *, idx, idx, const void *, idx, idx, void *, idx, idx, idx, idx, idx, int32_t, int32_t, int32_t,
                   uint32_t, const uint64_t *);
uint32_t iree_uk_mmt4d_info(int32_t, int32_t, int32_t, uint32_t, const uint64_t *);
void iree_uk_pack_p(const pack_params *);
void iree_uk_pack(const void *, idx, idx, idx, void *, idx, idx, idx, idx, idx, idx, idx, idx, idx, uint64_t, uint32_t,
                  const uint64_t *);
void iree_uk_unpack_p(const unpack_params *);
void iree_uk_unpack(const void *, idx, idx, idx, void *, idx, idx, idx, idx, idx, idx, idx, idx, idx, uint32_t,
                    const uint64_t *);
void iree_uk_conv_nchwc_p(const conv_params *);
uint32_t iree_uk_conv_nchwc_info_p(const conv_params *);
void iree_uk_conv_nchwc(const void *, idx, idx, idx, idx, const void *, idx, idx, idx, idx, void *, idx, idx, idx, idx, idx,
                        idx, idx, idx, idx, idx, idx, int32_t, int32_t, int32_t, int32_t, uint32_t, const uint64_t *);
uint32_t iree_uk_conv_nchwc_info(int32_t, int32_t, uint32_t, const uint64_t *);
void iree_uk_query_tile_sizes_2d(const query_params *, idx *);

enum { ACCUMULATE = 0x100, GENERIC = 0x200, SKIP_ROUNDINGS = 0x400, TURN_INNER = 0x100, TURN_OUTER = 0x200 };

static int failures = 0, cases = 0;
static uint32_t state = 2463534242u;
static int below(int n) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (int)(state >> 8) % n;
}

static void check(int ok, const char *what, int a, int b, int c) {
  cases++;
  if (!ok && failures++ < 20) printf("%s %dx%dx%d is wrong\n", what, a, b, c);
}

/* f16 and bf16 of whole numbers that both hold, with their signs, and back. */
static uint16_t half_of(float x, int brain) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if (brain) return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  if (x == 0) return (uint16_t)(bits >> 16 & 0x8000);
  /* Ties to even; all here are normal numbers. */
  uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
  return (uint16_t)((rounded >> 16 & 0x8000) | (((rounded & 0x7fffffff) >> 13) - (112 << 10)));
}
static float of_half(uint16_t h, int brain) {
  uint32_t bits = brain ? (uint32_t)h << 16 : (uint32_t)(h & 0x8000) << 16 | ((h & 0x7fff) ? ((uint32_t)(h & 0x7fff) << 13) + (112u << 23) : 0);
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

/* What a type's operands are, by their bits: 32 f32, 16 f16, 17 bf16, -32 i32, -16 i16, -8 i8, -4 i4, 4 u4. */
static const int TYPES[][3] = {{0},           {32, 32, 32}, {-8, -8, -32},   {16, 16, 32},   {16, 16, 16},  {17, 17, 32},
                               {17, 17, 17},  {-16, -16, -32}, {-16, 4, -32}, {-16, -8, -32}, {-8, -4, -32}};

static int bits_of(int type) { return type == 17 ? 16 : abs(type); }

static double get(const void *p, int type, idx at) {
  const int8_t *b = p;
  int nibble;
  switch (type) {
    case 32: return ((const float *)p)[at];
    case 16: case 17: return of_half(((const uint16_t *)p)[at], type == 17);
    case -32: return ((const int32_t *)p)[at];
    case -16: return ((const int16_t *)p)[at];
    case -8: return b[at];
    default:
      nibble = b[at / 2] >> 4 * (at % 2) & 15;
      return type == 4 || nibble < 8 ? nibble : nibble - 16;
  }
}

static void put(void *p, int type, idx at, double x) {
  switch (type) {
    case 32: ((float *)p)[at] = (float)x; break;
    case 16: case 17: ((uint16_t *)p)[at] = half_of((float)x, type == 17); break;
    case -32: ((int32_t *)p)[at] = (int32_t)x; break;
    case -16: ((int16_t *)p)[at] = (int16_t)x; break;
    case -8: ((int8_t *)p)[at] = (int8_t)x; break;
    default: {
      uint8_t *b = (uint8_t *)p + at / 2;
      int shift = 4 * (int)(at % 2);
      *b = (uint8_t)((*b & ~(15 << shift)) | (((int)x & 15) << shift));
    }
  }
}

static void *filled(int type, idx count, int range) {
  void *p = calloc((size_t)count * (size_t)bits_of(type) / 8 + 8, 1);
  for (idx i = 0; i < count; i++) put(p, type, i, type == 4 ? below(range) : below(range) - range / 2);
  return p;
}

static void mmt4d(uint32_t type, uint32_t flags, int m0, int n0, int k0, const uint64_t *cpu) {
  static const int SHAPES[][3] = {{0, 2, 1}, {2, 0, 1}, {1, 1, 0}, {2, 3, 0}, {1, 1, 1}, {2, 1, 3}, {1, 3, 17}};
  const int *t = TYPES[type];
  for (int shape = 0; shape < 7; shape++) {
    for (int accumulate = 0; accumulate < 2; accumulate++) {
      idx m = SHAPES[shape][0], n = SHAPES[shape][1], k = SHAPES[shape][2];
      mmt4d_params p = {.m = m, .n = n, .k = k, .m0 = m0, .n0 = n0, .k0 = k0, .cpu_data = cpu};
      p.flags = type | flags | (accumulate ? ACCUMULATE : 0u);
      p.lhs_stride0 = k * m0 * k0 + below(3), p.lhs_offset = below(3);
      p.rhs_stride0 = k * n0 * k0 + 2 * below(2), p.rhs_offset = 2 * below(2);
      p.out_stride0 = n * m0 * n0 + below(3), p.out_offset = below(3);
      idx out_count = p.out_offset + m * p.out_stride0 + 1;
      /* Sums stay small enough for each type. */
      int range = t[2] == 17 ? 3 : 5;
      void *lhs = filled(t[0], p.lhs_offset + m * p.lhs_stride0 + k * m0 * k0 + 2, range);
      void *rhs = filled(t[1], p.rhs_offset + n * p.rhs_stride0 + k * n0 * k0 + 2, range);
      void *out = filled(t[2], out_count, range), *expected = calloc((size_t)out_count * 4 + 8, 1);
      memcpy(expected, out, (size_t)out_count * (size_t)bits_of(t[2]) / 8);
      for (idx i = 0; i < m * m0; i++) {
        for (idx j = 0; j < n * n0; j++) {
          idx at = p.out_offset + i / m0 * p.out_stride0 + (j / n0 * m0 + i % m0) * n0 + j % n0;
          double sum = accumulate ? get(expected, t[2], at) : 0;
          for (idx l = 0; l < k * k0; l++) {
            sum += get(lhs, t[0], p.lhs_offset + i / m0 * p.lhs_stride0 + (l / k0 * m0 + i % m0) * k0 + l % k0) *
                   get(rhs, t[1], p.rhs_offset + j / n0 * p.rhs_stride0 + (l / k0 * n0 + j % n0) * k0 + l % k0);
            if (bits_of(t[2]) == 16 && !(flags & SKIP_ROUNDINGS)) sum = of_half(half_of((float)sum, t[2] == 17), t[2] == 17);
          }
          if (m && n && (k || !accumulate)) put(expected, t[2], at, sum);
        }
      }
      p.lhs = lhs, p.rhs = rhs, p.out = out;
      if (below(2)) {
        iree_uk_mmt4d_p(&p);
      } else {
        iree_uk_mmt4d(p.lhs, p.lhs_offset, p.lhs_stride0, p.rhs, p.rhs_offset, p.rhs_stride0, p.out, p.out_offset,
                      p.out_stride0, p.m, p.n, p.k, p.m0, p.n0, p.k0, p.flags, p.cpu_data);
      }
      for (idx i = 0; i < out_count; i++) {
        check(get(out, t[2], i) == get(expected, t[2], i), "mmt4d", m0, n0, k0);
      }
      check(iree_uk_mmt4d_info_p(&p) == iree_uk_mmt4d_info(m0, n0, k0, p.flags, cpu), "mmt4d info", m0, n0, k0);
      free(lhs), free(rhs), free(out), free(expected);
    }
  }
}

static const int MOVED[] = {0, 32, -8, -32, 16, 17};

static void moves(uint32_t type, uint32_t flags, int t0, int t1, const uint64_t *cpu) {
  int elem = MOVED[type], bytes = bits_of(elem) / 8, inner = !!(flags & TURN_INNER), outer = !!(flags & TURN_OUTER);
  idx rows = below(40), cols = below(40);
  /* The tile along the source's dims. */
  idx a = inner ? t1 : t0, b = inner ? t0 : t1, o0 = (rows + a - 1) / a + below(2), o1 = (cols + b - 1) / b + below(2);
  idx out0 = outer ? o1 : o0, out1 = outer ? o0 : o1;
  pack_params p = {.in_size0 = rows, .in_size1 = cols, .out_size0 = out0, .out_size1 = out1, .out_size2 = t0, .out_size3 = t1};
  p.flags = type | flags, p.cpu_data = cpu, p.padding = 0x0123456789abcdef;
  p.in_stride0 = cols + below(3), p.in_stride1 = 1, p.in_offset = below(3);
  p.out_stride1 = t0 * t1, p.out_stride0 = out1 * t0 * t1 + below(3), p.out_offset = below(3);
  idx in_count = p.in_offset + rows * p.in_stride0 + 1, out_count = p.out_offset + out0 * p.out_stride0 + 1;
  char *in = malloc((size_t)(in_count * bytes)), *out = calloc((size_t)out_count, (size_t)bytes);
  char *expected = calloc((size_t)out_count, (size_t)bytes), *back = calloc((size_t)in_count, (size_t)bytes);
  for (idx i = 0; i < in_count * bytes; i++) in[i] = (char)below(256);
  for (idx i = 0; i < o0 * a; i++) {
    for (idx j = 0; j < o1 * b; j++) {
      idx x = i / a, y = j / b, in_tile = inner ? j % b * t1 + i % a : i % a * t1 + j % b;
      idx at = p.out_offset + (outer ? y : x) * p.out_stride0 + (outer ? x : y) * p.out_stride1 + in_tile;
      const void *from = i < rows && j < cols ? in + (p.in_offset + i * p.in_stride0 + j) * bytes : (char *)&p.padding;
      memcpy(expected + at * bytes, from, (size_t)bytes);
    }
  }
  p.in = in, p.out = out;
  if (below(2)) {
    iree_uk_pack_p(&p);
  } else {
    iree_uk_pack(p.in, p.in_offset, p.in_stride0, p.in_stride1, p.out, p.out_offset, p.out_stride0, p.out_stride1, p.in_size0,
                 p.in_size1, p.out_size0, p.out_size1, p.out_size2, p.out_size3, p.padding, p.flags, p.cpu_data);
  }
  check(memcmp(out, expected, (size_t)(out_count * bytes)) == 0, "pack", (int)type, t0, t1);
  if (type != 2) {
    unpack_params u = {.in = out, .in_offset = p.out_offset, .in_stride0 = p.out_stride0, .in_stride1 = p.out_stride1};
    u.out = back, u.out_offset = p.in_offset, u.out_stride0 = p.in_stride0, u.out_stride1 = 1;
    u.in_size0 = out0, u.in_size1 = out1, u.in_size2 = t0, u.in_size3 = t1, u.out_size0 = rows, u.out_size1 = cols;
    u.flags = p.flags, u.cpu_data = cpu;
    if (below(2)) {
      iree_uk_unpack_p(&u);
    } else {
      iree_uk_unpack(u.in, u.in_offset, u.in_stride0, u.in_stride1, u.out, u.out_offset, u.out_stride0, u.out_stride1,
                     u.in_size0, u.in_size1, u.in_size2, u.in_size3, u.out_size0, u.out_size1, u.flags, u.cpu_data);
    }
    int same = 1;
    for (idx i = 0; i < rows; i++) {
      idx at = (p.in_offset + i * p.in_stride0) * bytes;
      same &= memcmp(back + at, in + at, (size_t)(cols * bytes)) == 0;
    }
    check(same, "unpack", (int)type, t0, t1);
  }
  free(in), free(out), free(expected), free(back);
}

static void conv(int k0, int c0, int stride, const uint64_t *cpu) {
  for (int round = 0; round < 8; round++) {
    int accumulate = round & 1;
    conv_params p = {.n = 1 + below(2), .oc = 1 + below(2), .oh = 1 + below(3), .ow = below(40), .ic = below(3), .k0 = k0, .c0 = c0};
    p.fh = 1 + below(3), p.fw = 1 + below(5), p.stride_h = p.stride_w = stride;
    idx h = (p.oh - 1) * stride + p.fh, w = (p.ow > 0 ? p.ow - 1 : 0) * stride + p.fw;
    p.flags = 1 | GENERIC | (accumulate ? ACCUMULATE : 0u), p.cpu_data = cpu;
    p.input_offset = below(3), p.filter_offset = below(3), p.output_offset = below(3);
    p.input_stride_h = w * c0 + below(3), p.input_stride_ic = h * p.input_stride_h, p.input_stride_n = p.ic * p.input_stride_ic;
    p.filter_stride_fh = p.fw * c0 * k0, p.filter_stride_ic = p.fh * p.filter_stride_fh + below(3);
    p.filter_stride_oc = p.ic * p.filter_stride_ic;
    p.output_stride_oh = p.ow * k0 + below(3), p.output_stride_oc = p.oh * p.output_stride_oh;
    p.output_stride_n = p.oc * p.output_stride_oc;
    idx count = p.output_offset + p.n * p.output_stride_n + 1;
    float *input = filled(32, p.input_offset + p.n * p.input_stride_n + 1, 5);
    float *filter = filled(32, p.filter_offset + p.oc * p.filter_stride_oc + 1, 5);
    float *output = filled(32, count, 5), *expected = malloc((size_t)count * 4);
    memcpy(expected, output, (size_t)count * 4);
    for (idx n = 0; n < p.n; n++)
      for (idx o = 0; o < p.oc * k0; o++)
        for (idx y = 0; y < p.oh; y++)
          for (idx x = 0; x < p.ow; x++) {
            float *out = expected + p.output_offset + n * p.output_stride_n + o / k0 * p.output_stride_oc + y * p.output_stride_oh + x * k0 + o % k0;
            float sum = accumulate ? *out : 0;
            for (idx i = 0; i < p.ic * c0; i++)
              for (idx u = 0; u < p.fh; u++)
                for (idx v = 0; v < p.fw; v++)
                  sum += input[p.input_offset + n * p.input_stride_n + i / c0 * p.input_stride_ic + (y * stride + u) * p.input_stride_h + (x * stride + v) * c0 + i % c0] *
                         filter[p.filter_offset + o / k0 * p.filter_stride_oc + i / c0 * p.filter_stride_ic + u * p.filter_stride_fh + (v * c0 + i % c0) * k0 + o % k0];
            *out = sum;
          }
    p.input = input, p.filter = filter, p.output = output;
    if (below(2)) {
      iree_uk_conv_nchwc_p(&p);
    } else {
      iree_uk_conv_nchwc(p.input, p.input_offset, p.input_stride_n, p.input_stride_ic, p.input_stride_h, p.filter,
                         p.filter_offset, p.filter_stride_oc, p.filter_stride_ic, p.filter_stride_fh, p.output, p.output_offset,
                         p.output_stride_n, p.output_stride_oc, p.output_stride_oh, p.n, p.oc, p.oh, p.ow, p.ic, p.fh, p.fw,
                         p.k0, p.c0, p.stride_h, p.stride_w, p.flags, p.cpu_data);
    }
    check(memcmp(output, expected, (size_t)count * 4) == 0, "conv", k0, c0, stride);
    check(iree_uk_conv_nchwc_info_p(&p) == iree_uk_conv_nchwc_info(k0, c0, p.flags, cpu), "conv info", k0, c0, stride);
    free(input), free(filter), free(output), free(expected);
  }
}

static void all(uint64_t features) {
  uint64_t cpu[8] = {features};
  static const int TILES[][3] = {{3, 5, 8}, {1, 8, 2}, {8, 8, 2}, {2, 8, 1}, {8, 8, 1}, {4, 16, 2}, {16, 16, 1}, {16, 16, 2},
                                 {1, 32, 8}, {8, 8, 8}, {7, 16, 2}, {12, 16, 8}};
  for (uint32_t type = 1; type <= 10; type++) {
    for (int t = 0; t < 12; t++) {
      int nibbles = type == 8 || type == 10;
      if (nibbles && TILES[t][2] % 2) continue;
      mmt4d(type, GENERIC, TILES[t][0], TILES[t][1], TILES[t][2], cpu);
      if (type == 4 || type == 6) mmt4d(type, GENERIC | SKIP_ROUNDINGS, TILES[t][0], TILES[t][1], TILES[t][2], cpu);
    }
  }
  static const int PANELS[][2] = {{1, 1}, {8, 1}, {16, 1}, {8, 8}, {16, 16}, {16, 2}, {8, 2}, {16, 4}, {3, 5}, {32, 8}};
  for (uint32_t type = 1; type <= 5; type++)
    for (uint32_t turns = 0; turns < 4; turns++)
      for (int t = 0; t < 10; t++)
        for (int round = 0; round < 3; round++) moves(type, turns << 8, PANELS[t][0], PANELS[t][1], cpu);
  conv(16, 16, 1, cpu), conv(8, 8, 1, cpu), conv(16, 8, 2, cpu), conv(3, 5, 1, cpu), conv(32, 16, 1, cpu);
  /* What nobody may ask for does nothing. */
  char nothing[64] = {0};
  mmt4d_params bad = {.out = nothing, .lhs = nothing, .rhs = nothing, .m = 1, .n = 1, .k = 1, .m0 = 1, .n0 = 1, .k0 = 1, .flags = 0x77 | GENERIC};
  iree_uk_mmt4d_p(&bad);
  bad.flags = 1, bad.m0 = -1;
  iree_uk_mmt4d_p(&bad);
  bad.m0 = 3, bad.n0 = 5, bad.k0 = 7;
  check(iree_uk_mmt4d_info_p(&bad) == 0, "info of a tile without a kernel", 3, 5, 7);
  iree_uk_mmt4d_p(&bad);
  static const char zeros[64];
  check(memcmp(nothing, zeros, 64) == 0, "a call that nobody may make", 0, 0, 0);
  idx sizes[2] = {0, 0};
  query_params query = {.flags = 0x103, .size0 = INT64_MIN, .size1 = INT64_MIN, .cpu_data = cpu};
  iree_uk_query_tile_sizes_2d(&query, sizes);
  check(sizes[0] > 0 && sizes[1] > 0, "tile sizes", (int)sizes[0], (int)sizes[1], 1);
}

/* The machine's own sets of features, the last one is 0. */
static void own_sets(uint64_t sets[4]) {
  int count = 0;
#if defined(__x86_64__)
  uint64_t avx2 = 1u << 3 | 1u << 10 | 1u << 11 | 1u << 14 | 1u << 15, avx512 = avx2 | 31u << 20, most = avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets[count++] = avx2;
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512cd")) {
    sets[count++] = avx512;
    if (__builtin_cpu_supports("avx512vnni")) most |= 1u << 28;
    if (__builtin_cpu_supports("avx512bf16")) most |= 1u << 31;
    if (most != avx512) sets[count++] = most;
  }
#elif defined(__riscv)
  if (getauxval(AT_HWCAP) >> ('V' - 'A') & 1) sets[count++] = 1;
#endif
  sets[count] = 0;
}

int main(int argc, char **argv) {
  /* Sets of features may be given, in hexadecimal: for machines that show more than they can run. */
  uint64_t sets[4];
  own_sets(sets);
  int count = 0;
  all(0);
  if (argc > 1) {
    for (int i = 1; i < argc; i++, count++) all(strtoull(argv[i], NULL, 16));
  } else {
    for (; sets[count]; count++) all(sets[count]);
  }
  if (failures == 0) printf("iree: %d checks passed without features and on %d sets of them\n", cases, count);
  return failures != 0;
}
