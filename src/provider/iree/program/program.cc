#include "provider/iree/program/program.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/hash.h"
#include "base/ranges.h"
#include "provider/iree/cpu/space.h"
#include "provider/iree/program/argument_ranges.h"
#include "provider/iree/program/derived_modules.h"
#include "provider/iree/program/dispatch_ir.h"
#include "provider/iree/program/dispatch_statement.h"
#include "provider/iree/program/launches.h"
#include "provider/iree/program/open_sizes.h"
#include "provider/iree/program/program_functions.h"
#include "provider/iree/program/region.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/views.h"

namespace hone::iree {
namespace {

using problem::Dispatch;

// A dispatch on its way from the program.
struct Part {
  std::string name, executable, source;
  DispatchIr read;
  Launches launches;
  std::vector<LaunchSet> sets;
  std::size_t exports = 1;
  // The root's loops if each open size had its mark (OpenSizes).
  std::vector<problem::Loop> marked;
};

// Sizes that were given to two arguments may not go together.
std::string disagreement(const problem::Operation& root) {
  for (const problem::Operand& operand : root.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d) {
      if (operand.loops[d] < 0) continue;
      const std::int64_t size = root.loops[to_index(operand.loops[d])].size;
      if (operand.type.shape[d] != size)
        return fmt::format(
            "loop {} of {} has {} iterations for one operand and {} for another: give --dim sizes "
            "that go together",
            operand.loops[d], root.name, size, operand.type.shape[d]);
    }
  return {};
}

// Why hone cannot tune the dispatch; empty if it can, or if only the compiler's statement can tell
// (on a GPU).
std::string why_not_tunable(const Dispatch& dispatch, const Part& part, const LaunchSet& set,
                            const OpenSizes& open, bool cpu) {
  if (dispatch.root_operations == 0) return "it has no root operation";
  for (std::size_t i = 0; i < dispatch.root.loops.size(); ++i)
    if (dispatch.root.loops[i].size == problem::kDynamic)
      return fmt::format(
          "dynamic shape: loop {} of {} has a size known only at run time, and hone measures one "
          "size: {}",
          i, dispatch.root.name,
          open.how_to_give(i < part.marked.size() ? part.marked[i].size : problem::kDynamic));
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i)
    if (is_dynamic(dispatch.bindings[i].type))
      return fmt::format("dynamic shape: binding {} is {}: {}", i,
                         to_string(dispatch.bindings[i].type), open.how_to_give(problem::kDynamic));
  if (!set.known) return "it takes values that are known only at run time";
  if (const std::string words = disagreement(dispatch.root);
      !words.empty() && has_open_sizes(dispatch.root))
    return words;
  if (has_open_sizes(dispatch.root) && part.read.reshaped)
    return "IREE gives the loops of its root operation another form after it has read what they "
           "are configured with, since a size is open";
  if (dispatch.root_operations > 1)
    return fmt::format("it has {} root operations", dispatch.root_operations);
  if (cpu && part.read.encoded)
    return "data tiling: IREE packs its tensors after it has read configurations, and loses what "
           "the root was given";
  if (cpu && !is_contraction(dispatch.root.kind) &&
      dispatch.root.kind != problem::OperationKind::kConvolution && !has_generic_space(dispatch))
    return fmt::format("its root operation is a {}, which hone has no configuration space for",
                       name_of(dispatch.root.kind));
  if (part.exports > 1) return fmt::format("its executable has {} exports", part.exports);
  return {};
}

Result<problem::Operation> root_with_sizes(const Ir& ir, MlirOperation root, const Sizes& kernel) {
  HONE_ASSIGN(problem::Operation described, describe_operation(ir, root));
  HONE_TRY(set_sizes(ir, root, kernel, described));
  return described;
}

// The form of the root that configurations are for.
MlirOperation root_to_configure(const Ir& ir, const DispatchIr& read) {
  if (!read.batch_restored) return read.root;
  const MlirOperation function = function_of(ir, exports_in(ir, read.configured.get()).at(0));
  return configured_root(ir, function);
}

// Statement for a kernel that replaces IREE's and is launched in the same way.
problem::Statement statement_of(const Ir& ir, const Part& part, const Sizes& kernel) {
  problem::Statement stated = state_dispatch(ir, part.read.function, part.read.root, kernel);
  stated.entry = part.name;
  const MlirAttribute layout = ir.attribute(part.read.export_operation, "layout");
  stated.layout = ir.text(layout);
  for (std::size_t at = stated.layout.find("#hal.pipeline.binding"); at != std::string::npos;
       at = stated.layout.find("#hal.pipeline.binding", at + 1))
    ++stated.bindings;
  for (const Launches::Different& each : part.launches.different)
    stated.constants = std::max(stated.constants, static_cast<int>(each.values.constants.size()));
  return stated;
}

// States a CPU's dispatch for hone's own kernels, which are products and convolutions.
std::optional<problem::Statement> product_of(const Ir& ir, const Part& part, const Sizes& kernel) {
  problem::Statement stated = statement_of(ir, part, kernel);
  if (!stated.why_not.empty() || !stated.contracts() || part.exports > 1) return std::nullopt;
  const MlirOperation variant =
      ir.api().mlirOperationGetParentOperation(part.read.export_operation);
  stated.target = ir.text(ir.attribute(variant, "target"));
  return stated;
}

// Describes a dispatch as launched in one of its launch sets.
Dispatch describe(const Ir& ir, const Part& part, const LaunchSet& set, const CallGraph& calls,
                  const OpenSizes& open, bool cpu) {
  const DispatchIr& read = part.read;
  const Views views(ir, read.function, set);
  const Sizes kernel = kernel_sizes(ir, views.constants());
  Dispatch dispatch;
  dispatch.name = part.name;
  dispatch.executable = part.executable;
  dispatch.source = part.source;
  const LaunchValues values{set.workload, views.values()};
  if (!values.workload.empty() || !values.constants.empty())
    dispatch.source = with_launch_values(ir, read.module, values);
  dispatch.root_operations = read.root_operations;
  dispatch.default_configuration = read.defaults.lowering_config;
  dispatch.default_translation = read.defaults.translation_info;
  dispatch.constants = views.constants();
  for (const auto& [function, count] : set.in_functions) dispatch.launches_per_call += count.times;
  for (const auto& [function, count] : calls.per_call(set.in_functions)) {
    dispatch.launched_by[function] = count.times;
    dispatch.launches_vary = dispatch.launches_vary || count.varies;
  }
  dispatch.arguments = part.launches.arguments;
  dispatch.surrounding = read.surrounding;
  dispatch.computation = read_computation(ir, read.function, read.root, views);
  for (const MlirOperation operation : structured_operations(ir, read.function))
    if (operation != read.root) dispatch.fused.push_back(in_words(ir, operation));

  if (read.root) {
    dispatch.root.name = ir.name(read.root);
    if (auto root = root_with_sizes(ir, root_to_configure(ir, read), kernel))
      dispatch.root = std::move(*root);
    else
      dispatch.not_tunable = root.error().message;
  }
  if (read.root) {
    dispatch.root_bindings = root_bindings(ir, read.function, read.root, kernel, views);
    dispatch.plain_products = adds_products(ir, read.root) && !adds_to_an_input(ir, read.root);
    dispatch.fill_value = fill_under(ir, read.root);
  }
  if (auto bindings = describe_bindings(ir, read.function, read.root, views))
    dispatch.bindings = std::move(*bindings);
  else
    dispatch.not_tunable = bindings.error().message;
  dispatch.statement = cpu ? product_of(ir, part, kernel) : statement_of(ir, part, kernel);
  if (dispatch.not_tunable.empty() || (cpu && read.encoded))
    dispatch.not_tunable = why_not_tunable(dispatch, part, set, open, cpu);
  return dispatch;
}

// Makes outputs of them, behind what the function returns.
void add_overwritten(problem::Function& function, std::vector<int> arguments) {
  for (const int argument : arguments)
    function.outputs.push_back(function.inputs.at(to_index(argument)));
  if (!function.output_forms.empty())
    function.output_forms.resize(function.outputs.size(), problem::ArgumentForm::kPlain);
  function.overwritten = std::move(arguments);
}

// A program's functions before dispatches are made of them.
struct Source {
  TorchArguments torch;
  std::optional<OwnedModule> input;  // after phase `input`; none of a file past that phase
  problem::Regions regions = {};     // on a GPU
};

// The program at the end of phase `preprocessing`, where its regions are read.
Result<OwnedModule> preprocessed(const CompilerSession& session, const std::string& path,
                                 Source& source, bool gpu) {
  Invocation compile(session);
  if (!compile.import(source.input->clone()) || !compile.run(kInput, kPreprocessing))
    return input_error("IREE cannot compile '{}':\n{}", path, compile.diagnostics());
  OwnedModule module = compile.take_module();
  if (gpu) source.regions = regions_in(session, module.get());
  return module;
}

// The program after phase `input`, made of `parsed` unless it is known.
Result<OwnedModule> converted(const CompilerSession& session, const std::string& path,
                              OwnedModule parsed, std::string* known) {
  Invocation convert(session);
  const bool is_known = known != nullptr && !known->empty();
  if (is_known ? !convert.parse(path, *known)
               : !convert.import(std::move(parsed)) || !convert.run(kStart, kInput))
    return input_error("IREE cannot compile '{}':\n{}", path, convert.diagnostics());
  OwnedModule module = convert.take_module();
  if (known != nullptr && !is_known) {
    Invocation copy(session);
    if (copy.import(module.clone())) {
      HONE_ASSIGN(*known, copy.ir());
    }
  }
  return module;
}

Result<OwnedModule> parsed(const CompilerSession& session, const std::string& path,
                           std::string_view bytes) {
  Invocation invocation(session);
  if (!invocation.parse(path, bytes))
    return input_error("IREE does not accept '{}':\n{}", path, invocation.diagnostics());
  return invocation.take_module();
}

// The program at executable-sources, whichever of the two kinds of file it comes from.
Result<OwnedModule> split(const CompilerSession& session, const std::string& path,
                          std::string_view bytes, Source& source, const KnownIr& known, bool gpu) {
  const Ir ir(session.api());
  HONE_ASSIGN(OwnedModule begun, parsed(session, path, bytes));
  HONE_ASSIGN(const bool is_split, unconfigure(session, begun));
  if (is_split) return begun;
  source.torch = torch_arguments(ir, begun);
  HONE_ASSIGN(source.input, converted(session, path, std::move(begun), known.converted));
  Invocation compile(session);
  const bool is_known = known.frontend != nullptr && !known.frontend->empty();
  bool compiled = is_known && compile.parse(path, *known.frontend);
  if (!is_known) {
    HONE_ASSIGN(OwnedModule unfused, preprocessed(session, path, source, gpu));
    compiled = compile.import(std::move(unfused)) && compile.run(kPreprocessing, kStream);
  }
  if (compiled && known.frontend != nullptr && !is_known) {
    HONE_ASSIGN(*known.frontend, compile.ir());
  }
  if (!compiled || !compile.run(kStream, kExecutableSources))
    return input_error("IREE cannot compile '{}':\n{}", path, compile.diagnostics());
  return compile.take_module();
}

// Each executable's first export as a dispatch, as far as the executable alone says.
Result<std::vector<Part>> parts_of(const CompilerSession& session, const OwnedModule& module) {
  const Ir ir(session.api());
  std::vector<Part> parts;
  for (const MlirOperation executable : ir.children(module.get(), "hal.executable")) {
    Part part;
    part.executable = ir.symbol(executable);
    const std::vector<MlirOperation> exports = exports_in(ir, executable);
    if (exports.empty()) continue;
    part.exports = exports.size();
    part.source = stand_alone_text(ir, module, part.executable);
    part.name = ir.symbol(exports.front());
    HONE_ASSIGN(part.read, read_dispatch(session, part.name, part.source));
    parts.push_back(std::move(part));
  }
  return parts;
}

void set_launches(const Ir& ir, const OwnedModule& module, const Sizes& sizes,
                  std::vector<Part>& parts) {
  const std::map<std::string, Launches> launches = find_launches(ir, module, sizes);
  for (Part& part : parts) {
    const auto launched = launches.find(fmt::format("{}::{}", part.executable, part.name));
    part.launches = launched == launches.end() ? Launches() : launched->second;
    part.sets = launch_sets(ir, part.read.function, part.launches);
  }
}

// Operations that a user has configured inline: their "default" is that.
int configured_operations(const Ir& ir, const OwnedModule& input) {
  int count = 0;
  ir.walk(input.get(), [&](MlirOperation operation) {
    if (ir.attribute(operation, "compilation_info") || ir.attribute(operation, "lowering_config"))
      ++count;
  });
  return count;
}

// Learns what the open sizes are called, and which of them are one.
void name_open_sizes(const Ir& ir, const OwnedModule& module, std::vector<Part>& parts,
                     OpenSizes& open) {
  set_launches(ir, module, open.marked(ir), parts);
  for (Part& part : parts) {
    // Launch sets differ in sizes, but these sizes have the same names in each set.
    for (const LaunchSet& set : part.sets) {
      const Views views(ir, part.read.function, set);
      const Sizes kernel = kernel_sizes(ir, views.constants());
      for (const MlirOperation operation : structured_operations(ir, part.read.function))
        if (const auto described = root_with_sizes(ir, operation, kernel)) {
          open.equate_by(*described);
          if (operation != part.read.root) continue;
          if (part.marked.empty()) part.marked = described->loops;
          open.name_by(*described);
        }
    }
  }
}

}  // namespace

