#include "tune/program/output_moves.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

}  // namespace hone::tune
