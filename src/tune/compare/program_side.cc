#include "tune/compare/program_side.h"

#include <algorithm>

#include "base/text.h"
#include "tune/program/program_rounds.h"
#include "tune/services/function_choice.h"
#include "tune/services/input_files.h"

namespace hone::tune {
namespace {

// Gives a function that does not say its types those that the program's has, or those that were
// given.
Result<problem::Function> typed(const CompareContext& context, const ProgramSide& side,
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

Result<problem::Function> choose_function(const CompareContext& context, const ProgramSide& side) {
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
  for (problem::Function function : functions) {
    if (!is_wanted(function.name)) continue;
    const auto known = std::ranges::find(side.known, function.name, &problem::Function::name);
    if (known != side.known.end()) {
      function.ranges = known->ranges;
      function.keeps_state = known->keeps_state;
    }
    return as_called(std::move(function), context.options.inputs);
  }
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

}  // namespace

Status complete(const CompareContext& context, const std::filesystem::path& folder,
                ProgramSide& side) {
  HONE_ASSIGN(side.function, choose_function(context, side));
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  HONE_ASSIGN(auto inputs, write_argument_files(side.function, context.options.inputs, folder,
                                                context.options.seed));
  side.call = {.module = side.module,
               .function = side.function,
               .inputs = std::move(inputs),
               .device = context.options.place.address,
               .runtime_flags = context.options.runtime_flags,
               .stop_fd = context.options.stop_fd};
  return {};
}

Status time_sides(const CompareContext& context, const ProgramSide& a, const ProgramSide& b,
                  ComparedPair& pair) {
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
  return {};
}

}  // namespace hone::tune
