#include "base/file.h"
#include "base/text.h"
#include "tune/compare/compare.h"
#include "tune/program/program_outputs.h"
#include "tune/program/program_rounds.h"
#include "tune/services/function_choice.h"
#include "tune/services/input_files.h"

namespace hone::tune {
namespace {

constexpr std::string_view kNone = "none";

struct Side {
  std::string label;
  std::filesystem::path module;
  std::vector<problem::Function> known{};  // of the program that it was compiled from
  problem::Function function{};
  provider::ProgramCall call{};
};

// Gives a function that does not say its types those that the program's has, or those that were
// given.
Result<problem::Function> typed(const CompareContext& context, const Side& side,
                                const provider::UntypedFunction& function) {
  for (const problem::Function& known : side.known)
    if (known.name == function.name) return known;
  problem::Function found{function.name, {}, std::vector<problem::TensorType>(function.outputs)};
  for (const GivenArgument& given : context.options.inputs)
    if (given.type) found.inputs.push_back(*given.type);
  if (found.inputs.size() == function.inputs) return found;
  return input_error(
      "'{}' does not say which types '{}' takes, as modules of programs from PyTorch and ONNX do "
      "not: give the type of each argument, {} in all (--input 1x3x224x224xf32)",
      side.module.string(), function.name, function.inputs);
}

Result<problem::Function> choose_function(const CompareContext& context, const Side& side) {
  const std::string module = side.module.string();
  HONE_ASSIGN(const std::vector<problem::Function> functions,
              context.provider.functions(side.module));
  HONE_ASSIGN(const std::vector<provider::UntypedFunction> untyped,
              context.provider.untyped_functions(side.module));
  std::vector<std::string> names;
  for (const problem::Function& function : functions) names.push_back(function.name);
  for (const provider::UntypedFunction& function : untyped) names.push_back(function.name);
  const std::string& wanted = context.options.function;
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() ? names.size() == 1 : name == wanted;
  };
  for (const problem::Function& function : functions)
    if (is_wanted(function.name)) return as_called(function, context.options.inputs);
  for (const provider::UntypedFunction& function : untyped) {
    if (!is_wanted(function.name)) continue;
    HONE_ASSIGN(problem::Function found, typed(context, side, function));
    return as_called(std::move(found), context.options.inputs);
  }
  if (names.empty())
    return input_error("'{}' has no function that takes tensors only: nothing to call", module);
  if (wanted.empty())
    return input_error("'{}' has several functions; say which with --function: {}", module,
                       fmt::join(names, ", "));
  return input_error("'{}' has no function '{}'{}; there are: {}", module, wanted,
                     did_you_mean(wanted, names), fmt::join(names, ", "));
}

Status complete(const CompareContext& context, const std::filesystem::path& folder, Side& side) {
  HONE_ASSIGN(side.function, choose_function(context, side));
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  HONE_ASSIGN(auto inputs, write_argument_files(side.function, context.options.inputs, folder,
                                                context.options.seed));
  side.call = {side.module,
               side.function.name,
               std::move(inputs),
               context.options.place.address,
               context.options.runtime_flags,
               side.function.outputs,
               context.options.stop_fd};
  return {};
}

Result<bool> same_contents(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code code;
  if (std::filesystem::file_size(a, code) != std::filesystem::file_size(b, code)) return false;
  HONE_ASSIGN(const std::string a_bytes, read_file(a));
  HONE_ASSIGN(const std::string b_bytes, read_file(b));
  return a_bytes == b_bytes;
}

Result<ComparedPair> compare_sides(const CompareContext& context,
                                   const std::filesystem::path& folder, Side a, Side b) {
  HONE_TRY(complete(context, folder / "a", a));
  HONE_TRY(complete(context, folder / "b", b));
  ComparedPair pair;
  pair.what = a.function.name;
  pair.a = a.label;
  pair.b = b.label;
  HONE_ASSIGN(const auto expected, context.provider.run_program(a.call, a.function.outputs.size()));
  HONE_ASSIGN(const auto outputs, context.provider.run_program(b.call, b.function.outputs.size()));
  if (a.function.inputs == b.function.inputs && a.function.outputs == b.function.outputs) {
    HONE_ASSIGN(const std::string difference, difference_of_outputs(outputs, expected));
    if (!difference.empty()) pair.failure = "B computes something else: " + difference;
  } else {
    pair.note = "A and B take or give different types: each ran on its own, results not compared";
  }
  HONE_ASSIGN(const bool same, same_contents(a.module, b.module));
  if (same) pair.note = "both are the same module";

  context.machine_state();  // shares are of the time from here on
  const CompareOptions& options = context.options;
  do {
    // Another seed in every stage, so that the orders are drawn anew.
    HONE_ASSIGN(const auto rounds,
                time_rounds(context.provider, {a.call, b.call},
                            {options.rounds, options.seconds, options.seed + pair.a_seconds.size()},
                            context.observer));
    for (const std::vector<double>& round : rounds) {
      pair.a_seconds.push_back(round[0]);
      pair.b_seconds.push_back(round[1]);
    }
    HONE_ASSIGN(pair.result,
                measure::compare_paired(pair.a_seconds, pair.b_seconds, options.statistics));
  } while (pair.a_seconds.size() + options.rounds <= options.most_rounds &&
           measure::needs_more_rounds(pair.result, options.find, options.statistics));
  pair.machine = context.machine_state();
  return pair;
}

Result<std::filesystem::path> compile_with(const CompareContext& context, CompileService& compiler,
                                           const std::string& program, const std::string& bytes,
                                           const std::string& spec,
                                           const std::filesystem::path& module) {
  std::vector<std::string> flags = context.options.flags;
  if (spec != kNone) {
    HONE_TRY(read_file(spec));
    flags.push_back(context.provider.spec_flag(spec));
  }
  HONE_ASSIGN(const auto compiled, compiler.compile_program(program, bytes, flags));
  if (!compiled)
    return input_error("'{}' does not compile with the spec '{}': {}", program, spec,
                       compiled.error().message);
  HONE_TRY(write_file_atomically(module, *compiled));
  return module;
}

}  // namespace

Result<ComparedPair> compare_modules(const CompareContext& context, const std::filesystem::path& a,
                                     const std::filesystem::path& b) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-compare-"));
  return compare_sides(context, folder.path(), {a.string(), a}, {b.string(), b});
}

Result<ComparedPair> compare_specs(const CompareContext& context, CompileService& compiler,
                                   const std::string& program, const std::string& a,
                                   const std::string& b) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-compare-"));
  HONE_ASSIGN(const std::string bytes, read_file(program));
  HONE_ASSIGN(const auto a_module,
              compile_with(context, compiler, program, bytes, a, folder.path() / "a.vmfb"));
  HONE_ASSIGN(const auto b_module,
              compile_with(context, compiler, program, bytes, b, folder.path() / "b.vmfb"));
  HONE_ASSIGN(const auto untyped, context.provider.untyped_functions(a_module));
  std::vector<problem::Function> known;
  if (!untyped.empty()) {
    HONE_ASSIGN(problem::Program loaded,
                compiler.load_program(program, bytes, context.options.flags));
    known = std::move(loaded.functions);
  }
  return compare_sides(context, folder.path(), {a, a_module, known}, {b, b_module, known});
}

}  // namespace hone::tune
