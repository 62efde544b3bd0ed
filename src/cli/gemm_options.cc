#include "cli/gemm_options.h"

#include "base/file.h"
#include "provider/triton/installation.h"
#include "provider/triton/kernel_file.h"
#include "provider/triton/type_names.h"

namespace hone::cli {
namespace {

Result<problem::ElementType> type_of(const char* option, const std::string& name) {
  if (const auto type = triton::type_from_tune_gemm(name)) return *type;
  return input_error("{} '{}': types are {}", option, name, triton::tune_gemm_type_names());
}

constexpr const char* kGemmGroup = "GEMMs (--provider triton)";

// --benchmark is both tools'.
bool names_program(const CLI::Option& option) {
  return !option.results().empty() && option.results().front().ends_with(".mlir");
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

void add_gemm_options(CLI::App& command, GemmOptions& options) {
  add_gemm_list_options(command, options);
  command
      .add_option(
          "--tuning-results-file,--o", options.results,
          "the best configurations, written after every size (default: gemms.yaml in --out)")
      ->group(kGemmGroup);
}

void add_gemm_list_options(CLI::App& command, GemmOptions& options) {
  const auto add = [&](const char* names, auto& value, const char* text) {
    return command.add_option(names, value, text)->group(kGemmGroup);
  };
  add("-m", options.m, "rows of C, instead of a file of GEMMs");
  add("-n", options.n, "columns of C");
  add("-k", options.k, "columns of A");
  add("--batch", options.batch, "products of that size in one launch")->capture_default_str();
  command.add_flag("--col-a", options.col_a, "A is stored by columns")->group(kGemmGroup);
  command.add_flag("--col-b", options.col_b, "B is stored by columns")->group(kGemmGroup);
  add("--dtype-a", options.dtype_a, "fp16, bf16, fp32, fp8, bf8, int8")->capture_default_str();
  add("--dtype-b", options.dtype_b, "as --dtype-a")->capture_default_str();
  add("--dtype-c", options.dtype_c, "also int32")->capture_default_str();
  command.add_flag("--bias-vector", options.bias, "a vector is added to each row of C")
      ->group(kGemmGroup);
  command.add_flag("--tf32", options.tf32, "f32 products on matrix units, of 10-bit mantissas")
      ->group(kGemmGroup);
  add("--space", options.space, "own, tune_gemm or tune_gemm_v2")
      ->check(CLI::IsMember({"own", "tune_gemm", "tune_gemm_v2"}))
      ->capture_default_str();
  add("--kernel", options.kernel,
      "Python file of your own kernel, instead of hone's (docs/kernels.md)");
  add("--manifest", options.manifest, "how it is launched (default: the same name with .yaml)");
  add("--triton", options.triton,
      "a Python interpreter or virtual environment with Triton "
      "(default: $HONE_TRITON, where hone is installed, .venv, python3 on PATH)")
      // Programs take these options too: Triton's kernels may replace theirs.
      ->group("Options");
}

bool names_gemms(const GemmOptions& options, const std::string& input) {
  return options.m || !options.kernel.empty() || input.ends_with(".yaml") ||
         input.ends_with(".yml");
}

Status refuse_gemm_options(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && option->get_group().starts_with("GEMMs") && !names_program(*option))
      return input_error("{} is for GEMMs (--provider triton), and INPUT is a program",
                         option->get_name());
  return {};
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

}  // namespace hone::cli
