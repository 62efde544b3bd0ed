#include "cli/common_options.h"

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/option_layout.h"
#include "cli/other_tools.h"
#include "provider/iree/compiler/flags_file.h"

namespace hone::cli {
namespace {

// Checks --target. Returns the reason why CLI11 is to refuse the value; empty: none.
std::string check_target(const std::string& name) {
  std::vector<std::string> gpus;
  for (const problem::GpuTarget& target : problem::known_gpu_targets()) gpus.push_back(target.arch);
  // A typo in a GPU's name must not reach LLVM as a CPU's name.
  const bool slip = name != "host" && name.size() > 3 && !nearest_names(name, gpus).empty();
  if (!problem::names_gpu(name) && !slip) return {};
  const auto target = problem::gpu_target(name);
  return target ? std::string() : target.error().message;
}

// Checks NAME=VALUE. Returns the reason why CLI11 is to refuse the value; empty: none.
std::string check_variable(const std::string& text) {
  const auto name = text.substr(0, text.find('='));
  const bool is_name = !name.empty() && name.find_first_not_of(
                                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "abcdefghijklmnopqrstuvwxyz"
                                            "0123456789_") == std::string::npos;
  if (is_name && name.size() < text.size()) return {};
  return fmt::format("'{}' is not NAME=VALUE, as HSA_OVERRIDE_GFX_VERSION=9.4.0 is", text);
}

// Sets the variable while options are read: before a thread or a process starts or a driver opens.
void set_variable(const std::string& text) {
  const auto equals = text.find('=');
  ::setenv(text.substr(0, equals).c_str(), text.substr(equals + 1).c_str(), /*replace=*/1);
}

bool is_for_gemms(const CLI::Option& option) {
  return option.get_group() == heading::kGemms || option.get_group() == tool::kTuneGemm;
}

// Returns whether the option names a program: --benchmark belongs to both old tools.
bool names_program(const CLI::Option& option) {
  return !option.results().empty() && option.results().front().ends_with(".mlir");
}

}  // namespace

Status read_flags(ToolchainOptions& options) {
  if (options.flags_file.empty()) return {};
  HONE_ASSIGN(const std::string text, read_file(options.flags_file));
  HONE_ASSIGN(iree::FileFlags file, iree::read_flags_file(options.flags_file, text));
  const std::string wrong = file.target.empty() ? "" : check_target(file.target);
  if (!wrong.empty()) return input_error("{}: {}", options.flags_file, wrong);
  if (!file.target.empty() && options.target != "host" && options.target != file.target)
    return input_error("{} is for {}, and --target says {}", options.flags_file, file.target,
                       options.target);
  if (!file.target.empty()) options.target = file.target;
  // Put flags of the command line last: the compiler takes the last of two.
  options.flags.insert(options.flags.begin(), file.flags.begin(), file.flags.end());
  for (const std::string& note : file.notes) say("{}\n", note);
  options.flags_file.clear();
  return {};
}

Result<OpenedProgram> open_program(const ToolchainOptions& options, const std::string& given,
                                   bool notes, const std::filesystem::path& folder) {
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options));
  HONE_ASSIGN(InputProgram input, read_program(given, toolchain, folder));
  if (notes) print_notes_of(input);
  return OpenedProgram{std::move(toolchain), std::move(input)};
}

Result<problem::Program> load(const OpenedProgram& opened, const ToolchainOptions& options,
                              const std::string& path) {
  HONE_ASSIGN(problem::Program program,
              load_for_target(opened.toolchain.compiler(), options, path, opened.input.bytes));
  print_target_note(options);
  return program;
}

void print_target_note(const ToolchainOptions& options) {
  if (const std::string note = target_note(options); !note.empty()) say("{}\n", note);
}

