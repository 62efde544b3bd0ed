#include "tune/program/program_outputs.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/file.h"
#include "measure/half.h"
#include "measure/inputs.h"
#include "plan/policy.h"

namespace hone::tune {
namespace {

using problem::ElementType;

constexpr std::size_t kRun = 64;  // elements that move together

// Returns the relative nudge of a type. 64 units of f32: sums of tens of thousands of terms in
// order lie within it. Operands narrowed to f16 are off by 2^12 units, to bf16 by 2^15.
double nudge_of(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 0x1p-46;
    case ElementType::kF32:
      return 0x1p-18;
    case ElementType::kF16:
      return 0x1p-10;
    case ElementType::kBF16:
      return 0x1p-7;
    default:
      return 0;
  }
}

double sign_of(std::uint64_t seed, std::uint64_t index) {
  return (measure::random_bits(seed, index) >> 63) != 0 ? 1 : -1;
}

double distance_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? INFINITY : distance;
}

// Whether the errors are no worse, by rank, than the moves of all elements; the errors are of
// elements that moved less.
bool are_within(std::vector<double> errors, std::vector<double> moves, double times,
                double always) {
  std::ranges::sort(errors, std::greater());
  const auto count = static_cast<std::ptrdiff_t>(std::min(errors.size(), moves.size()));
  std::ranges::partial_sort(moves, moves.begin() + count, std::greater());
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (!(errors[i] <= always + times * moves[i])) return false;
  return true;
}

double relative_tolerance(problem::ElementType type) {
  switch (type) {
    case problem::ElementType::kF16:
      return 1e-3;
    case problem::ElementType::kBF16:
      return 1e-2;
    case problem::ElementType::kF8E4M3:
    case problem::ElementType::kF8E5M2:
      return 1e-1;
    case problem::ElementType::kF32:
      return 1e-4;
    case problem::ElementType::kF64:
      return 1e-8;
    default:
      return 0;
  }
}

double largest_magnitude(const problem::Array& array) {
  double largest = 0;
  for (const double value : measure::values_of(array))
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

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
    errors[i] = distance_of(values[i], to[i]);
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

std::optional<problem::Array> nudged(const problem::Array& array, std::uint64_t seed) {
  const ElementType type = array.type.element;
  const double nudge = nudge_of(type);
  if (nudge == 0) return std::nullopt;
  problem::Array moved = array;
  const double whole = sign_of(seed, 0);
  measure::change_elements(moved, [&](std::size_t i, double value) {
    const double run = sign_of(seed + 1, i / kRun), own = sign_of(seed + 2, i);
    return value * (1 + nudge * (whole + run + own) / 3);
  });
  return moved;
}

Result<std::optional<OutputMoves>> moves_of(const std::vector<std::filesystem::path>& inputs,
                                            const std::vector<problem::Array>& expected,
                                            const std::filesystem::path& folder, std::uint64_t seed,
                                            const RunOnFiles& run) {
  OutputMoves moves;
  std::vector<std::vector<double>> wanted;
  for (const problem::Array& each : expected) {
    wanted.push_back(measure::values_of(each));
    moves.emplace_back(wanted.back().size(), 0.0);
  }
  for (int draw = 0; draw < plan::kMoveDraws; ++draw) {
    std::vector<std::filesystem::path> files = inputs;
    bool any = false;
    for (std::size_t i = 0; i < files.size(); ++i) {
      HONE_ASSIGN(const std::string bytes, read_file(files[i]));
      const auto array = problem::from_npy(bytes);
      if (!array) continue;
      const auto draws = static_cast<std::uint64_t>(draw) * files.size() + i;
      const auto moved = nudged(*array, measure::binding_seed(seed, 1000 + draws));
      if (!moved) continue;
      any = true;
      files[i] = folder / ("nudged_" + files[i].filename().string());
      HONE_TRY(write_file_atomically(files[i], problem::to_npy(*moved)));
    }
    if (!any) return std::optional<OutputMoves>();
    Result<std::vector<problem::Array>> outputs = run(files);
    HONE_TRY(interruption(outputs));
    if (!outputs || outputs->size() != expected.size()) return std::optional<OutputMoves>();
    for (std::size_t r = 0; r < expected.size(); ++r) {
      const std::vector<double> values = measure::values_of((*outputs)[r]);
      if (values.size() != wanted[r].size()) return std::optional<OutputMoves>();
      for (std::size_t i = 0; i < values.size(); ++i)
        moves[r][i] = std::max(moves[r][i], distance_of(values[i], wanted[r][i]));
    }
  }
  return std::optional<OutputMoves>(std::move(moves));
}

Result<measure::Comparison> compare_with_moves(const problem::Array& got,
                                               const problem::Array& expected,
                                               const measure::Tolerance& tolerance,
                                               const std::vector<double>& moves) {
  const problem::TensorType& type = expected.type;
  HONE_ASSIGN(measure::Comparison plain, measure::compare(got, expected, tolerance));
  if (plain.right || plain.elements != std::ssize(moves)) return plain;
  const double times = problem::is_float(type.element) ? plan::kTimesTheMove : 1;
  const auto size = static_cast<std::size_t>(problem::byte_size(type.element));
  const std::vector<double> values = measure::values_of(got), wanted = measure::values_of(expected);
  problem::Array forgiven = got;
  const auto forgive = [&](std::size_t i) {
    forgiven.bytes.replace(i * size, size, expected.bytes, i * size, size);
  };
  std::vector<std::size_t> beyond;
  std::vector<double> errors;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const double error = distance_of(values[i], wanted[i]);
    const double always = tolerance.absolute + tolerance.relative * std::abs(wanted[i]);
    if (error <= always) continue;
    if (error <= always + times * moves[i]) {
      forgive(i);
      continue;
    }
    beyond.push_back(i);
    errors.push_back(error);
  }
  if (are_within(std::move(errors), moves, times, tolerance.absolute))
    for (const std::size_t i : beyond) forgive(i);
  HONE_ASSIGN(measure::Comparison judged, measure::compare(forgiven, expected, tolerance));
  // The reported errors are those of the outputs as computed.
  judged.worst_error = plain.worst_error;
  judged.worst_relative = plain.worst_relative;
  judged.nan_count = plain.nan_count;
  return judged;
}

measure::Tolerance program_tolerance(const problem::Array& expected) {
  const double relative = relative_tolerance(expected.type.element);
  if (relative == 0) return {0, 0, "exact: integers"};
  const double largest = largest_magnitude(expected);
  return {relative * largest, relative,
          fmt::format("{} of the largest element ({:.3g}), as iree-run-module allows for {}",
                      relative, largest, problem::name_of(expected.type.element))};
}

measure::Tolerance rounding_tolerance(const problem::Array& expected) {
  const problem::ElementType type = expected.type.element;
  measure::Tolerance tolerance = program_tolerance(expected);
  if (type != problem::ElementType::kF32 && type != problem::ElementType::kF64) return tolerance;
  tolerance.absolute /= 10;
  tolerance.relative /= 10;
  tolerance.basis = fmt::format("{:.2g} of the largest element ({:.3g})", tolerance.relative,
                                largest_magnitude(expected));
  return tolerance;
}

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
