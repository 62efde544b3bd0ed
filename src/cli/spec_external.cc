#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/option_layout.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/status_line.h"
#include "problem/code_target.h"
#include "provider/iree/compile_worker.h"
#include "provider/iree/compiler/transform_specs.h"
#include "session/external_placement.h"
#include "session/external_proof.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/replacing_kernels.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"

namespace hone::cli {
namespace {

struct ExternalOptions {
  ToolchainOptions toolchain;
  std::string program;
  std::vector<std::string> manifests;
  std::string configuration;  // of the knobs; empty: the manifests' defaults
  std::string device;         // that it is proved on; empty: on none
  RuntimeOptions runtime;
  tune::CompareOptions compare;
  std::filesystem::path out = "out";
  bool json = false, quiet = false, plain = false;
};

constexpr char kSpecFile[] = "external_spec.mlir";
constexpr char kFlagsFile[] = "compile_flags.txt";

// Refuses a second spec of this kind: iree-compile takes one.
Status check_flags(const std::vector<std::string>& flags) {
  for (const std::string& flag : flags)
    if (flag.starts_with(iree::kTransformSpecFlag))
      return input_error("'{}': there can be one such spec, and hone spec external writes it",
                         flag);
  return {};
}

Result<external::ObjectDevice> device_of(const problem::GpuTarget& target) {
  const char* const version = std::getenv("HSA_OVERRIDE_GFX_VERSION");
  HONE_ASSIGN(std::string runs_as,
              problem::target_under_override(target.arch, version == nullptr ? "" : version));
  // Use `arch`: the target that the compiler takes instead applies to its own kernels only.
  return external::ObjectDevice{target.arch, std::move(runs_as), target.workgroup_memory_bytes};
}

// Writes spec and objects side by side. Returns the flags that apply them.
Result<std::vector<std::string>> write_spec(const std::filesystem::path& folder,
                                            const std::string& spec,
                                            const std::vector<PlacedKernel>& placed,
                                            const ExternalOptions& options) {
  HONE_TRY(write_file_atomically(folder / kSpecFile, spec));
  for (const PlacedKernel& each : placed)
    HONE_TRY(write_file_atomically(folder / each.object, each.launch.code));
  std::vector<std::string> flags = compile_flags(options.toolchain);
  for (std::string& flag : iree::extern_spec_flags((folder / kSpecFile).string(), folder.string()))
    flags.push_back(std::move(flag));
  return flags;
}

nlohmann::json json_of(const external::Border& border) {
  return {{"operand", border.operand},
          {"from", border.from},
          {"to", border.to},
          {"transposed", border.transposes()},
          {"from_type", problem::name_of(border.from_type)},
          {"to_type", problem::name_of(border.to_type)},
          {"bytes", border.bytes},
          {"constant", border.constant}};
}

nlohmann::json json_of(const PlacedKernel& each) {
  const external::ObjectLaunch& launch = each.launch;
  nlohmann::json arguments = nlohmann::json::array();
  for (std::size_t i = 0; i < launch.operands.size(); ++i)
    arguments.push_back({{"name", launch.operands[i]},
                         {"offset", 8 * i},
                         {"bytes", 8},
                         {"points_to_bytes", each.binding_bytes[i]}});
  for (std::size_t i = 0; i < launch.constants.size(); ++i)
    arguments.push_back({{"name", launch.constants[i]},
                         {"offset", 8 * launch.operands.size() + 4 * i},
                         {"bytes", 4},
                         {"value", launch.launch.constants[i]}});
  nlohmann::json borders = nlohmann::json::array();
  for (const external::Border& border : each.borders) borders.push_back(json_of(border));
  return {{"manifest", each.manifest},
          {"borders", borders},
          {"operation", each.operation.name},
          {"launches", each.operation.count},
          {"function", launch.function},
          {"object", each.object},
          {"grid", launch.launch.grid},
          {"block", launch.launch.block},
          {"shared_memory", launch.launch.shared_bytes},
          {"zeroed", launch.zeroed},
          {"argument_bytes", launch.argument_bytes()},
          {"arguments", arguments}};
}

void print(const PlacedKernel& each) {
  const external::ObjectLaunch& launch = each.launch;
  fmt::print("{}\n  replaces {}, {} in the program\n  grid {}, block {}, {} bytes of arguments{}\n",
             launch.function, each.operation.name, each.operation.count,
             fmt::join(launch.launch.grid, " x "), fmt::join(launch.launch.block, " x "),
             launch.argument_bytes(),
             launch.zeroed ? "; its result is zeroed before each launch" : "");
  for (const external::Border& border : each.borders)
    fmt::print("  {}\n", external::in_words(border));
  const nlohmann::json arguments = json_of(each).at("arguments");
  for (const nlohmann::json& argument : arguments) {
    const bool address = argument.contains("points_to_bytes");
    fmt::print("  {:>3}  {:<10}  {}\n", argument.at("offset").get<int>(),
               address ? "address" : std::to_string(argument.at("value").get<std::uint32_t>()),
               argument.at("name").get<std::string>());
  }
}

void print_json(const ExternalOptions& options, const Toolchain& toolchain,
                const external::ObjectDevice& device, const std::vector<PlacedKernel>& placed,
                const std::optional<Prices>& prices) {
  nlohmann::json rows = nlohmann::json::array();
  for (const PlacedKernel& each : placed) rows.push_back(json_of(each));
  nlohmann::json document{{"program", options.program},
                          {"compiler", toolchain.revision()},
                          {"target", target_json(options.toolchain)},
                          {"runs_as", device.runs_as},
                          {"kernels", rows},
                          {"spec", (options.out / kSpecFile).string()},
                          {"compile_flags", (options.out / kFlagsFile).string()}};
  if (prices) document["proof"] = json_of(*prices, options.compare.statistics);
  output::print_document(std::move(document));
}

void print_text(const ExternalOptions& options, const external::ObjectDevice& device,
                const std::vector<PlacedKernel>& placed, std::size_t launches,
                const std::optional<Prices>& prices) {
  for (const PlacedKernel& each : placed) print(each);
  if (device.runs_as != device.target)
    say("run it with HSA_OVERRIDE_GFX_VERSION={}, as set here\n",
        problem::override_for(device.runs_as));
  fmt::print(
      "\nread back from the compiled program: {} launches, with these arguments and these objects"
      "{}\n",
      launches, prices ? "" : "; what they compute was not checked");
  if (prices) {
    fmt::print("\n{}", text_of(*prices, options.compare.statistics, output::screen_width()));
    if (!holds(*prices))
      fmt::print("the program is slower with the kernels, or its outputs are wrong\n");
  }
  fmt::print("flags: {}\n", (options.out / kFlagsFile).string());
}

CommandResult place(ExternalOptions& options) {
  if (options.manifests.empty()) return input_error("hone spec external needs --external MANIFEST");
  HONE_TRY(read_flags(options.toolchain));
  std::optional<device::Place> measured_on;
  if (!options.device.empty()) {
    HONE_ASSIGN(measured_on, choose_place(options.device, options.toolchain, CoreOptions()));
  }
  const auto target = gpu_of(options.toolchain);
  if (!target)
    return input_error(
        "hone spec external is for GPUs: give --target gfx942, or another that hone knows, or "
        "--device");
  HONE_ASSIGN(std::vector<external::ExternalKernel> kernels,
              read_external_kernels(options.manifests));
  HONE_TRY(configure(kernels, options.configuration));
  HONE_TRY(check_flags(options.toolchain.flags));
  HONE_ASSIGN(const external::ObjectDevice device, device_of(*target));
  std::vector<device::LockFile> held;
  if (measured_on) {
    HONE_ASSIGN(held, lease_here({&*measured_on, 1}));
  }
  HONE_ASSIGN(const OpenedProgram opened,
              open_program(options.toolchain, options.program, !options.json, options.out));
  const auto& [toolchain, program] = opened;
  print_target_note(options.toolchain);
  HONE_ASSIGN(const auto operations, toolchain.compiler().ask(iree::kReplaceableOperations,
                                                              {program.path, program.bytes,
                                                               compile_flags(options.toolchain)}));
  HONE_ASSIGN(const std::vector<PlacedKernel> placed, placed_kernels(kernels, operations, device));
  const std::string spec =
      iree::extern_spec_text(extern_dispatches(placed, *target), target->backend);

  // Try the spec in a temporary folder: --out gets only a spec that was read back from a compiled
  // program.
  HONE_ASSIGN(const TemporaryFolder trial, TemporaryFolder::create("hone-spec-"));
  HONE_ASSIGN(const std::vector<std::string> trial_flags,
              write_spec(trial.path(), spec, placed, options));
  HONE_ASSIGN(
      const auto launches,
      toolchain.compiler().ask(iree::kExternLaunches, {program.path, program.bytes, trial_flags}));
  HONE_TRY(check_launches(placed, launches));
  HONE_ASSIGN(const trial::CompiledModule module,
              toolchain.compiler().compile_program({program.path, program.bytes, trial_flags}));
  if (!module) return input_error("{}", module.error().message);
  HONE_TRY(check_module(placed, *module, device));

  HONE_ASSIGN(const std::vector<std::string> flags, write_spec(options.out, spec, placed, options));
  HONE_TRY(write_file_atomically(options.out / kFlagsFile, response_file(flags)));
  std::optional<Prices> prices;
  if (measured_on) {
    const ExternalProofRequest request{
        options.toolchain,
        options.runtime,
        options.compare,
        options.program,
        *measured_on,
        *target,
        output::status_style(options.quiet, false, options.plain, options.json)};
    HONE_ASSIGN(prices, prove(request, toolchain, program, placed, flags));
  }
  if (options.json)
    print_json(options, toolchain, device, placed, prices);
  else
    print_text(options, device, placed, launches.size(), prices);
  return prices && !holds(*prices) ? 1 : 0;
}

}  // namespace

void add_spec_external_command(CLI::App& spec, Action& run) {
  const auto [command, options] =
      add_command<ExternalOptions>(spec, run, "external",
                                   "Write a spec that calls your own kernels (PTX, cubin, "
                                   "hsaco) for a program's operations, and "
                                   "prove it with --device (docs/external-kernels.md)",
                                   place);
  command.add_option("PROGRAM", options.program, "program (.mlir, .mlirbc, .onnx)")->required();
  add_toolchain_options(command, options.toolchain);
  add_external_option(command, options.manifests);
  add_default_option(command, "--out", options.out, "folder for spec, objects and flags");
  command.add_option("--config", options.configuration,
                     "values of knobs: BM=128,BN=64 [the manifests']");
  command.add_option("--device", options.device, "prove and measure on this GPU [run nothing]");
  add_hip_option(command);
  add_runtime_options(command, options.runtime, "the only one");
  add_positive_option(command, "--rounds", options.compare.rounds,
                      "run at least N rounds per comparison");
  add_positive_option(command, "--seconds", options.compare.seconds, "length of one sample");
  add_default_option(command, "--seed", options.compare.seed,
                     "seed of generated inputs and of the order")
      ->group(heading::kProgram);
  add_screen_options(command, options);
  command.footer(
      "Writes external_spec.mlir, the objects and compile_flags.txt:\n"
      "iree-compile PROGRAM @out/compile_flags.txt needs no hone. With --device, hone\n"
      "runs the program with and without the kernels, compares outputs and measures\n"
      "both, each operation alone too. Exit code 1: slower with them, or wrong outputs.");
  command.allow_extras();
}

}  // namespace hone::cli
