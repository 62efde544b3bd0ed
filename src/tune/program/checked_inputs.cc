#include "tune/program/checked_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.h"
#include "measure/half.h"
#include "measure/inputs.h"

namespace hone::tune {
namespace {

// Scales of the draws. They are large enough for sums of a few dozen products to reach a bound of a
// thousand, and small enough for a saturated function to leave its bound.
constexpr double kScales[] = {1, 64, 1.0 / 64};
constexpr measure::InputValues kReals{measure::InputValues::Kind::kReals, 1, 0, 1, 1};

std::size_t size_in(const problem::Array& array) {
  return static_cast<std::size_t>(problem::byte_size(array.type.element));
}

// Whether all elements have the same bits.
bool has_one_value(const problem::Array& array) {
  const std::size_t size = size_in(array);
  return array.bytes.size() > size && array.bytes.compare(size, std::string::npos, array.bytes, 0,
                                                          array.bytes.size() - size) == 0;
}

// Whether three or more reals have at most two values, as those of a saturated function. Ignores
// differences too small, relative to the largest, for any comparison to see.
bool has_two_values(const problem::Array& array) {
  constexpr double kSeen = 1e-4;
  const auto count = static_cast<std::size_t>(problem::element_count(array.type));
  if (!problem::is_float(array.type.element) || count <= 2) return false;
  const std::vector<double> values = measure::values_of(array);
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  std::set<double> steps;
  for (const double value : values) {
    const bool is_number = std::isfinite(value) && largest > 0;
    steps.insert(is_number ? std::round(value / largest / kSeen) : std::isnan(value) ? 0 : value);
    if (steps.size() > 2) return false;
  }
  return true;
}

std::string why_nothing(const problem::Array& output, const problem::Array& other,
                        bool inputs_differ) {
  if (has_one_value(output))
    return fmt::format("each of its elements is {}",
                       measure::load_element(output.data().data(), output.type.element));
  if (has_two_values(output))
    return "its elements have two values, as those of a saturated function";
  if (inputs_differ && output.bytes == other.bytes) return "it is the same for other inputs";
  return "";
}

void shuffle_elements(problem::Array& array, std::uint64_t seed) {
  const std::size_t size = size_in(array);
  const std::size_t count = size == 0 ? 0 : array.bytes.size() / size;
  for (std::size_t i = count; i > 1; --i) {
    const std::size_t other = measure::random_bits(seed, i) % i;
    std::swap_ranges(array.bytes.begin() + static_cast<std::ptrdiff_t>((i - 1) * size),
                     array.bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                     array.bytes.begin() + static_cast<std::ptrdiff_t>(other * size));
  }
}

problem::Array redrawn(problem::Array array, bool is_made_up, double scale, std::uint64_t seed) {
  const problem::ElementType type = array.type.element;
  if (!problem::is_float(type)) {
    shuffle_elements(array, seed);
    return array;
  }
  if (is_made_up || has_one_value(array)) measure::fill_input(array.data(), type, kReals, seed);
  measure::change_elements(array, [&](std::size_t i, double value) {
    const double share = static_cast<double>(measure::random_bits(seed + 1, i) >> 11) * 0x1p-53;
    return value * scale * (0.5 + share);
  });
  return array;
}

// Draws arguments anew; `differ` becomes true if any of them changes.
Result<std::vector<std::filesystem::path>> write_redrawn(
    const std::vector<GivenArgument>& given, const std::vector<std::filesystem::path>& inputs,
    const std::filesystem::path& folder, std::string_view name, double scale, std::uint64_t seed,
    bool& differ) {
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    HONE_ASSIGN(const std::string bytes, read_file(inputs[i]));
    files.push_back(inputs[i]);
    auto array = problem::from_npy(bytes);
    if (!array) continue;  // of a type that hone passes on as it is
    const bool is_made_up =
        i >= given.size() || (!given[i].array.has_value() && given[i].values.empty());
    const problem::Array drawn = redrawn(*array, is_made_up, scale, measure::binding_seed(seed, i));
    differ = differ || drawn.bytes != array->bytes;
    files.back() = folder / fmt::format("{}_{}", name, inputs[i].filename().string());
    HONE_TRY(write_file_atomically(files.back(), problem::to_npy(drawn)));
  }
  return files;
}

}  // namespace

Result<provider::ProgramCall> widened_call(provider::ProgramCall call,
                                           const std::vector<std::filesystem::path>& inputs,
                                           const std::filesystem::path& folder) {
  for (problem::TensorType& type : call.function.outputs) type.element = widened(type.element);
  call.inputs.clear();
  for (const std::filesystem::path& input : inputs) {
    HONE_ASSIGN(const std::string file, read_file(input));
    HONE_ASSIGN(const problem::Array array, problem::from_npy(file));
    call.inputs.push_back(folder / ("wide_" + input.filename().string()));
    HONE_TRY(write_file_atomically(call.inputs.back(), problem::to_npy(widened(array))));
  }
  return call;
}

std::string why_outputs_say_nothing(const std::vector<problem::Array>& outputs,
                                    const std::vector<problem::Array>& others, bool inputs_differ) {
  if (outputs.empty()) return "the function returns nothing";
  std::vector<std::string> reasons;
  bool tells = false, is_real = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool known = i < others.size();
    const std::string why =
        why_nothing(outputs[i], known ? others[i] : outputs[i], known && inputs_differ);
    tells = tells || why.empty();
    if (why.empty()) continue;
    is_real = is_real || problem::is_float(outputs[i].type.element);
    reasons.push_back(fmt::format("result {}: {}", i, why));
  }
  if (tells && !is_real) return "";
  return fmt::format("{}", fmt::join(reasons, "; "));
}

Result<CheckedInputs> inputs_that_tell(const std::vector<GivenArgument>& given, CheckedSet first,
                                       const std::filesystem::path& folder, std::uint64_t seed,
                                       const RunOnFiles& run) {
  CheckedInputs checked;
  if (first.expected.empty()) {
    checked.says_nothing = why_outputs_say_nothing({}, {}, false);
    checked.sets.push_back(std::move(first));
    return checked;
  }
  std::optional<CheckedInputs> as_given;
  for (std::size_t draw = 0; draw < std::size(kScales); ++draw) {
    std::vector<CheckedSet> sets;
    bool differ = false;
    if (draw == 0) sets.push_back(first);
    while (sets.size() < 2) {
      const std::uint64_t number = 2 * draw + sets.size();
      HONE_ASSIGN(auto files,
                  write_redrawn(given, first.inputs, folder, fmt::format("draw{}", number),
                                kScales[draw], measure::binding_seed(seed, 2000 + number), differ));
      auto outputs = run(files);
      HONE_TRY(interruption(outputs));
      // A failure on inputs that hone made up is not the program's fault.
      if (!outputs) break;
      sets.push_back({std::move(files), std::move(*outputs)});
    }
    if (draw > 0 && sets.size() < 2) continue;
    const bool both = sets.size() == 2;
    std::string why = why_outputs_say_nothing(
        sets.front().expected, both ? sets.back().expected : sets.front().expected, both && differ);
    if (why.empty()) return CheckedInputs{std::move(sets), "", draw > 0};
    if (!as_given) as_given = CheckedInputs{std::move(sets), std::move(why), false};
    if (draw == 0 && first.inputs.empty()) break;
  }
  return std::move(*as_given);
}

}  // namespace hone::tune
