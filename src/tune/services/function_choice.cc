#include "tune/services/function_choice.h"

#include <algorithm>

#include "base/text.h"
#include "problem/types.h"

namespace hone::tune {
namespace {

bool is_callable(const problem::Function& function) {
  return std::ranges::none_of(
      function.inputs, [](const problem::TensorType& type) { return problem::is_dynamic(type); });
}

// Returns the first function that lacks sizes; null if none does.
const problem::Function* without_sizes(const problem::Program& program, const std::string& wanted) {
  const auto found = std::ranges::find_if(program.functions, [&](const problem::Function& each) {
    return !each.missing_sizes.empty() && (wanted.empty() || each.name == wanted);
  });
  return found == program.functions.end() ? nullptr : &*found;
}

std::string why_none_is_callable(const problem::Program& program, const std::string& wanted) {
  if (program.functions.empty())
    return "the program has no function that hone can call: a *_benchmark.mlir file has none, and "
           "arguments are tensors and numbers of known types";
  if (const problem::Function* const open = without_sizes(program, wanted))
    return fmt::format("sizes of '{}' are open, give each: --dim {}=SIZE", open->name,
                       fmt::join(open->missing_sizes, "=SIZE --dim "));
  return fmt::format("{} takes an argument whose shape is open (--input SHAPE gives one)",
                     wanted.empty() ? "each function of the program" : wanted);
}

bool has_values(const std::vector<GivenArgument>& given, std::size_t input) {
  return input < given.size() && (given[input].array || !given[input].values.empty());
}

// Suggests an --input for each input, with a placeholder for values that hone cannot make up.
std::string how_to_give(const problem::Function& function,
                        const std::vector<GivenArgument>& given) {
  constexpr std::int64_t kMostValues = 8;
  std::string words;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const problem::TensorType& type = function.inputs[i];
    const bool unknown = std::ranges::any_of(function.ranges, [&](const problem::InputRange& each) {
      return static_cast<std::size_t>(each.input) == i && !each.unknown.empty();
    });
    words += words.empty() ? "" : " ";
    if (!unknown || has_values(given, i))
      words += i < given.size() ? given[i].name : "--input " + problem::to_string(type);
    else if (!problem::is_dynamic(type) && problem::element_count(type) <= kMostValues)
      words += fmt::format(
          "--input {}={}", problem::to_string(type),
          fmt::join(std::vector<std::string>(static_cast<std::size_t>(problem::element_count(type)),
                                             "VALUE"),
                    ","));
    else
      words += fmt::format("--input @input{}.npy", i);
  }
  return words;
}

Status check_given(const problem::Function& function, const std::vector<GivenArgument>& given) {
  for (const problem::InputRange& range : function.ranges) {
    const auto i = static_cast<std::size_t>(range.input);
    if (range.unknown.empty() || i >= function.inputs.size() || has_values(given, i)) continue;
    return input_error("input {} of '{}' ({}) is {}: hone cannot make its values up; give them: {}",
                       i, function.name, problem::to_string(function.inputs[i]), range.unknown,
                       how_to_give(function, given));
  }
  return {};
}

}  // namespace

Result<problem::Function> as_called(problem::Function function,
                                    const std::vector<GivenArgument>& given) {
  if (!function.unknown_type.empty())
    return input_error("'{}' takes or returns a {}, which hone cannot pass to a program",
                       function.name, function.unknown_type);
  HONE_ASSIGN(function.inputs, types_given(std::move(function.inputs), given,
                                           fmt::format("the inputs of '{}'", function.name)));
  HONE_TRY(check_given(function, given));
  return function;
}

Result<problem::Function> function_to_call(const problem::Program& program,
                                           const std::string& wanted,
                                           const std::vector<GivenArgument>& given) {
  std::vector<std::string> names;
  std::optional<Error> does_not_fit;
  std::optional<problem::Function> without_results;
  for (const problem::Function& function : program.functions) {
    names.push_back(function.name);
    if (!wanted.empty() && function.name != wanted) continue;
    Result<problem::Function> called = as_called(function, given);
    if (called && is_callable(*called)) {
      if (!called->outputs.empty()) return called;
      if (!without_results) without_results = std::move(*called);
    }
    if (!called && !does_not_fit) does_not_fit = std::move(called).error();
  }
  if (without_results) return std::move(*without_results);
  if (!wanted.empty() && std::ranges::count(names, wanted) == 0)
    return input_error(
        "'{}' has no function '{}'{}{}", program.path, wanted, did_you_mean(wanted, names),
        names.empty() ? std::string() : fmt::format("; there are: {}", fmt::join(names, ", ")));
  if (does_not_fit) return tl::unexpected(std::move(*does_not_fit));
  return failure("{}", why_none_is_callable(program, wanted));
}

bool lacks_sizes(const problem::Program& program, const std::string& wanted) {
  return without_sizes(program, wanted) != nullptr;
}

}  // namespace hone::tune
