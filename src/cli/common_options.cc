#include "cli/common_options.h"

#include <cstdlib>

#include "base/file.h"
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
                     fmt::format("{} [$HONE_IREE, hone's environment, .venv, PATH]", kIreeHelp));
  command
      .add_option("--target", options.target,
                  "compile for this CPU (LLVM's name) or GPU (sm_80, gfx942, ...)")
      ->check(CLI::Validator(check_target, ""))
      ->capture_default_str();
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
  command
      .add_option("--compile-timeout", options.compile_seconds,
                  "limit the compile of one candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      .add_option("--compile-memory", options.compile_gigabytes,
                  "limit the compiler's memory per candidate")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

void add_device_option(CLI::App& command, std::string& device) {
  command.add_option("--device", device, "measure on cpu, cuda:0, cuda:0,2, ... [by --target]");
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

void add_external_option(CLI::App& command, std::vector<std::string>& manifests) {
  command
      .add_option("--external", manifests,
                  "try your own kernel, described by a manifest, in place of IREE's; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

}  // namespace hone::cli
