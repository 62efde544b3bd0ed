#include "cli/gemm_options.h"

#include "cli/option_layout.h"
#include "cli/other_tools.h"

namespace hone::cli {
namespace {

bool is_for_gemms(const CLI::Option& option) {
  return option.get_group() == heading::kGemms || option.get_group() == tool::kTuneGemm;
}

// Returns whether the option names a program: --benchmark belongs to both old tools.
bool names_program(const CLI::Option& option) {
  return !option.results().empty() && option.results().front().ends_with(".mlir");
}

}  // namespace

void add_gemm_options(CLI::App& command, triton::GemmOptions& options) {
  add_gemm_list_options(command, options);
  command
      .add_option("--tuning-results-file", options.results,
                  "write the best configurations to FILE [gemms.yaml in --out]")
      ->group(heading::kGemms);
}

void add_gemm_list_options(CLI::App& command, triton::GemmOptions& options) {
  const auto add = [&](const char* names, auto& value, const char* text) {
    return command.add_option(names, value, text)->group(heading::kGemms);
  };
  add("-m", options.m, "rows of C; -m -n -k replace INPUT");
  add("-n", options.n, "columns of C");
  add("-k", options.k, "columns of A");
  add("--batch", options.batch, "products of this size in one launch")->capture_default_str();
  command.add_flag("--col-a", options.col_a, "store A by columns")->group(heading::kGemms);
  command.add_flag("--col-b", options.col_b, "store B by columns")->group(heading::kGemms);
  add("--dtype-a", options.dtype_a, "type of A: fp16, bf16, fp32, fp8, bf8 or int8")
      ->capture_default_str();
  add("--dtype-b", options.dtype_b, "type of B")->capture_default_str();
  add("--dtype-c", options.dtype_c, "type of C; also int32")->capture_default_str();
  command.add_flag("--bias-vector", options.bias, "add a vector to each row of C")
      ->group(heading::kGemms);
  command.add_flag("--tf32", options.tf32, "compute f32 products in TF32 (10-bit mantissas)")
      ->group(heading::kGemms);
  add("--space", options.space, "space to search")
      ->check(CLI::IsMember({"own", "tune_gemm", "tune_gemm_v2"}))
      ->capture_default_str();
  add("--kernel", options.kernel, "tune your own Triton kernel from a Python file");
  add("--manifest", options.manifest, "launch description of --kernel [same name, .yaml]");
  add("--triton", options.triton,
      "Python or virtual environment with Triton [$HONE_TRITON, hone's environment, .venv, PATH]")
      // Programs take this option too: Triton's kernels may replace theirs.
      ->group("Options");
}

Status refuse_gemm_options(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && is_for_gemms(*option) && !names_program(*option))
      return input_error("{} is for GEMMs (--provider triton), and INPUT is a program",
                         option->get_name());
  return {};
}

}  // namespace hone::cli
