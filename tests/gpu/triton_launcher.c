/* Launches GEMMs as hone spec emit writes them, over the driver API, and compares each with sums
   computed here.

   usage: launcher FOLDER LAUNCHES CHECK     (gemms.h, which triton_runs.py writes, names them;
   FOLDER has their code)

   Every operand is an allocation of exactly its size, so that a tool which watches memory sees an
   access behind it. Operands are small whole numbers, so that sums in f32 and i32 are exact in any
   order; the output holds NaN (or 0xff) before each launch. Prints a line for each GEMM; exit
   status 1 when one is wrong or fails. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gemms.h"

enum Type { kf16, kbf16, kf32, kf8E4M3FN, kf8E5M2, ki8, ki32 };

struct Problem {
  long batch, m, n, k;
  int a_rows, b_rows;
  enum Type a, b, c;
};

static const char* folder;
static int launches, check, status;

static size_t size_of(enum Type type) {
  return type == kf32 || type == ki32 ? 4 : type == kf16 || type == kbf16 ? 2 : 1;
}

/* The bits of -3 ... 3, by their place from -3 on. */
static uint32_t bits_of(enum Type type, int value) {
  static const uint16_t f16[] = {0, 0x3c00, 0x4000, 0x4200}, bf16[] = {0, 0x3f80, 0x4000, 0x4040};
  static const uint8_t e4m3[] = {0, 0x38, 0x40, 0x44}, e5m2[] = {0, 0x3c, 0x40, 0x42};
  const int size = abs(value), negative = value < 0;
  const float as_float = (float)value;
  uint32_t bits = 0;
  switch (type) {
    case kf16:
      return f16[size] | (uint32_t)negative << 15;
    case kbf16:
      return bf16[size] | (uint32_t)negative << 15;
    case kf8E4M3FN:
      return e4m3[size] | (uint32_t)negative << 7;
    case kf8E5M2:
      return e5m2[size] | (uint32_t)negative << 7;
    case kf32:
      memcpy(&bits, &as_float, 4);
      return bits;
    default:
      return (uint32_t)value;
  }
}

static double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 31  ? (mantissa ? NAN : INFINITY)
                      : exponent == 0 ? ldexp(mantissa, -24)
                                      : ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 ? -size : size;
}

static double value_at(enum Type type, const unsigned char* bytes, size_t at) {
  uint32_t bits = 0;
  float value;
  memcpy(&bits, bytes + at * size_of(type), size_of(type));
  if (type == kf16) return from_f16((uint16_t)bits);
  if (type == ki8) return (int8_t)bits;
  if (type == ki32) return (int32_t)bits;
  if (type == kbf16) bits <<= 16;
  memcpy(&value, &bits, 4);
  return value;
}

/* `sum`, a whole number, in the nearest value of the type; of two equally near the even one. */
static double rounded(enum Type type, double sum) {
  const int digits = type == kf16 ? 11 : type == kbf16 ? 8 : 53;
  int exponent;
  (void)frexp(sum, &exponent);
  const double unit = ldexp(1, exponent - digits);
  return unit > 1 ? nearbyint(sum / unit) * unit : sum;
}

static CUresult upload(CUdeviceptr* to, const int8_t* values, size_t count, enum Type type) {
  const size_t size = size_of(type);
  unsigned char* bytes = malloc(count * size);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = bits_of(type, values[i]);
    memcpy(bytes + i * size, &bits, size);
  }
  CUresult code = cuMemAlloc(to, count * size);
  if (code == CUDA_SUCCESS) code = cuMemcpyHtoD(*to, bytes, count * size);
  free(bytes);
  return code;
}

struct Operands {
  int8_t *a, *b; /* as stored */
  CUdeviceptr da, db, dc, scratch;
  size_t c_bytes;
};

static CUresult make(struct Operands* of, const struct Problem* p, size_t scratch_bytes) {
  const size_t a = (size_t)(p->batch * p->m * p->k), b = (size_t)(p->batch * p->k * p->n);
  memset(of, 0, sizeof *of);
  of->a = malloc(a);
  of->b = malloc(b);
  uint64_t state =
      88172645463325252u; /* xorshift64: never 0, so that no product is without effect */
  for (size_t i = 0; i < a + b; ++i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int8_t value = (int8_t)((state >> 32) % 3 + 1);
    *(i < a ? of->a + i : of->b + (i - a)) = state >> 63 ? value : (int8_t)-value;
  }
  of->c_bytes = (size_t)(p->batch * p->m * p->n) * size_of(p->c);
  CUresult code = upload(&of->da, of->a, a, p->a);
  if (code == CUDA_SUCCESS) code = upload(&of->db, of->b, b, p->b);
  if (code == CUDA_SUCCESS) code = cuMemAlloc(&of->dc, of->c_bytes);
  if (code == CUDA_SUCCESS && scratch_bytes > 0) {
    code = cuMemAlloc(&of->scratch, scratch_bytes);
    if (code == CUDA_SUCCESS) code = cuMemsetD8(of->scratch, 0, scratch_bytes);
  }
  return code;
}

