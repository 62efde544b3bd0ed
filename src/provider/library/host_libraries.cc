#include "provider/library/host_libraries.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "problem/contraction.h"

namespace hone::library {
namespace {

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

// Calls `start`, which makes a library start its threads, while the calling thread is bound to
// `cores`, so that a library which counts its cores finds these. Then pins each thread that `start`
// created to a core of its own. The calling thread counts as the first, and gets its previous
// affinity back.
void start_on_cores(std::span<const int> cores, const std::function<void()>& start) {
  // Threads inherit the affinity of the thread that starts them.
  cpu_set_t former;
  sched_getaffinity(0, sizeof(former), &former);
  const std::set<int> before = threads();
  pin(0, cores);
  start();
  std::size_t next = 1;
  for (const int thread : threads())
    if (!before.contains(thread)) pin(thread, cores.subspan(next++ % cores.size(), 1));
  sched_setaffinity(0, sizeof(former), &former);
}

using problem::Operand;
using problem::Operation;

class SgemmKernel final : public device::Kernel {
 public:
  SgemmKernel(SgemmRoutine routine, const SgemmPlan& plan)
      : routine_(std::move(routine)), plan_(plan) {}

  Status launch(std::span<const device::Buffer> bindings) override {
    const auto& shape = plan_.shape;
    const auto* first = static_cast<const float*>(bindings[plan_.swapped ? 1 : 0].data);
    const auto* second = static_cast<const float*>(bindings[plan_.swapped ? 0 : 1].data);
    auto* output = static_cast<float*>(bindings[2].data);
    for (std::int64_t i = 0; i < plan_.batches; ++i)
      HONE_TRY(routine_.call(shape, first + i * shape.m * shape.k, second + i * shape.k * shape.n,
                             output + i * shape.m * shape.n));
    return {};
  }
  bool uses_device_threads() const override { return false; }

 private:
  SgemmRoutine routine_;
  SgemmPlan plan_;
};

// The root alone, in f32, as sgemm computes it.
problem::Dispatch root_in_f32(const problem::Dispatch& dispatch) {
  problem::Dispatch root;
  root.name = dispatch.name;
  root.root = dispatch.root;
  root.root_operations = 1;
  for (Operand& operand : root.root.operands) {
    operand.type.element = problem::ElementType::kF32;
    root.bindings.push_back(
        {.access = operand.output ? problem::Access::kWriteOnly : problem::Access::kReadOnly,
         .use = operand.output ? problem::BindingUse::kOutput : problem::BindingUse::kRootInput,
         .type = operand.type,
         .bytes = problem::element_count(operand.type) * 4});
  }
  return root;
}

std::string note_for(const problem::Dispatch& dispatch) {
  std::string note;
  for (const Operand& operand : dispatch.root.operands)
    if (operand.type.element != problem::ElementType::kF32) {
      note = fmt::format("{} operands as f32, converted beforehand",
                         problem::name_of(operand.type.element));
      break;
    }
  if (!problem::is_bare(dispatch))
    note += (note.empty() ? "" : "; ") + std::string("without what is fused around the product");
  return note;
}

class SgemmLibrary final : public device::Library {
 public:
  using Open = std::function<Result<SgemmRoutine>(std::span<const int> cores)>;
  SgemmLibrary(std::string_view name, std::string_view title, Open open)
      : name_(name), title_(title), open_(std::move(open)) {}

  std::string_view name() const override { return name_; }
  std::string_view title() const override { return title_; }
  std::string_view device_kind() const override { return "cpu"; }

  Result<device::LibraryKernels> kernels(const problem::Dispatch& dispatch, device::Device&,
                                         std::span<const int> cores) override {
    HONE_ASSIGN(const SgemmPlan plan, plan_sgemm(dispatch.root));
    // Opening starts threads, and a runner has one problem after the other.
    if (!routine_ || !std::ranges::equal(cores_, cores)) {
      HONE_ASSIGN(routine_, open_(cores));
      cores_.assign(cores.begin(), cores.end());
    }
    device::LibraryKernels found{
        .library = routine_->version.empty() ? std::string(title_) : routine_->version,
        .kernels = {}};
    found.kernels.push_back({std::make_unique<SgemmKernel>(*routine_, plan), ""});
    found.problem = root_in_f32(dispatch);
    found.note = note_for(dispatch);
    return found;
  }

 private:
  std::string_view name_, title_;
  Open open_;
  std::optional<SgemmRoutine> routine_;
  std::vector<int> cores_;  // that it was opened for
};

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

Result<SgemmPlan> plan_sgemm(const Operation& operation) {
  HONE_ASSIGN(const device::Product product, device::plan_product(operation));
  for (const Operand& operand : operation.operands)
    if (!problem::is_float(operand.type.element) ||
        operand.type.element == problem::ElementType::kF64)
      return input_error("sgemm computes in f32; {} has {} operands", problem::describe(operation),
                         problem::name_of(operand.type.element));
  return SgemmPlan{.shape = {.m = product.m,
                             .n = product.n,
                             .k = product.k,
                             .transpose_a = product.transpose_a,
                             .transpose_b = product.transpose_b},
                   .batches = product.batches,
                   .swapped = product.bindings[0] == 1};
}

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
  return std::make_unique<SgemmLibrary>("openblas", "OpenBLAS", open_openblas);
}

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
  return std::make_unique<SgemmLibrary>("onednn", "oneDNN", open_onednn);
}

}  // namespace hone::library
