#include "tune/services/function_choice.h"

#include <algorithm>

#include "base/text.h"

namespace hone::tune {
namespace {

bool is_callable(const problem::Function& function) {
  return !function.outputs.empty() &&
         std::none_of(function.inputs.begin(), function.inputs.end(),
                      [](const problem::TensorType& type) { return problem::is_dynamic(type); });
}

std::string why_none_is_callable(const problem::Program& program, const std::string& wanted) {
  if (program.functions.empty())
    return "no function of the program takes and returns tensors of types that hone knows";
  bool returns = false;
  for (const problem::Function& function : program.functions)
    returns = returns || ((wanted.empty() || function.name == wanted) && !function.outputs.empty());
  return fmt::format("{} {}", wanted.empty() ? "each function of the program" : wanted,
                     returns
                         ? "takes an argument whose shape is open (--input SHAPE gives one), or "
                           "returns no tensor"
                         : "returns no tensor");
}

}  // namespace

Result<problem::Function> as_called(problem::Function function,
                                    const std::vector<GivenArgument>& given) {
  HONE_ASSIGN(function.inputs, types_given(std::move(function.inputs), given,
                                           fmt::format("the inputs of '{}'", function.name)));
  return function;
}

Result<problem::Function> function_to_call(const problem::Program& program,
                                           const std::string& wanted,
                                           const std::vector<GivenArgument>& given) {
  std::vector<std::string> names;
  std::optional<Error> does_not_fit;
  for (const problem::Function& function : program.functions) {
    names.push_back(function.name);
    if (!wanted.empty() && function.name != wanted) continue;
    Result<problem::Function> called = as_called(function, given);
    if (called && is_callable(*called)) return called;
    if (!called && !does_not_fit) does_not_fit = std::move(called).error();
  }
  if (!wanted.empty() && std::ranges::count(names, wanted) == 0)
    return input_error(
        "'{}' has no function '{}'{}{}", program.path, wanted, did_you_mean(wanted, names),
        names.empty() ? std::string() : fmt::format("; there are: {}", fmt::join(names, ", ")));
  if (does_not_fit) return tl::unexpected(std::move(*does_not_fit));
  return failure("{}", why_none_is_callable(program, wanted));
}

}  // namespace hone::tune