std::vector<std::string> cpu_flags(std::string cpu) {
  std::vector<std::string> flags = {"--iree-hal-target-device=local",
                                    "--iree-hal-local-target-device-backends=llvm-cpu"};
  constexpr std::string_view kArm = "aarch64";
  if (cpu.starts_with(kArm)) {
    flags.emplace_back("--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu");
    const bool is_named = cpu.size() > kArm.size() + 1 && !cpu.ends_with("-linux-gnu");
    cpu = is_named ? cpu.substr(kArm.size() + 1) : "generic";
  }
  flags.push_back("--iree-llvmcpu-target-cpu=" + cpu);
  return flags;
}

std::vector<std::string> host_cpu_flags() {
  return cpu_flags("host");
}

std::vector<std::string> gpu_flags(const problem::GpuTarget& target) {
  if (target.backend == problem::GpuBackend::kCuda)
    return {"--iree-hal-target-device=cuda", "--iree-cuda-target=" + target.compiled_as};
  return {"--iree-hal-target-device=hip", "--iree-rocm-target=" + target.compiled_as};
}

Status check_device_flags(const std::vector<std::string>& target,
                          const std::vector<std::string>& flags) {
  constexpr std::array kNameDevices = {
      "--iree-hal-target-device",
      "--iree-hal-target-backends",
      "--iree-hal-local-target-device-backends",
      "--iree-cuda-target",
      "--iree-rocm-target",
      "--iree-rocm-target-chip",
      "--iree-hip-target",
  };
  for (const std::string& flag : flags) {
    const bool names_one = std::ranges::count(kNameDevices, flag.substr(0, flag.find('='))) > 0;
    if (names_one && std::ranges::count(target, flag) == 0)
      return input_error(
          "the flag '{}' contradicts the target, for which hone gives the compiler '{}': say what "
          "to compile for with --target (host, sm_80, gfx942, ...)",
          flag, fmt::join(target, " "));
  }
  return {};
}

