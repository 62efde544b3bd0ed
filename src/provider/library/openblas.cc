#include "provider/library/openblas.h"

#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <vector>

namespace hone::library {
namespace {

// Values of CBLAS's enumerations (cblas.h).
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

using SgemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                               float alpha, const float* a, int lda, const float* b, int ldb,
                               float beta, float* c, int ldc);

// Threads of this process.
std::set<int> threads() {
  std::set<int> ids;
  DIR* folder = opendir("/proc/self/task");
  if (!folder) return ids;
  while (const dirent* entry = readdir(folder))
    if (const int id = std::atoi(entry->d_name); id > 0) ids.insert(id);
  closedir(folder);
  return ids;
}

void pin(int thread, std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  sched_setaffinity(thread, sizeof(set), &set);
}

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

// The library reads these when it is loaded; what the user set is left alone.
void set_environment(std::size_t cores) {
  if (has_avx512()) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  setenv("OPENBLAS_NUM_THREADS", std::to_string(cores).c_str(), 1);
  // Its idle threads look for work for 2^n clock ticks: 2^20, about 0.4 ms, keeps them awake within
  // a batch of calls and lets the cores go before somebody else is measured. The default 2^26 would
  // disturb that measurement.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", 0);
}

}  // namespace

struct OpenBlas::State {
  // Never closed: the library does not end its threads.
  void* library = nullptr;
  SgemmFunction sgemm = nullptr;
  std::string configuration;
};

OpenBlas::OpenBlas(std::unique_ptr<State> state) : state_(std::move(state)) {}
OpenBlas::~OpenBlas() = default;
OpenBlas::OpenBlas(OpenBlas&&) noexcept = default;
OpenBlas& OpenBlas::operator=(OpenBlas&&) noexcept = default;

Result<OpenBlas> OpenBlas::open(std::span<const int> cores) {
  if (cores.empty()) return input_error("OpenBLAS needs at least one core");
  set_environment(cores.size());
  // It counts the cores it may use, and its threads inherit where the calling thread may run.
  cpu_set_t former;
  sched_getaffinity(0, sizeof(former), &former);
  const std::set<int> before = threads();
  pin(0, cores);
  auto state = std::make_unique<State>();
  state->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  const std::string reason = state->library ? "" : dlerror();
  auto find = [&state](const char* name) { return dlsym(state->library, name); };
  if (state->library)
    if (auto set_threads = reinterpret_cast<void (*)(int)>(find("openblas_set_num_threads")))
      set_threads(static_cast<int>(cores.size()));
  std::size_t next = 1;
  for (const int thread : threads())
    if (!before.contains(thread)) pin(thread, cores.subspan(next++ % cores.size(), 1));
  sched_setaffinity(0, sizeof(former), &former);

  if (!state->library)
    return environment_error("OpenBLAS is not available ({}): apt install libopenblas0-pthread",
                             reason);
  state->sgemm = reinterpret_cast<SgemmFunction>(find("cblas_sgemm"));
  if (!state->sgemm)
    return environment_error(
        "libopenblas.so.0 has no cblas_sgemm: apt install "
        "libopenblas0-pthread");
  if (auto configuration = reinterpret_cast<const char* (*)()>(find("openblas_get_config")))
    state->configuration = configuration();
  return OpenBlas(std::move(state));
}

const std::string& OpenBlas::configuration() const {
  return state_->configuration;
}

void OpenBlas::sgemm(const Sgemm& shape, const float* a, const float* b, float* c) const {
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n),
            k = static_cast<int>(shape.k);
  state_->sgemm(kRowMajor, shape.transpose_a ? kTranspose : kNoTranspose,
                shape.transpose_b ? kTranspose : kNoTranspose, m, n, k, 1, a,
                shape.transpose_a ? m : k, b, shape.transpose_b ? k : n, 0, c, n);
}

}  // namespace hone::library
