// hone verify: verifies the results of a compile. NumPy files in and out.
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/option_layout.h"
#include "device/cpu/target.h"
#include "measure/runner_requests.h"
#include "output/json_text.h"
#include "output/table.h"
#include "provider/iree/iree_provider.h"
#include "session/input_program.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"
#include "tune/compare/verify.h"
#include "tune/services/function_choice.h"
#include "tune/services/select_dispatches.h"

namespace hone::cli {
namespace {

struct VerifyOptions {
  ToolchainOptions toolchain;
  std::string input;
  std::string dispatch;  // number, name or pattern
  RuntimeOptions runtime;
  std::optional<std::string> configuration;
  std::string spec;
  std::vector<std::string> reference_flags;
  std::vector<std::string> expected, outputs;  // @files
  std::string save_inputs;                     // folder
  std::optional<double> atol, rtol;
  std::uint64_t seed = 42;
  std::string device;
  bool json = false;
};

// Returns the path in "@a.npy", as iree-run-module has it, or in the path alone.
std::string file_of(const std::string& argument) {
  return argument.substr(argument.starts_with('@') ? 1 : 0);
}

Result<std::vector<tune::GivenArray>> read_arrays(const std::vector<std::string>& arguments,
                                                  std::string_view option) {
  std::vector<tune::GivenArray> arrays;
  for (const std::string& argument : arguments) {
    HONE_ASSIGN(const std::string bytes, read_file(file_of(argument)));
    auto array = problem::from_npy(bytes);
    if (!array) return input_error("{} '{}': {}", option, file_of(argument), array.error().message);
    arrays.push_back({fmt::format("{} '{}'", option, file_of(argument)), std::move(*array)});
  }
  return arrays;
}

Status check_use(const VerifyOptions& options) {
  if (!options.expected.empty() && options.runtime.inputs.empty())
    return input_error("--expected needs the inputs of these outputs: --input");
  for (const auto& [value, name] : {std::pair(options.atol, "--atol"), {options.rtol, "--rtol"}})
    if (value && !(*value >= 0)) return input_error("{} {} is negative", name, *value);
  if (!options.spec.empty()) HONE_TRY(read_file(options.spec));
  return {};
}

// Subject of the verification.
struct Subject {
  std::optional<problem::Function> function = {};  // of the whole program, or
  const problem::Dispatch* dispatch = nullptr;     // one dispatch
  std::string name() const { return function ? function->name : dispatch->name; }
};

Result<Subject> choose_function(const problem::Program& program, const std::string& wanted,
                                const std::vector<tune::GivenArgument>& inputs) {
  Result<problem::Function> function = tune::function_to_call(program, wanted, inputs);
  if (function && function->outputs.empty())
    function = failure("'{}' returns no tensor", function->name);
  if (function) return Subject{.function = std::move(*function)};
  if (function.error().kind != ErrorKind::kFailure)
    return tl::unexpected(std::move(function).error());
  return input_error("'{}': {}; --dispatch verifies one dispatch", program.path,
                     function.error().message);
}

// Chooses the dispatch if one is named or configured, or if the file holds a single one; else a
// function of the program.
Result<Subject> choose(const tune::VerifyRequest& request, const VerifyOptions& options) {
  const problem::Program& program = request.program;
  if (!options.dispatch.empty()) {
    HONE_ASSIGN(const problem::Dispatch* dispatch, tune::find_dispatch(program, options.dispatch));
    return Subject{.dispatch = dispatch};
  }
  if (!options.configuration && (!program.functions.empty() || !options.runtime.function.empty()))
    return choose_function(program, options.runtime.function, request.inputs);
  if (program.dispatches.size() == 1) return Subject{.dispatch = &program.dispatches.front()};
  std::vector<std::string> names;
  for (const problem::Dispatch& dispatch : program.dispatches) names.push_back(dispatch.name);
  return input_error("'{}' has {} dispatches; name one with --dispatch: {}", program.path,
                     names.size(), fmt::join(names, ", "));
}

// Returns "changes the configuration of 1 of 2 dispatches". The compiler accepts a spec that
// matches nothing, and verifying it would prove nothing.
Result<std::string> effect_of_spec(const tune::VerifyRequest& request,
                                   const std::vector<std::string>& without,
                                   trial::CompileService& compiler) {
  const auto configured = [&](const std::vector<std::string>& flags) {
    return compiler.configured({request.program.path, request.bytes, flags});
  };
  HONE_ASSIGN(const auto plain, configured(without));
  HONE_ASSIGN(const auto tuned, configured(request.flags));
  std::size_t changed = 0;
  for (std::size_t i = 0; i < plain.size() && i < tuned.size(); ++i)
    changed += plain[i].payload == tuned[i].payload ? 0 : 1;
  return fmt::format("changes the configuration of {} of {} dispatches", changed, plain.size());
}

Status write_outputs(const tune::VerifyResult& verdict, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && i < verdict.arrays.size(); ++i)
    HONE_TRY(write_file_atomically(file_of(arguments[i]), problem::to_npy(verdict.arrays[i])));
  return {};
}

std::size_t output_count(const Subject& subject) {
  if (subject.function) return subject.function->outputs.size();
  return static_cast<std::size_t>(
      std::ranges::count_if(subject.dispatch->bindings,
                            [](const auto& b) { return b.access != problem::Access::kReadOnly; }));
}

nlohmann::ordered_json document_of(const VerifyOptions& options, const Subject& subject,
                                   const std::string& spec, const tune::VerifyResult& verdict) {
  nlohmann::ordered_json document{{"schema_version", output::kSchemaVersion},
                                  {"program", options.input}};
  document[subject.function ? "function" : "dispatch"] = subject.name();
  document["configuration"] = options.configuration.value_or("default");
  if (!spec.empty()) document["spec"] = spec;
  document["right"] = verdict.right;
  document["says_nothing"] = verdict.says_nothing;
  document["message"] = verdict.message;
  document["reference"] = verdict.reference;
  document["outputs"] = nlohmann::ordered_json::array();
  for (const tune::VerifiedOutput& output : verdict.outputs) {
    nlohmann::ordered_json row{{"name", output.name}, {"type", problem::to_string(output.type)}};
    const nlohmann::json comparison = output.comparison;
    for (const auto& [key, value] : comparison.items()) row[key] = value;
    row["tolerance"] = output.tolerance;
    if (!output.form.words.empty())
      row["difference"] = {{"kind", name_of(output.form.kind)}, {"words", output.form.words}};
    document["outputs"].push_back(std::move(row));
  }
  return document;
}

void print(const VerifyOptions& options, const Subject& subject, const std::string& spec,
           const tune::VerifyResult& verdict) {
  fmt::print("{} of {}\n", subject.name(), options.input);
  if (options.configuration) fmt::print("  configuration  {}\n", *options.configuration);
  if (!spec.empty()) fmt::print("  spec           {} {}\n", options.spec, spec);
  fmt::print("  inputs         {}\n",
             options.runtime.inputs.empty()
                 ? fmt::format("generated, seed {}", options.seed)
                 : fmt::format("{}", fmt::join(options.runtime.inputs, ", ")));
  fmt::print("  reference      {}\n", verdict.reference);
  for (const tune::VerifiedOutput& output : verdict.outputs) {
    const measure::Comparison& comparison = output.comparison;
    fmt::print("  {:13}  {}, {}", output.name, problem::to_string(output.type),
               measure::describe(comparison));
    if (comparison.worst_error > 0 && !comparison.right)
      fmt::print("; largest error {:.3g}", comparison.worst_error);
    if (comparison.worst_relative > 0) fmt::print(", relative {:.3g}", comparison.worst_relative);
    if (comparison.nan_count > 0)
      fmt::print(", NaN in {} elements", output::counted(comparison.nan_count));
    if (!output.form.words.empty()) fmt::print("\n  {:13}  {}", "", output.form.words);
    fmt::print("\n  {:13}  tolerance: {}\n", "", output.tolerance);
  }
  if (!verdict.says_nothing.empty()) {
    fmt::print(
        "NOT VERIFIED: the outputs cannot tell right from wrong ({}). Verify its dispatches: hone "
        "dispatches {} lists them, hone verify {} --dispatch NAME verifies one\n",
        verdict.says_nothing, shell_word(options.input), shell_word(options.input));
    return;
  }
  // Do not repeat the message of an output's line.
  const bool said =
      verdict.message.empty() || std::ranges::any_of(verdict.outputs, [&](const auto& output) {
        return verdict.message == measure::describe(output.comparison);
      });
  fmt::print("{}{}\n", verdict.right ? "right" : "wrong", said ? "" : ": " + verdict.message);
}

CommandResult verify(VerifyOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  HONE_TRY(check_use(options));
  tune::VerifyRequest request;
  HONE_ASSIGN(request.place, choose_place(options.device, options.toolchain, CoreOptions()));
  HONE_TRY(check_runs_programs(request.place));
  // Nothing is measured, so others may use the cores meanwhile. A GPU is opened by one process, so
  // it is leased.
  std::vector<device::LockFile> held;
  if (request.place.traits.own_memory) {
    HONE_ASSIGN(held, lease_here({&request.place, 1}));
  }
  HONE_ASSIGN(request.inputs, given_arguments(options.runtime));
  HONE_ASSIGN(std::vector<std::string> flags_of_runtime, runtime_flags(options.runtime));
  HONE_ASSIGN(request.expected, read_arrays(options.expected, "--expected"));
  request.save_inputs = options.save_inputs;
  request.absolute = options.atol;
  request.relative = options.rtol;
  request.seed = options.seed;
  HONE_ASSIGN(const OpenedProgram opened, open_program(options.toolchain, options.input));
  const Toolchain& toolchain = opened.toolchain;
  request.bytes = opened.input.bytes;
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation()));
  std::optional<problem::GivenSizes> given;
  if (options.dispatch.empty()) {
    HONE_ASSIGN(problem::SizeSet sizes, problem::given_sizes(options.toolchain.sizes));
    given = tune::sizes_given(std::move(sizes), options.runtime.function, request.inputs);
  }
  request.flags = compile_flags(options.toolchain);
  ToolchainOptions plain;
  plain.target = options.toolchain.target;
  plain.flags = options.reference_flags;
  request.reference_flags = reference_flags(plain);
  HONE_ASSIGN(request.program, load_for_target(toolchain.compiler(), options.toolchain,
                                               options.input, request.bytes, given));
  HONE_ASSIGN(const Subject subject, choose(request, options));
  if (const std::size_t count = output_count(subject); options.outputs.size() > count)
    return input_error("--output is given {} times, but '{}' has {} outputs",
                       options.outputs.size(), subject.name(), count);

  if (!subject.function && !options.save_inputs.empty())
    return input_error("--save-inputs writes inputs of a whole program, not of '{}'",
                       subject.name());

  std::string spec;
  if (!options.spec.empty()) {
    const std::vector<std::string> without = request.flags;
    request.flags.push_back(provider->specs().flag_of(options.spec));
    HONE_ASSIGN(spec, effect_of_spec(request, without, toolchain.compiler()));
  }
  tune::VerifyResult verdict;
  if (subject.function) {
    HONE_ASSIGN(flags_of_runtime,
                flags_with_parameters(options.runtime, options.input, opened.input,
                                      std::filesystem::temp_directory_path(), options.seed));
    HONE_ASSIGN(verdict, tune::verify_program(request, *subject.function, flags_of_runtime,
                                              *provider, toolchain.compiler()));
  } else {
    trial::RunnerService runner(make_runner(toolchain.stop_fd(), toolchain.temporary()));
    HONE_ASSIGN(verdict, tune::verify_dispatch(request, *subject.dispatch, options.configuration,
                                               *provider, toolchain.compiler(), runner));
  }
  HONE_TRY(write_outputs(verdict, options.outputs));
  if (options.json)
    output::print_json(document_of(options, subject, spec, verdict));
  else
    print(options, subject, spec, verdict);
  return verdict.right && verdict.says_nothing.empty() ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<VerifyOptions>(
      app, run, "verify", "Check the outputs of a program or dispatch", verify);
  command.add_option("INPUT", options.input, kProgramFiles)->required();
  add_toolchain_options(command, options.toolchain);
  add_device_option(command, options.device);
  command.add_option("--dispatch", options.dispatch,
                     "verify one dispatch (number, name or pattern) alone");
  command.add_option("--config", options.configuration,
                     "configuration of the dispatch: dist_m=64,... [the compiler's default]");
  command.add_option("--spec", options.spec, "compile with this tuning spec");
  add_runtime_options(command, options.runtime, "the first");
  command.add_option("--save-inputs", options.save_inputs,
                     "write the inputs to DIR as argument0.npy, ...");
  command.add_option("--expected", options.expected,
                     "expected outputs in order: @c.npy; repeatable [an independent compile]");
  command.add_option("--output", options.outputs, "write outputs in order: @c.npy; repeatable");
  command.add_option("--atol", options.atol, "absolute tolerance [by element type]");
  command.add_option("--rtol", options.rtol, "relative tolerance [by element type]");
  command.add_option("--reference-flag", options.reference_flags,
                     "pass a flag to the reference's iree-compile; repeatable");
  add_default_option(command, "--seed", options.seed, "seed of generated inputs")
      ->group(heading::kProgram);
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer("Exit code 1: an output is wrong, or the outputs prove nothing.");
}

}  // namespace hone::cli