bool targets_gpu(const std::vector<std::string>& flags) {
  return std::ranges::any_of(flags, [](const std::string& flag) {
    return flag == "--iree-hal-target-device=cuda" || flag == "--iree-hal-target-device=hip";
  });
}

Result<problem::Program> load_program(const CompilerLibrary& library, const std::string& path,
                                      std::string_view bytes, const std::vector<std::string>& flags,
                                      const problem::GivenSizes& given, const KnownIr& known) {
  std::vector<std::string> all = flags;
  all.emplace_back(kTunerAttributesFlag);
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, all, Threads::kAll));
  const Ir ir(session.api());
  Source source;
  HONE_ASSIGN(const OwnedModule module,
              split(session, path, bytes, source, known, targets_gpu(flags)));

  HONE_ASSIGN(std::vector<Part> parts, parts_of(session, module));
  std::vector<problem::Function> functions = functions_of(ir, module, source.torch);
  OpenSizes open(functions, size_names_in(bytes));
  if (!open.empty()) {
    if (source.input) open.equate_in(ir, *source.input);
    name_open_sizes(ir, module, parts, open);
  }
  HONE_TRY(open.give(given));
  set_launches(ir, module, open.given(ir), parts);

  problem::Program program{
      .path = path, .hash = content_hash(bytes), .functions = {}, .dispatches = {}};
  program.regions = std::move(source.regions);
  if (source.input) program.configured_operations = configured_operations(ir, *source.input);
  const CallGraph calls(ir, module);
  for (problem::Function& function : functions) {
    open.fill_in(function);
    function.module = ir.symbol(module.get());
    ConsumedArguments consumed = consumed_arguments(ir, module, function.name);
    function.keeps_state = calls.keeps_state(function.name) || consumed.any;
    add_overwritten(function, std::move(consumed.overwritten));
    if (source.input) function.ranges = argument_ranges(ir, *source.input, function);
    program.functions.push_back(std::move(function));
  }
  for (const Part& part : parts)
    for (const LaunchSet& set : part.sets)
      program.dispatches.push_back(describe(ir, part, set, calls, open, !targets_gpu(flags)));
  return program;
}

