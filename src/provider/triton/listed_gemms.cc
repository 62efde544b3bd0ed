#include "provider/triton/listed_gemms.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "problem/target.h"
#include "provider/triton/gemm.h"
#include "provider/triton/user_kernel.h"

namespace hone::triton {
namespace {

Result<problem::ElementType> type_of(const char* option, const std::string& name) {
  if (const auto type = type_from_tune_gemm(name)) return *type;
  return input_error("{} '{}': types are {}", option, name, tune_gemm_type_names());
}

// Defaults for all GEMMs, from the command line.
Result<Gemm> defaults_of(const GemmOptions& options) {
  Gemm gemm;
  gemm.batch = options.batch;
  gemm.a_rows = !options.col_a;
  gemm.b_rows = !options.col_b;
  HONE_ASSIGN(gemm.a, type_of("--dtype-a", options.dtype_a));
  HONE_ASSIGN(gemm.b, type_of("--dtype-b", options.dtype_b));
  HONE_ASSIGN(gemm.c, type_of("--dtype-c", options.dtype_c));
  if (options.bias) gemm.bias = gemm.c;
  gemm.tf32 = options.tf32;
  return gemm;
}

SpaceKind space_kind(const std::string& name) {
  if (name == "tune_gemm") return SpaceKind::kTuneGemm;
  if (name == "tune_gemm_v2") return SpaceKind::kTuneGemmV2;
  return SpaceKind::kOwn;
}

// Reads the user's kernel and checks it as far as possible without compiling it; nothing if none is
// given.
Result<std::shared_ptr<const UserKernel>> user_kernel(const GemmOptions& options) {
  if (options.kernel.empty()) {
    if (!options.manifest.empty())
      return input_error("--manifest is of a kernel; --kernel is missing");
    return nullptr;
  }
  if (options.space != "own")
    return input_error("--space {} is of hone's kernels; the space of --kernel is its manifest's",
                       options.space);
  const std::string manifest =
      options.manifest.empty()
          ? std::filesystem::path(options.kernel).replace_extension(".yaml").string()
          : options.manifest;
  HONE_ASSIGN(const std::string text, read_file(options.kernel));
  HONE_ASSIGN(const std::string said, read_file(manifest));
  HONE_ASSIGN(UserKernel kernel, read_user_kernel(manifest, said, options.kernel, text));
  HONE_ASSIGN(const TritonInstallation triton, find_installation(options.triton));
  HONE_ASSIGN(const auto parameters,
              kernel_parameters(triton.python, kernel.path, kernel.function.text));
  HONE_TRY(check_parameters(kernel, parameters));
  return std::make_shared<const UserKernel>(std::move(kernel));
}

}  // namespace

bool names_gemms(const GemmOptions& options, const std::string& input) {
  return options.m || !options.kernel.empty() || input.ends_with(".yaml") ||
         input.ends_with(".yml");
}

Result<std::vector<GemmEntry>> gemms_of(const GemmOptions& options, const std::string& input,
                                        const std::vector<std::string>& knobs) {
  HONE_ASSIGN(Gemm gemm, defaults_of(options));
  const bool by_flags = options.m || options.n || options.k;
  if (by_flags && !input.empty())
    return input_error("GEMMs come from '{}' or from -m, -n and -k, not both", input);
  if (!by_flags) {
    if (input.empty()) return input_error("no GEMM: give a file (gemms.yaml), or -m, -n and -k");
    HONE_ASSIGN(const std::string text, read_file(input));
    return read_gemms(input, text, gemm, knobs);
  }
  if (!options.m || !options.n || !options.k)
    return input_error("-m, -n and -k must be given together");
  gemm.m = *options.m;
  gemm.n = *options.n;
  gemm.k = *options.k;
  HONE_TRY(check(gemm));
  return std::vector<GemmEntry>{{gemm, {}, 0}};
}

std::string place_of(const GemmEntry& entry, const std::string& path) {
  return entry.line > 0 ? fmt::format("{}:{}: ", path, entry.line) : std::string();
}

Result<GemmDevice> gemm_device_of(const device::Facts& gpu) {
  HONE_ASSIGN(GemmDevice device, gemm_device(gpu.target));
  if (gpu.units == 0) return device;
  device.units = gpu.units;
  device.shared_bytes = gpu.workgroup_memory_bytes;
  device.l2_bytes = gpu.last_level_cache_bytes;
  return device;
}

Result<provider::WorkerProgram> worker_program(const TritonInstallation& installation,
                                               const std::filesystem::path& folder) {
  HONE_ASSIGN(const std::filesystem::path script, write_sources(folder / "triton"));
  // The user's own Triton cache is not used: compiled code is in the store.
  return provider::WorkerProgram{
      worker_command(installation, script),
      {{"TRITON_CACHE_DIR", (folder / "cache").string()}, {"TRITON_DEFAULT_FP_FUSION", "1"}}};
}

namespace {

class ListedGemms final : public provider::ListProvider {
 public:
  static Result<std::unique_ptr<provider::ListProvider>> open(const GemmOptions& options,
                                                              const std::string& input) {
    auto gemms = std::make_unique<ListedGemms>();
    gemms->options_ = options;
    gemms->path_ = input.empty() ? "GEMMs of the command line" : input;
    HONE_ASSIGN(gemms->kernel_, user_kernel(options));
    std::vector<std::string> knobs;
    if (gemms->kernel_)
      for (const UserKernel::Knob& knob : gemms->kernel_->knobs) knobs.push_back(knob.name);
    HONE_ASSIGN(const std::vector<GemmEntry> entries, gemms_of(options, input, knobs));
    for (const GemmEntry& entry : entries) {
      problem::Dispatch dispatch = dispatch_of(entry.gemm);
      if (gemms->kernel_) dispatch = with_kernel(std::move(dispatch), *gemms->kernel_);
      if (gemms->entries_.emplace(dispatch.name, entry).second)  // else it is listed twice
        gemms->dispatches_.push_back(std::move(dispatch));
    }
    return gemms;
  }

