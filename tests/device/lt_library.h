// The C source of a library that multiplies matrices on the host as cuBLASLt's documentation says.
#pragma once

namespace hone::test {

// Column-major f32 products on the host. It offers three algorithms, of which the second does not
// work.
inline constexpr const char* kLtLibrary = R"(
typedef unsigned long u64; typedef long i64;
struct layout { u64 rows, columns; i64 leading, stride; int batches; };
struct matmul { int a, b; };
void* malloc(u64); void free(void*); void* memcpy(void*, const void*, u64);
u64 cublasLtGetVersion() { return VERSION; }
const char* cublasLtGetStatusName(int code) { return "CUBLAS_STATUS_NOT_SUPPORTED"; }
int cublasLtCreate(void** handle) { *handle = malloc(1); return 0; }
int cublasLtDestroy(void* handle) { free(handle); return 0; }
int cublasLtMatmulDescCreate(struct matmul** m, int compute, int scale) {
  *m = malloc(sizeof(**m)); (*m)->a = (*m)->b = 0; return compute == 68 && scale == 0 ? 0 : 15; }
int cublasLtMatmulDescSetAttribute(struct matmul* m, int which, const int* value, u64 n) {
  if (which == 3) m->a = *value; else m->b = *value; return 0; }
int cublasLtMatmulDescDestroy(void* m) { free(m); return 0; }
int cublasLtMatrixLayoutCreate(struct layout** l, int type, u64 rows, u64 columns, i64 leading) {
  *l = malloc(sizeof(**l)); (*l)->rows = rows; (*l)->columns = columns; (*l)->leading = leading;
  return 0; }
int cublasLtMatrixLayoutSetAttribute(struct layout* l, int which, const void* value, u64 n) {
  if (which == 5) memcpy(&l->batches, value, n); else memcpy(&l->stride, value, n); return 0; }
int cublasLtMatrixLayoutDestroy(void* l) { free(l); return 0; }
int cublasLtMatmulPreferenceCreate(void** p) { *p = malloc(1); return 0; }
int cublasLtMatmulPreferenceSetAttribute(void* p, int which, const void* value, u64 n) { return 0; }
int cublasLtMatmulPreferenceDestroy(void* p) { free(p); return 0; }
struct result { u64 algorithm[8], workspace; int status; float waves; int reserved[4]; };
int cublasLtMatmulAlgoGetHeuristic(void* h, void* m, void* a, void* b, void* c, void* d, void* p,
                                   int most, struct result* results, int* count) {
  for (*count = 0; *count < 3 && *count < most; ++*count) {
    results[*count].algorithm[0] = 60 + *count; results[*count].workspace = 0;
    results[*count].status = *count == 1 ? 15 : 0; }
  return 0; }
int cublasLtMatmulAlgoConfigGetAttribute(const u64* algorithm, int which, int* value, u64 n, u64* w) {
  *value = which == 0 ? algorithm[0] : which; return 0; }
int cublasLtMatmul(void* h, struct matmul* m, float* alpha, float* a, struct layout* al, float* b,
                   struct layout* bl, float* beta, float* c, struct layout* cl, float* d,
                   struct layout* dl, void* algorithm, void* workspace, u64 bytes, void* stream) {
  u64 depth = m->a ? al->rows : al->columns;
  if (depth != (m->b ? bl->columns : bl->rows)) return 7;
  for (int batch = 0; batch < dl->batches; ++batch)
    for (u64 i = 0; i < dl->rows; ++i)
      for (u64 j = 0; j < dl->columns; ++j) {
        float sum = 0;
        for (u64 k = 0; k < depth; ++k)
          sum += a[batch * al->stride + (m->a ? k + i * al->leading : i + k * al->leading)] *
                 b[batch * bl->stride + (m->b ? j + k * bl->leading : k + j * bl->leading)];
        float* to = d + batch * dl->stride + i + j * dl->leading;
        *to = *alpha * sum + (*beta ? *beta * *to : 0); }
  return 0; }
)";

}  // namespace hone::test
