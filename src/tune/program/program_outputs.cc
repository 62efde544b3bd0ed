#include "tune/program/program_outputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "measure/half.h"
#include "measure/verification.h"
#include "plan/policy.h"
#include "tune/program/program_tolerance.h"

namespace hone::tune {
namespace {

bool is_narrow(problem::ElementType type) {
  return type == problem::ElementType::kF16 || type == problem::ElementType::kBF16;
}

struct Distance {
  double root_mean_square = 0;
  double worst = 0;
};

double root_mean_square(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

// Returns the distance between two results; infinite if only one of two elements is a number.
Distance distance(const problem::Array& from, const std::vector<double>& to) {
  const std::vector<double> values = measure::values_of(from);
  if (values.size() != to.size()) return {INFINITY, INFINITY};
  Distance found;
  std::vector<double> errors(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool both = std::isnan(values[i]) == std::isnan(to[i]);
    if (both && (std::isnan(to[i]) || values[i] == to[i])) continue;
    errors[i] = both ? std::abs(values[i] - to[i]) : INFINITY;
    found.worst = std::max(found.worst, errors[i]);
  }
  found.root_mean_square = root_mean_square(errors);
  return found;
}

// Says why `output` is not right by the program computed in f32; empty if it is.
std::string beside_wide(const problem::Array& output, const problem::Array& expected,
                        const problem::Array& wide) {
  const std::vector<double> exact = measure::values_of(wide);
  const Distance own = distance(expected, exact), got = distance(output, exact);
  const double share = error_by_wide(expected, wide);
  if (!(share <= plan::kMostErrorOfDefault))
    return fmt::format(
        "the default's own error is {:.2g} of the output (root mean square, by the program in "
        "f32): it may be wrong itself, which hone verify tells, and nothing can be told by it",
        share);
  if (got.root_mean_square <= plan::kErrorTimesTheDefault * own.root_mean_square &&
      got.worst <= plan::kErrorTimesTheDefault * own.worst)
    return "";
  return fmt::format(
      "by the program in f32 its error is {:.2g} (root mean square; the default's {:.2g}) and "
      "{:.2g} "
      "at most (the default's {:.2g})",
      got.root_mean_square, own.root_mean_square, got.worst, own.worst);
}

Status check_types(const std::vector<problem::Array>& outputs,
                   const std::vector<problem::Array>& expected) {
  if (outputs.size() != expected.size())
    return input_error("{} results, not {}", outputs.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (outputs[i].type != expected[i].type)
      return input_error("result {} is {}, not {}", i, problem::to_string(outputs[i].type),
                         problem::to_string(expected[i].type));
  return {};
}

bool are_right(const std::vector<JudgedOutput>& judged) {
  return std::ranges::all_of(judged,
                             [](const JudgedOutput& each) { return each.comparison.right; });
}

Status judge_by_moves(const std::vector<problem::Array>& outputs,
                      const std::vector<problem::Array>& expected,
                      const std::optional<OutputMoves>& moves, std::vector<JudgedOutput>& judged) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    JudgedOutput& each = judged[i];
    if (each.comparison.right) continue;
    if (moves) {
      each.by_moves = true;
      each.tolerance.basis +=
          ", and four times as far as the element moves when the inputs are off by rounding";
      HONE_ASSIGN(each.comparison,
                  compare_with_moves(outputs[i], expected[i], each.tolerance, (*moves)[i]));
    } else {
      each.tolerance = program_tolerance(expected[i]);
      HONE_ASSIGN(each.comparison, measure::compare(outputs[i], expected[i], each.tolerance));
    }
  }
  return {};
}

void judge_by_wide(const std::vector<problem::Array>& outputs,
                   const std::vector<problem::Array>& expected,
                   const std::vector<problem::Array>& wide, std::vector<JudgedOutput>& judged) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    JudgedOutput& each = judged[i];
    if (each.comparison.right || !problem::is_float(expected[i].type.element)) continue;
    each.by_wide = beside_wide(outputs[i], expected[i], wide[i]);
    if (!each.by_wide.empty()) continue;
    each.comparison.right = true;
    each.tolerance.basis = "at most twice as far from the program in f32 as the reference";
  }
}

}  // namespace