  const std::string& path() const override { return path_; }
  const std::vector<problem::Dispatch>& dispatches() const override { return dispatches_; }
  std::string place_of(const problem::Dispatch& dispatch) const override {
    return triton::place_of(entries_.at(dispatch.name), path_);
  }

  std::string device() const override { return "cuda:0"; }
  Result<std::unique_ptr<provider::Provider>> provider_for(
      const device::Facts& facts) const override {
    if (!problem::gpu_target(facts.target))
      return input_error(
          "Triton's kernels run on GPUs: give --device cuda:0, or --compile-only and "
          "--target sm_90 or gfx942");
    HONE_ASSIGN(GemmDevice device, gemm_device_of(facts));
    for (const problem::Dispatch& dispatch : dispatches_) {
      const GemmEntry& entry = entries_.at(dispatch.name);
      if (facts.memory_bytes > 0) HONE_TRY(check_fits(entry, facts, device));
      if (kernel_ != nullptr) HONE_TRY(user_kernel_space(*kernel_, entry.gemm, device));
    }
    return std::make_unique<TritonProvider>(std::move(device), space_kind(options_.space), kernel_);
  }

  Result<std::vector<std::string>> flags(const device::Facts& facts) const override {
    HONE_ASSIGN(const GemmDevice device, gemm_device_of(facts));
    return worker_flags(device);
  }

  Result<provider::FoundCompiler> find_compiler() override {
    HONE_ASSIGN(installation_, find_installation(options_.triton));
    return provider::FoundCompiler{"Triton " + installation_.version, {}};
  }

  Result<std::optional<provider::WorkerProgram>> worker_program(
      const device::Facts& facts, const std::filesystem::path& folder) const override {
    HONE_ASSIGN(const GemmDevice device, gemm_device_of(facts));
    HONE_ASSIGN(provider::WorkerProgram program, triton::worker_program(installation_, folder));
    program.same_work = [device](const provider::Message& job) {
      return code_of(device, {job.body});
    };
    return std::optional(std::move(program));
  }

  // Name without the kernel's.
  std::string shown_name(const problem::Dispatch& dispatch) const override {
    return name_of(entries_.at(dispatch.name).gemm);
  }

  // The file of tune_gemm.py (tune_gemm.h).
  std::string result_file() const override {
    return options_.results.empty() ? "gemms.yaml" : options_.results;
  }

  std::string result_line(const problem::Dispatch& dispatch, const std::string& configured,
                          std::optional<double> seconds) const override {
    GemmEntry entry = entries_.at(dispatch.name);
    std::map<std::string, std::int64_t> knobs;
    if (const auto json = nlohmann::json::parse(configured, nullptr, false); json.is_object())
      knobs = json.get<std::map<std::string, std::int64_t>>();
    entry.configuration = keyed(entry.gemm, knobs);
    return triton::result_line(entry, seconds.value_or(std::nan("")));
  }

 private:
  Status check_fits(const GemmEntry& entry, const device::Facts& facts,
                    const GemmDevice& device) const {
    const problem::Dispatch dispatch = dispatch_of(entry.gemm);
    std::int64_t bytes = 0;
    for (const problem::Binding& binding : dispatch.bindings) bytes += binding.bytes;
    // Buffers exist twice: candidates are verified over two different poisons.
    if (2 * bytes > facts.memory_bytes)
      return input_error("{}{} takes {:.1f} GB, and {} has {:.1f} GB",
                         triton::place_of(entry, path_), dispatch.name,
                         2e-9 * static_cast<double>(bytes), facts.name,
                         1e-9 * static_cast<double>(facts.memory_bytes));
    const Status legal = check(entry.gemm, device);
    if (!legal)
      return input_error("{}{}: {}", triton::place_of(entry, path_), dispatch.name,
                         legal.error().message);
    return {};
  }

  GemmOptions options_;
  std::string path_;
  std::vector<problem::Dispatch> dispatches_;
  std::map<std::string, GemmEntry> entries_;  // by dispatch name
  std::shared_ptr<const UserKernel> kernel_;  // a user's own; none: hone's kernels
  TritonInstallation installation_;
};

}  // namespace

Result<std::unique_ptr<provider::ListProvider>> listed_gemms(const GemmOptions& options,
                                                             const std::string& input) {
  return ListedGemms::open(options, input);
}

}  // namespace hone::triton