static void give_back(struct Operands* of) {
  free(of->a);
  free(of->b);
  cuMemFree(of->da);
  cuMemFree(of->db);
  cuMemFree(of->dc);
  if (of->scratch) cuMemFree(of->scratch);
}

static double sum_of(const struct Operands* of, const struct Problem* p, long matrix, long row,
                     long column) {
  const int8_t* a = of->a + matrix * p->m * p->k + (p->a_rows ? row * p->k : row);
  const int8_t* b = of->b + matrix * p->k * p->n + (p->b_rows ? column : column * p->k);
  const long step_a = p->a_rows ? 1 : p->m, step_b = p->b_rows ? p->n : 1;
  int64_t sum = 0;
  for (long k = 0; k < p->k; ++k) sum += a[k * step_a] * b[k * step_b];
  return (double)sum;
}

/* All elements of a small problem; of a large one the edges of C, and elements spread over it. */
static void compare(const char* label, const struct Operands* of, const struct Problem* p) {
  const long elements = p->batch * p->m * p->n, most = 200000000 / p->k;
  const long step = elements <= most ? 1 : elements / most * 2 + 1;
  unsigned char* c = malloc(of->c_bytes);
  if (cuMemcpyDtoH(c, of->dc, of->c_bytes) != CUDA_SUCCESS) {
    printf("%-32s its output cannot be read\n", label);
    status = 1;
    free(c);
    return;
  }
  double largest = 0;
  long wrong = 0, compared = 0, first = -1;
  for (long i = 0; i < elements; ++i) {
    const long row = i / p->n % p->m, column = i % p->n;
    const int edge = (row == p->m - 1 || column == p->n - 1) && i % 7 == 0;
    if (i % step != 0 && !edge && i != elements - 1) continue;
    const double expected = rounded(p->c, sum_of(of, p, i / p->n / p->m, row, column));
    const double error = fabs(value_at(p->c, c, (size_t)i) - expected);
    ++compared;
    if (error == 0) continue;
    if (wrong++ == 0) first = i;
    largest = error > largest || isnan(error) ? error : largest;
  }
  printf("%-32s %ld of %ld compared elements wrong, largest error %g", label, wrong, compared,
         largest);
  if (first >= 0) printf(", first [%ld, %ld]", first / p->n % p->m, first % p->n);
  printf("\n");
  if (wrong > 0) status = 1;
  free(c);
}

static void say_failure(const char* label, const char* where, CUresult code) {
  const char* text = NULL;
  cuGetErrorString(code, &text);
  printf("%-32s %s failed: %s (%d)\n", label, where, text ? text : "unknown error", (int)code);
  status = 1;
}

#define RUN(name, label, ...)                                                                    \
  {                                                                                              \
    const struct Problem problem = {__VA_ARGS__};                                                \
    struct Operands operands;                                                                    \
    name##_t gemm;                                                                               \
    const char* where = "making operands";                                                       \
    CUresult code = make(&operands, &problem, name##_SCRATCH_BYTES);                             \
    if (code == CUDA_SUCCESS) where = "loading", code = name##_load(&gemm, folder);              \
    const int loaded = code == CUDA_SUCCESS;                                                     \
    for (int i = 0; i < launches && code == CUDA_SUCCESS; ++i) {                                 \
      where = "launching";                                                                       \
      code = cuMemsetD8(operands.dc, 0xff, operands.c_bytes);                                    \
      if (code == CUDA_SUCCESS)                                                                  \
        code =                                                                                   \
            name##_launch(&gemm, operands.da, operands.db, operands.dc, operands.scratch, NULL); \
      if (code == CUDA_SUCCESS) where = "running", code = cuCtxSynchronize();                    \
    }                                                                                            \
    if (code != CUDA_SUCCESS)                                                                    \
      say_failure(label, where, code);                                                           \
    else if (check)                                                                              \
      compare(label, &operands, &problem);                                                       \
    if (loaded) name##_unload(&gemm);                                                            \
    give_back(&operands);                                                                        \
    fflush(stdout);                                                                              \
  }

int main(int count, char** arguments) {
  if (count != 4) return 2;
  folder = arguments[1];
  launches = atoi(arguments[2]);
  check = atoi(arguments[3]);
  CUdevice device;
  CUcontext context;
  CUresult code = cuInit(0);
  if (code == CUDA_SUCCESS) code = cuDeviceGet(&device, 0);
  if (code == CUDA_SUCCESS) code = cuDevicePrimaryCtxRetain(&context, device);
  if (code == CUDA_SUCCESS) code = cuCtxSetCurrent(context);
  if (code != CUDA_SUCCESS) {
    say_failure("GPU", "opening it", code);
    return 1;
  }
  GEMMS
  cuDevicePrimaryCtxRelease(device);
  return status;
}
