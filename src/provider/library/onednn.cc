#include "provider/library/onednn.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "provider/library/library_threads.h"

namespace hone::library {
namespace {

// dnnl.h and dnnl_types.h of 2.x and 3.x.
using DnnlSgemm = int (*)(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
                          std::int64_t k, float alpha, const float* a, std::int64_t lda,
                          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);
struct Version {
  int major, minor, patch;
};

constexpr std::array kNames = {"libdnnl.so.3", "libdnnl.so.2"};

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
  void* library = nullptr;  // never closed: OpenMP does not end its threads
  std::string reason;
  for (const char* const name : kNames) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) reason = dlerror();
  }
  if (library == nullptr)
    return environment_error("oneDNN is not available ({}): apt install libdnnl2", reason);
  const auto sgemm = reinterpret_cast<DnnlSgemm>(dlsym(library, "dnnl_sgemm"));
  if (sgemm == nullptr) return environment_error("libdnnl has no dnnl_sgemm: apt install libdnnl2");
  SgemmRoutine routine = routine_of(sgemm);
  if (auto version = reinterpret_cast<const Version* (*)()>(dlsym(library, "dnnl_version")))
    if (const Version* const known = version())
      routine.version = fmt::format("oneDNN {}.{}.{}", known->major, known->minor, known->patch);
  start_on_cores(cores, [&] { start_threads(routine); });
  return routine;
}

std::unique_ptr<device::Library> onednn() {
  return sgemm_library("onednn", "oneDNN", open_onednn);
}

}  // namespace hone::library
