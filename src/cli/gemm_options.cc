#include "cli/gemm_options.h"

namespace hone::cli {
namespace {

constexpr const char* kGemmGroup = "GEMMs (--provider triton)";

// Returns whether the option names a program: --benchmark belongs to both old tools.
bool names_program(const CLI::Option& option) {
  return !option.results().empty() && option.results().front().ends_with(".mlir");
}

}  // namespace

void add_gemm_options(CLI::App& command, triton::GemmOptions& options) {
  add_gemm_list_options(command, options);
  command
      .add_option(
          "--tuning-results-file,--o", options.results,
          "the best configurations, written after every size (default: gemms.yaml in --out)")
      ->group(kGemmGroup);
}

void add_gemm_list_options(CLI::App& command, triton::GemmOptions& options) {
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
      // Programs take this option too: Triton's kernels may replace theirs.
      ->group("Options");
}

Status refuse_gemm_options(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && option->get_group().starts_with("GEMMs") && !names_program(*option))
      return input_error("{} is for GEMMs (--provider triton), and INPUT is a program",
                         option->get_name());
  return {};
}

}  // namespace hone::cli
