#include "provider/iree/compiler/replacing_spec.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "provider/iree/compiler/transform_specs.h"

namespace hone::iree {
namespace {

// A matcher of the pattern and the action that calls `function` in its place. `parameters`: types.
std::string matcher_text(const std::string& label, const std::string& function,
                         const std::vector<std::string>& parameters, const std::string& pattern) {
  std::vector<std::string> arguments;
  for (const std::string& type : parameters)
    arguments.push_back(fmt::format("%arg{}: {}", arguments.size(), type));
  return fmt::format(
      R"mlir(  transform.named_sequence @match_{0}(%root: !transform.any_op {{transform.readonly}})
      -> (!transform.any_value, !transform.any_value) {{
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {{
    ^bb0({2}):
{3}    }} : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }}
  transform.named_sequence @call_{0}(%ins: !transform.any_value {{transform.readonly}},
                                     %out: !transform.any_value {{transform.readonly}}) {{
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
{1})mlir",
      label, calling_text(function), fmt::join(arguments, ", "), pattern);
}

std::string scalar_text(const ScalarFunction& scalar) {
  std::vector<std::string> parameters;
  for (const std::string& type : scalar.parameters)
    parameters.push_back(fmt::format("%arg{}: {}", parameters.size(), type));
  return fmt::format("  util.func private @{}({}) -> {} {{\n{}    util.return {} : {}\n  }}\n",
                     scalar.name, fmt::join(parameters, ", "), scalar.result, scalar.body,
                     scalar.value, scalar.result) +
         matcher_text(scalar.name, scalar.name, scalar.parameters, scalar.body);
}

// Operations on single values that read constants from outside are calls while patterns are looked
// for. Those that are left are inlined again, with the functions.
std::string scalars_called(const std::vector<ScalarFunction>& scalars) {
  if (scalars.empty()) return {};
  std::vector<std::string> pairs;
  for (const ScalarFunction& scalar : scalars)
    pairs.push_back(fmt::format("@match_{0} -> @call_{0}", scalar.name));
  return fmt::format(
      R"mlir(    %plain = transform.structured.match ops{{["util.func"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %plain : !transform.any_op {{
    ^bb0(%function: !transform.any_op):
      %called = transform.foreach_match in %function
          {} : (!transform.any_op) -> (!transform.any_op)
      transform.apply_dce to %called : !transform.any_op
    }}
)mlir",
      fmt::join(pairs, ",\n          "));
}

}  // namespace

std::string replacing_spec(const std::vector<Replacement>& replacements) {
  std::string text = "module attributes {transform.with_named_sequence} {\n";
  std::vector<std::string> pairs;
  std::vector<ScalarFunction> scalars;
  for (const Replacement& replacement : replacements)
    for (const ScalarFunction& scalar : replacement.scalars)
      if (std::ranges::count(scalars, scalar) == 0) scalars.push_back(scalar);
  for (const ScalarFunction& scalar : scalars) text += scalar_text(scalar);
  for (const Replacement& each : replacements) {
    const std::string number = std::to_string(pairs.size());
    text += fmt::format("  // {}\n{}{}", each.comment, each.function,
                        matcher_text(number, each.name, each.operands, each.dag));
    pairs.push_back(fmt::format("@match_{0} -> @call_{0}", number));
  }
  return text +
         calling_entry_point(pairs, scalars_called(scalars),
                             "    // A call would have its operands copied before each launch.\n") +
         "}\n";
}

}  // namespace hone::iree