void add_toolchain_options(CLI::App& command, ToolchainOptions& options) {
  command.add_option("--iree", options.iree,
                     fmt::format("{} [$HONE_IREE, hone's environment, .venv, PATH]", kIreeHelp));
  add_default_option(command, "--target", options.target,
                     "compile for this CPU (LLVM's name, aarch64-CPU) or GPU (sm_80, gfx942, ...)")
      ->check(CLI::Validator(check_target, ""));
  command.add_option("--flag", options.flags, "pass a flag to iree-compile; repeatable");
  command
      .add_option("--compile-flags-file", options.flags_file,
                  "read flags, or a whole iree-compile command, from FILE")
      ->type_name("FILE");
  command
      .add_option(
          "--dim", options.sizes,
          "set an open size: batch=8, input0.0=8 or M=512; hone tune also M=1,16,512; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--env", options.environment,
                  "set a variable for compiler, runners and drivers; results are kept by it; "
                  "repeatable")
      ->check(CLI::Validator(check_variable, ""))
      ->each(set_variable)
      ->allow_extra_args(false);
  command.add_option("--jobs", options.jobs, "run N compile processes [one per core]")
      ->check(CLI::Range(1, 1024));
  add_positive_option(command, "--compile-timeout", options.compile_seconds,
                      "limit the compile of one candidate");
  add_positive_option(command, "--compile-memory", options.compile_gigabytes,
                      "limit the compiler's memory per candidate");
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device,
                     "measure on cpu, cuda:0, hip:0,2, ssh://HOST/cuda:0, ... [by --target]");
  add_hip_option(command);
}

void add_hip_option(CLI::App& command) {
  // The processes that list devices and run kernels find it by the variable.
  command
      .add_option_function<std::string>(
          "--hip", [](const std::string& path) { ::setenv("HONE_HIP", path.c_str(), 1); },
          "AMD's libamdhip64.so, or a folder that has it [$HONE_HIP, ROCm's usual places]")
      ->trigger_on_parse();
}

void add_core_options(CLI::App& command, CoreOptions& options) {
  command.add_option("--threads", options.threads, "run on N cores [all]")
      ->check(CLI::PositiveNumber);
  command.add_option("--cores", options.cores, "run and compile on these cores only: 0,1")
      ->delimiter(',');
}

void add_runtime_options(CLI::App& command, RuntimeOptions& options, const std::string& which) {
  command.add_option("--function", options.function,
                     fmt::format("call this function of the program [{}]", which));
  command.add_option(
      "--input", options.inputs,
      "arguments in order: @a.npy, 2x3xf32=0.5, =0.5 or 2x3xf32; repeatable [generated]");
  command.add_option("--parameters", options.parameters,
                     "read a scope's parameters from .irpa, .safetensors or .gguf; repeatable");
  command.add_flag("--random-parameters", options.random_parameters,
                   "generate parameters that no file provides");
  command.add_option("--runtime-flag", options.flags,
                     "pass a flag to IREE's runtime tools; repeatable");
  command.add_option("--runtime-flags-file", options.flags_file,
                     "read runtime flags from FILE, one per line");
}

void add_comparison_options(CLI::App& command, ComparisonSessionOptions& options,
                            const std::string& sides, const std::string& alpha) {
  tune::CompareOptions& compare = options.compare;
  add_toolchain_options(command, options.toolchain);
  add_positive_option(command, "--rounds", compare.rounds,
                      fmt::format("run {} at least N times each", sides));
  add_positive_option(command, "--max-rounds", compare.most_rounds,
                      fmt::format("run {} at most N times each", sides));
  add_default_option(command, "--find", compare.find,
                     "add rounds until a slowdown of SHARE is found with 95 % power")
      ->check(CLI::Range(0.0, 1.0));
  add_default_option(command, "--alpha", compare.statistics.alpha, alpha)
      ->check(CLI::Range(1e-6, 0.5));
  add_default_option(command, "--threshold", compare.statistics.threshold,
                     "ignore differences up to SHARE")
      ->check(CLI::Range(0.0, 1.0));
  add_device_option(command, options.device);
  add_core_options(command, options.cores);
  add_screen_options(command, options);
}

void add_trust_option(CLI::App& command, bool& trust) {
  command.add_flag("--trust", trust,
                   "load stored machine code that others compiled; default: compile it again");
}

void add_external_option(CLI::App& command, std::vector<std::string>& manifests) {
  command
      .add_option("--external", manifests,
                  "try your own kernel, described by a manifest, in place of IREE's; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

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