Result<problem::Program> load_unfused(const CompilerLibrary& library, const std::string& path,
                                      std::string_view bytes, const std::vector<std::string>& flags,
                                      std::string* known) {
  HONE_ASSIGN(const CompilerSession session,
              CompilerSession::create(library, flags, Threads::kAll));
  const Ir ir(session.api());
  problem::Program program{
      .path = path, .hash = content_hash(bytes), .functions = {}, .dispatches = {}};
  HONE_ASSIGN(OwnedModule begun, parsed(session, path, bytes));
  HONE_ASSIGN(const bool is_split, unconfigure(session, begun));
  if (is_split) return program;
  Source source;
  HONE_ASSIGN(source.input, converted(session, path, std::move(begun), known));
  HONE_ASSIGN(const OwnedModule module, preprocessed(session, path, source, targets_gpu(flags)));
  program.regions = std::move(source.regions);
  std::set<std::string> kinds;  // a program has thousands of equal operations
  for (const MlirOperation operation : structured_operations(ir, module.get())) {
    Dispatch dispatch;
    dispatch.name = ir.name(operation);
    // Each text would number the values of the whole program.
    ir.walk(operation,
            [&](MlirOperation each) { dispatch.source += fmt::format("{}\n", ir.name(each)); });
    if (auto root = describe_operation(ir, operation)) dispatch.root = std::move(*root);
    if (kinds.insert(fmt::format("{} {}", problem::name_of(dispatch.root.kind), dispatch.source))
            .second)
      program.dispatches.push_back(std::move(dispatch));
  }
  return program;
}

}  // namespace hone::iree
