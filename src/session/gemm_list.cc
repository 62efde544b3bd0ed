#include "session/gemm_list.h"

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "provider/triton/installation.h"
#include "provider/triton/kernel_file.h"
#include "provider/triton/type_names.h"

namespace hone::session {
namespace {

Result<problem::ElementType> type_of(const char* option, const std::string& name) {
  if (const auto type = triton::type_from_tune_gemm(name)) return *type;
  return input_error("{} '{}': types are {}", option, name, triton::tune_gemm_type_names());
}

// What the command line says of all GEMMs.
Result<triton::Gemm> defaults_of(const GemmOptions& options) {
  triton::Gemm gemm;
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

}  // namespace

bool names_gemms(const GemmOptions& options, const std::string& input) {
  return options.m || !options.kernel.empty() || input.ends_with(".yaml") ||
         input.ends_with(".yml");
}

Result<std::vector<triton::GemmEntry>> gemms_of(const GemmOptions& options,
                                                const std::string& input,
                                                const std::vector<std::string>& knobs) {
  HONE_ASSIGN(triton::Gemm gemm, defaults_of(options));
  const bool by_flags = options.m || options.n || options.k;
  if (by_flags && !input.empty())
    return input_error("GEMMs come from '{}' or from -m, -n and -k, not both", input);
  if (!by_flags) {
    if (input.empty()) return input_error("no GEMM: give a file (gemms.yaml), or -m, -n and -k");
    HONE_ASSIGN(const std::string text, read_file(input));
    return triton::read_gemms(input, text, gemm, knobs);
  }
  if (!options.m || !options.n || !options.k)
    return input_error("-m, -n and -k must be given together");
  gemm.m = *options.m;
  gemm.n = *options.n;
  gemm.k = *options.k;
  HONE_TRY(triton::check(gemm));
  return std::vector<triton::GemmEntry>{{gemm, {}, 0}};
}

triton::SpaceKind space_kind(const GemmOptions& options) {
  if (options.space == "tune_gemm") return triton::SpaceKind::kTuneGemm;
  if (options.space == "tune_gemm_v2") return triton::SpaceKind::kTuneGemmV2;
  return triton::SpaceKind::kOwn;
}

Result<std::shared_ptr<const triton::UserKernel>> user_kernel(const GemmOptions& options) {
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
  HONE_ASSIGN(triton::UserKernel kernel,
              triton::read_user_kernel(manifest, said, options.kernel, text));
  HONE_ASSIGN(const triton::Installation triton, triton::find_installation(options.triton));
  HONE_ASSIGN(const auto parameters,
              triton::kernel_parameters(triton.python, kernel.path, kernel.function.text));
  HONE_TRY(triton::check_parameters(kernel, parameters));
  return std::make_shared<const triton::UserKernel>(std::move(kernel));
}

Result<Gemms> read_gemms(const GemmOptions& options, const std::string& input) {
  Gemms gemms;
  HONE_ASSIGN(gemms.kernel, user_kernel(options));
  std::vector<std::string> knobs;
  if (gemms.kernel)
    for (const triton::UserKernel::Knob& knob : gemms.kernel->knobs) knobs.push_back(knob.name);
  HONE_ASSIGN(const std::vector<triton::GemmEntry> entries, gemms_of(options, input, knobs));
  std::string names;
  for (const triton::GemmEntry& entry : entries) {
    problem::Dispatch dispatch = triton::dispatch_of(entry.gemm);
    if (gemms.kernel) dispatch = triton::with_kernel(std::move(dispatch), *gemms.kernel);
    if (!gemms.entries.emplace(dispatch.name, entry).second) continue;  // said twice
    names += dispatch.name + '\n';
    gemms.list.dispatches.push_back(std::move(dispatch));
  }
  gemms.list.path = input.empty() ? "GEMMs of the command line" : input;
  gemms.list.hash = content_hash(names);
  return gemms;
}

std::string place_of(const triton::GemmEntry& entry, const std::string& path) {
  return entry.line > 0 ? fmt::format("{}:{}: ", path, entry.line) : std::string();
}

Status check_fits(const triton::GemmEntry& entry, const std::string& path, const std::string& name,
                  std::int64_t memory_bytes, const triton::GemmDevice& device) {
  const problem::Dispatch dispatch = triton::dispatch_of(entry.gemm);
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : dispatch.bindings) bytes += binding.bytes;
  // What is measured is there twice: over one poison and over another.
  if (2 * bytes > memory_bytes)
    return input_error("{}{} takes {:.1f} GB, and {} has {:.1f} GB", place_of(entry, path),
                       dispatch.name, 2e-9 * static_cast<double>(bytes), name,
                       1e-9 * static_cast<double>(memory_bytes));
  const Status legal = triton::check(entry.gemm, device);
  if (!legal)
    return input_error("{}{}: {}", place_of(entry, path), dispatch.name, legal.error().message);
  return {};
}

Status check_kernel(const triton::UserKernel* kernel, const triton::GemmEntry& entry,
                    const triton::GemmDevice& device) {
  if (kernel != nullptr) HONE_TRY(triton::user_kernel_space(*kernel, entry.gemm, device));
  return {};
}

}  // namespace hone::session
