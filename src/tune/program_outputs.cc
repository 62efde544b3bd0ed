#include "tune/program_outputs.h"

#include <span>

#include "measure/verification.h"
#include "tune/program_tolerance.h"

namespace hone::tune {
Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected) {
  if (outputs.size() != expected.size())
    return input_error("{} results, not {}", outputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const problem::TensorType& type = expected[i].type;
    if (outputs[i].type != type)
      return input_error("result {} is {}, not {}", i, problem::to_string(outputs[i].type),
                         problem::to_string(type));
    HONE_ASSIGN(const measure::Comparison comparison,
                measure::compare(std::as_bytes(std::span(outputs[i].bytes)),
                                 std::as_bytes(std::span(expected[i].bytes)), type,
                                 program_tolerance(expected[i])));
    if (!comparison.right) return fmt::format("result {} is {}", i, measure::describe(comparison));
  }
  return std::string();
}

}  // namespace hone::tune
