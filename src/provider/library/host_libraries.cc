#include "provider/library/host_libraries.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace hone::library {
namespace {

// Values of CBLAS's enumerations (cblas.h).
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

using CblasSgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                            float alpha, const float* a, int lda, const float* b, int ldb,
                            float beta, float* c, int ldc);

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

// Variables that the library reads when it is loaded; the user's own values are kept.
void set_openblas_environment(std::size_t cores) {
  if (has_avx512()) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  setenv("OPENBLAS_NUM_THREADS", std::to_string(cores).c_str(), 1);
  // Idle threads poll for work for 2^n clock ticks. 2^20, about 0.4 ms, keeps them awake within a
  // batch of calls, and frees the cores before anything else is measured. The default 2^26 would
  // disturb that measurement.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
}

}  // namespace

Result<SgemmRoutine> open_openblas(std::span<const int> cores) {
  if (cores.empty()) return input_error("OpenBLAS needs at least one core");
  set_openblas_environment(cores.size());
  Result<device::SharedLibrary> library;
  start_on_cores(cores, [&] {
    library = device::SharedLibrary::open({"libopenblas.so.0"});
    void (*set_threads)(int) = nullptr;
    if (library && library->find("openblas_set_num_threads", set_threads))
      set_threads(static_cast<int>(cores.size()));
  });
  if (!library)
    return environment_error("OpenBLAS is not available ({}): apt install libopenblas0-pthread",
                             library.error().message);
  CblasSgemm sgemm = nullptr;
  if (!library->find("cblas_sgemm", sgemm))
    return environment_error(
        "libopenblas.so.0 has no cblas_sgemm: apt install libopenblas0-pthread");
  SgemmRoutine routine;
  const char* (*configuration)() = nullptr;
  if (library->find("openblas_get_config", configuration)) routine.version = configuration();
  routine.call = [sgemm](const Sgemm& shape, const float* a, const float* b, float* c) -> Status {
    const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n),
              k = static_cast<int>(shape.k);
    sgemm(kRowMajor, shape.transpose_a ? kTranspose : kNoTranspose,
          shape.transpose_b ? kTranspose : kNoTranspose, m, n, k, 1, a, shape.transpose_a ? m : k,
          b, shape.transpose_b ? k : n, 0, c, n);
    return {};
  };
  return routine;
}

std::unique_ptr<device::Library> openblas() {
  return sgemm_library("openblas", "OpenBLAS", open_openblas);
}

namespace {

// dnnl.h and dnnl_types.h of 2.x and 3.x.
using DnnlSgemm = int (*)(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
                          std::int64_t k, float alpha, const float* a, std::int64_t lda,
                          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);
struct Version {
  int major, minor, patch;
};

// Variables that OpenMP reads when it is loaded; the user's own values are kept.
void set_openmp_environment(std::size_t cores) {
  setenv("OMP_NUM_THREADS", std::to_string(cores).c_str(), 1);
  // Idle threads spin for about 0.4 ms, as OpenBLAS's do: awake within a batch of calls, and asleep
  // before anything else is measured.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", "10000", 0);
}

SgemmRoutine routine_of(DnnlSgemm sgemm) {
  return {.version = "oneDNN",
          .call = [sgemm](const Sgemm& shape, const float* a, const float* b, float* c) -> Status {
            const int status =
                sgemm(shape.transpose_a ? 'T' : 'N', shape.transpose_b ? 'T' : 'N', shape.m,
                      shape.n, shape.k, 1, a, shape.transpose_a ? shape.m : shape.k, b,
                      shape.transpose_b ? shape.k : shape.n, 0, c, shape.n);
            if (status != 0) return failure("oneDNN's dnnl_sgemm ends with status {}", status);
            return {};
          }};
}

// Product large enough for every thread: OpenMP starts the threads with the first product.
void start_threads(const SgemmRoutine& routine) {
  constexpr Sgemm kShape{.m = 1024, .n = 1024, .k = 256};
  const std::vector<float> a(kShape.m * kShape.k), b(kShape.k * kShape.n);
  std::vector<float> c(kShape.m * kShape.n);
  (void)routine.call(kShape, a.data(), b.data(), c.data());
}

}  // namespace

Result<SgemmRoutine> open_onednn(std::span<const int> cores) {
  if (cores.empty()) return input_error("oneDNN needs at least one core");
  set_openmp_environment(cores.size());
  const auto library = device::SharedLibrary::open({"libdnnl.so.3", "libdnnl.so.2"});
  if (!library)
    return environment_error("oneDNN is not available ({}): apt install libdnnl2",
                             library.error().message);
  DnnlSgemm sgemm = nullptr;
  if (!library->find("dnnl_sgemm", sgemm))
    return environment_error("libdnnl has no dnnl_sgemm: apt install libdnnl2");
  SgemmRoutine routine = routine_of(sgemm);
  const Version* (*version)() = nullptr;
  if (library->find("dnnl_version", version))
    if (const Version* const known = version())
      routine.version = fmt::format("oneDNN {}.{}.{}", known->major, known->minor, known->patch);
  start_on_cores(cores, [&] { start_threads(routine); });
  return routine;
}

std::unique_ptr<device::Library> onednn() {
  return sgemm_library("onednn", "oneDNN", open_onednn);
}

}  // namespace hone::library
