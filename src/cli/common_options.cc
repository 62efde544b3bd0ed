#include "cli/common_options.h"

#include <cstdlib>

#include "base/file.h"
#include "base/say.h"
#include "base/text.h"
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

void add_toolchain_options(CLI::App& command, ToolchainOptions& options) {
  command.add_option("--iree", options.iree,
                     "IREE: libIREECompiler.so, a virtual environment or a site-packages folder "
                     "(default: $HONE_IREE, where hone is installed, .venv, python3 on PATH)");
  command
      .add_option("--target", options.target,
                  "CPU to compile for, as LLVM names it, or a GPU: sm_80, gfx942, ...")
      ->check(CLI::Validator(check_target, ""))
      ->capture_default_str();
  command.add_option("--flag", options.flags, "a further flag for iree-compile; repeatable");
  command
      .add_option("--compile-flags-file", options.flags_file,
                  "file of such flags, or of a whole iree-compile command: its target is hone's "
                  "where --target does not say")
      ->type_name("FILE");
  command
      .add_option(
          "--dim", options.sizes,
          "size that the program leaves open (?): batch=8 as the model calls it, input0.0=8 by "
          "argument, M=512 by product; hone tune: M=1,16,512 for one configuration that serves "
          "all; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--env", options.environment,
                  "variable for the compiler, the runners and the drivers, kept with what is found "
                  "(HSA_OVERRIDE_GFX_VERSION=9.4.0); repeatable")
      ->check(CLI::Validator(check_variable, ""))
      ->each(set_variable)
      ->allow_extra_args(false);
  command.add_option("--jobs", options.jobs, "compile processes (default: one per core)")
      ->check(CLI::Range(1, 1024));
  command.add_option("--compile-timeout", options.compile_seconds, "seconds for one candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command.add_option("--compile-memory", options.compile_gigabytes, "GB for one candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device,
                     "to measure on: cpu, cuda:0, cuda:0,2, ... (default: what the target is of)");
}

void add_core_options(CLI::App& command, CoreOptions& options) {
  command.add_option("--threads", options.threads, "cores to run on (default: all)")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--cores", options.cores,
          "which ones: 0,1; compiling stays on them too, so that another hone may have the others")
      ->delimiter(',');
}

void add_runtime_options(CLI::App& command, RuntimeOptions& options, const std::string& which) {
  command.add_option("--function", options.function,
                     "of the program that is called (default: " + which + ")");
  command.add_option("--input", options.inputs,
                     "of the function, one for each argument in order: @a.npy, 2x3xf32=0.5, =0.5, "
                     "or 2x3xf32 of generated values; repeatable (default: generated)");
  command.add_option("--parameters", options.parameters,
                     ".irpa, .safetensors or .gguf that the program's parameters of a scope are "
                     "in; repeatable");
  command.add_flag("--random-parameters", options.random_parameters,
                   "where parameters are not given: random numbers of their types");
  command.add_option("--runtime-flag", options.flags, "passed to IREE's runtime tools; repeatable");
  command.add_option("--runtime-flags-file", options.flags_file,
                     "file of such flags, one in each line");
}

void add_external_option(CLI::App& command, std::vector<std::string>& manifests) {
  command
      .add_option("--external", manifests,
                  "manifest of a kernel of your own (PTX, or a source and its compiler) that may "
                  "take the place of IREE's (docs/external-kernels.md); repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace hone::cli