Result<std::vector<JudgedOutput>> judge_outputs(const std::vector<problem::Array>& outputs,
                                                const std::vector<problem::Array>& expected,
                                                const OutputWitnesses& witnesses) {
  HONE_TRY(check_types(outputs, expected));
  std::vector<JudgedOutput> judged(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    judged[i].tolerance = rounding_tolerance(expected[i]);
    HONE_ASSIGN(judged[i].comparison,
                measure::compare(outputs[i], expected[i], judged[i].tolerance));
  }
  if (are_right(judged)) return judged;
  HONE_ASSIGN(const std::optional<OutputMoves> moves, witnesses.moves());
  HONE_TRY(judge_by_moves(outputs, expected, moves, judged));
  if (!are_right(judged) && witnesses.wide) {
    HONE_ASSIGN(const std::vector<problem::Array> wide, witnesses.wide());
    if (wide.size() == expected.size()) judge_by_wide(outputs, expected, wide, judged);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (judged[i].comparison.right) continue;
    HONE_ASSIGN(judged[i].form,
                measure::form_of_difference(outputs[i], expected[i], judged[i].tolerance));
  }
  return judged;
}

std::string difference_in(const std::vector<JudgedOutput>& judged) {
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (judged[i].comparison.right) continue;
    const std::string difference = fmt::format(
        "result {} is {}: {}", i, measure::describe(judged[i].comparison), judged[i].form.words);
    return judged[i].by_wide.empty() ? difference : difference + "; " + judged[i].by_wide;
  }
  return "";
}

std::string changed_bits(const std::vector<problem::Array>& outputs,
                         const std::vector<problem::Array>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string &got = outputs[i].bytes, &want = expected[i].bytes;
    const auto size = static_cast<std::size_t>(problem::byte_size(expected[i].type.element));
    std::size_t changed = 0, first = 0;
    for (std::size_t at = 0; at + size <= want.size(); at += size) {
      if (got.compare(at, size, want, at, size) == 0) continue;
      if (changed++ == 0) first = at / size;
    }
    if (changed > 0)
      return fmt::format(
          "result {} is not bit-equal: {} of {} elements have other bits, element {} first", i,
          changed, want.size() / size, first);
  }
  return "";
}

bool are_narrow(const std::vector<problem::Array>& outputs) {
  return std::ranges::any_of(
      outputs, [](const problem::Array& each) { return is_narrow(each.type.element); });
}

bool computes_narrow(const problem::Program& program) {
  return std::ranges::any_of(program.dispatches, [](const problem::Dispatch& dispatch) {
    return std::ranges::any_of(dispatch.bindings,
                               [](const auto& view) { return is_narrow(view.type.element); }) ||
           std::ranges::any_of(dispatch.computation.values,
                               [](const auto& value) { return is_narrow(value.type); });
  });
}

problem::ElementType widened(problem::ElementType type) {
  return is_narrow(type) ? problem::ElementType::kF32 : type;
}

problem::Array widened(const problem::Array& array) {
  if (!is_narrow(array.type.element)) return array;
  problem::Array wide{{problem::ElementType::kF32, array.type.shape}, {}};
  const std::vector<float> values = measure::values_of<float>(array);
  const auto bytes = std::as_bytes(std::span(values));
  wide.bytes.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return wide;
}

double error_by_wide(const problem::Array& output, const problem::Array& wide) {
  const std::vector<double> exact = measure::values_of(wide);
  const double error = distance(output, exact).root_mean_square;
  return error == 0 ? 0 : error / root_mean_square(exact);
}

Result<std::string> difference_of_outputs(const std::vector<problem::Array>& outputs,
                                          const std::vector<problem::Array>& expected,
                                          const std::vector<problem::Array>& wide) {
  HONE_TRY(check_types(outputs, expected));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    HONE_ASSIGN(const measure::Comparison comparison,
                measure::compare(outputs[i], expected[i], program_tolerance(expected[i])));
    if (comparison.right) continue;
    const std::string difference = fmt::format("result {} is {}", i, measure::describe(comparison));
    if (wide.size() != expected.size() || !is_narrow(expected[i].type.element)) return difference;
    const std::string by_wide = beside_wide(outputs[i], expected[i], wide[i]);
    if (!by_wide.empty()) return difference + "; " + by_wide;
  }
  return std::string();
}

}  // namespace hone::tune
