#include "tune/services/given_arguments.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <span>
#include <string>

#include "base/file.h"
#include "base/ranges.h"
#include "measure/half.h"
#include "measure/inputs.h"
#include "problem/npy.h"
#include "problem/types.h"

namespace hone::tune {
namespace {

// Weights and activations of a model are below one; sums over thousands of them stay moderate.
constexpr measure::InputValues kRealArgument{measure::InputValues::Kind::kReals, 1, 0, 1, 1};
constexpr measure::InputValues kIntegerArgument{measure::InputValues::Kind::kIntegers, 3, 0, 1, 1};

Result<std::vector<double>> read_values(std::string_view list, const std::string& name) {
  std::vector<double> values;
  while (!list.empty()) {
    const auto end = list.find_first_of(", ");
    const std::string_view word = list.substr(0, end);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    if (word.empty()) continue;
    double value = 0;
    const auto [used, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || used != word.data() + word.size())
      return input_error("{}: '{}' is no number", name, word);
    values.push_back(value);
  }
  if (values.empty()) return input_error("{}: no value after '='", name);
  return values;
}

Status check_count(const GivenArgument& given, const problem::TensorType& type) {
  const auto wanted = static_cast<std::size_t>(problem::element_count(type));
  if (given.values.size() <= 1 || given.values.size() == wanted) return {};
  return input_error("{} gives {} values for {} elements of {}", given.name, given.values.size(),
                     wanted, problem::to_string(type));
}

Result<problem::Array> made_of(const GivenArgument& given, const problem::TensorType& type) {
  HONE_TRY(check_count(given, type));
  problem::Array array = problem::zeros_of(type);
  const bool is_one_for_all = given.values.size() == 1;
  measure::change_elements(
      array, [&](std::size_t i, double) { return given.values[is_one_for_all ? 0 : i]; });
  return array;
}

problem::Array made_up(const problem::TensorType& type, const problem::InputRange* range,
                       std::uint64_t seed) {
  problem::Array array = problem::zeros_of(type);
  if (range != nullptr) {
    std::mt19937_64 random(seed);
    const auto count = static_cast<std::uint64_t>(range->most - range->least) + 1;
    measure::change_elements(array, [&](std::size_t, double) {
      return static_cast<double>(range->least + static_cast<std::int64_t>(random() % count));
    });
    return array;
  }
  measure::fill_input(array.data(), type.element,
                      problem::is_float(type.element) ? kRealArgument : kIntegerArgument, seed);
  return array;
}

problem::Array filled(const problem::TensorType& type, const measure::InputValues& values,
                      std::uint64_t seed) {
  problem::Array array = problem::zeros_of(type);
  measure::fill_input(array.data(), type.element, values, seed);
  return array;
}

// Binding of the kernel, filled in view by view.
struct KernelBinding {
  problem::Array array;
  bool is_read = false;
};

constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

// Copies the content of a view to its offset in the binding.
Status add_view(const problem::Binding& view, problem::Array array, KernelBinding& binding) {
  const std::int64_t end = view.offset + view.bytes;
  if (end > kMostBytes)
    return failure("binding {} is read at byte {}, too far for a file", view.ordinal, end);
  binding.array.type.element = problem::ElementType::kI8;
  std::string& bytes = binding.array.bytes;
  bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(end)));
  std::copy(array.bytes.begin(), array.bytes.end(), bytes.begin() + view.offset);
  binding.array.type.shape = {std::ssize(bytes)};
  return {};
}

}  // namespace

std::string list_of(const std::vector<problem::TensorType>& types) {
  std::vector<std::string> words;
  for (const problem::TensorType& type : types) words.push_back(problem::to_string(type));
  return fmt::format("{}", fmt::join(words, ", "));
}

problem::TensorType filled_in(problem::TensorType wanted, const problem::TensorType& given) {
  if (wanted.shape.size() != given.shape.size()) return wanted;
  for (std::size_t d = 0; d < wanted.shape.size(); ++d)
    if (wanted.shape[d] == problem::kDynamic) wanted.shape[d] = given.shape[d];
  return wanted;
}

problem::GivenSizes sizes_given(problem::SizeSet sizes, const std::string& function,
                                const std::vector<GivenArgument>& given) {
  problem::GivenSizes all{std::move(sizes), function, {}};
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].type)
      all.shapes.push_back({static_cast<int>(i), given[i].type->shape, given[i].name});
  return all;
}

Result<GivenArgument> given_argument(const std::string& text) {
  const auto equals = text.find('=');
  const bool is_file = text.starts_with('@');
  const auto argument = problem::argument_type_from(std::string_view(text).substr(0, equals));
  const auto type = argument ? std::optional(argument->carrier) : std::nullopt;
  const bool has_values =
      !is_file && equals != std::string::npos && (type.has_value() || equals == 0);
  GivenArgument given{fmt::format("--input '{}'", text), {}, {}, {}};
  if (has_values) {
    HONE_ASSIGN(given.values, read_values(std::string_view(text).substr(equals + 1), given.name));
  }
  if (!is_file && type && (has_values || equals == std::string::npos)) {
    given.type = type;
    if (problem::is_dynamic(*type)) return input_error("{} leaves an extent open", given.name);
    HONE_TRY(check_count(given, *type));
    return given;
  }
  if (has_values) return given;
  const std::string path = text.substr(is_file ? 1 : 0);
  given.name = fmt::format("--input '{}'", path);
  HONE_ASSIGN(const std::string bytes, read_file(path));
  auto array = problem::from_npy(bytes);
  if (!array) return input_error("{}: {}", given.name, array.error().message);
  given.type = array->type;
  given.array = std::move(*array);
  return given;
}

Result<std::vector<problem::TensorType>> types_given(std::vector<problem::TensorType> wanted,
                                                     const std::vector<GivenArgument>& given,
                                                     const std::string& what) {
  if (given.size() > wanted.size())
    return input_error("{} are {} ({}), but {} {} given", what, wanted.size(), list_of(wanted),
                       given.size(), given.size() == 1 ? "is" : "are");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].type) continue;
    wanted[i] = filled_in(wanted[i], *given[i].type);
    // as_tensor checks the types, which works without data.
    const auto fits = given[i].array ? problem::as_tensor({*given[i].type, {}}, wanted[i])
                                     : Result<problem::Array>();
    if (!fits)
      return input_error("{} does not fit, number {} of {}: {}", given[i].name, i, what,
                         fits.error().message);
    if (!given[i].array && *given[i].type != wanted[i])
      return input_error("{} does not fit, number {} of {}: {} is wanted", given[i].name, i, what,
                         problem::to_string(wanted[i]));
  }
  return wanted;
}

Result<std::vector<problem::Array>> arguments_for(const std::vector<problem::TensorType>& wanted,
                                                  const std::vector<GivenArgument>& given,
                                                  const std::string& what, std::uint64_t seed,
                                                  const std::vector<problem::InputRange>& ranges) {
  HONE_ASSIGN(const std::vector<problem::TensorType> types, types_given(wanted, given, what));
  std::vector<problem::Array> arrays;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (problem::is_dynamic(types[i]))
      return input_error(
          "number {} of {} has a dynamic shape ({}), so hone cannot make it up: give its shape "
          "with "
          "--input",
          i, what, problem::to_string(types[i]));
    if (i >= given.size() || (!given[i].array && given[i].values.empty())) {
      const auto* const range = find_by(ranges, static_cast<int>(i), &problem::InputRange::input);
      arrays.push_back(
          made_up(types[i], range == nullptr ? nullptr : &*range, measure::binding_seed(seed, i)));
      continue;
    }
    auto array = given[i].array ? problem::as_tensor(*given[i].array, types[i])
                                : made_of(given[i], types[i]);
    if (!array) return tl::unexpected(std::move(array).error());
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

Result<BindingFiles> write_binding_files(const problem::Dispatch& dispatch,
                                         const std::filesystem::path& folder, std::uint64_t seed) {
  const measure::InputPlan plan = measure::plan_inputs(dispatch);
  std::vector<KernelBinding> bindings;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const problem::Binding& view = dispatch.bindings[i];
    const auto ordinal = view.ordinal < 0 ? i : static_cast<std::size_t>(view.ordinal);
    if (ordinal >= bindings.size()) bindings.resize(ordinal + 1);
    KernelBinding& binding = bindings[ordinal];
    problem::Array array = filled(view.type, plan.bindings[i], measure::binding_seed(seed, i));
    binding.is_read = binding.is_read || view.access != problem::Access::kWriteOnly;
    if (view.ordinal < 0)
      binding.array = std::move(array);
    else
      HONE_TRY(add_view(view, std::move(array), binding));
  }
  BindingFiles files;
  for (const KernelBinding& binding : bindings) {
    files.types.push_back(binding.array.type);
    files.contents.emplace_back();
    if (!binding.is_read) continue;
    files.contents.back() = folder / fmt::format("binding{}.npy", files.types.size() - 1);
    HONE_TRY(write_file_atomically(files.contents.back(), problem::to_npy(binding.array)));
  }
  return files;
}

Result<std::vector<std::filesystem::path>> write_argument_files(
    const problem::Function& function, const std::vector<GivenArgument>& given,
    const std::filesystem::path& folder, std::uint64_t seed) {
  HONE_ASSIGN(
      const std::vector<problem::Array> arrays,
      arguments_for(function.inputs, given, fmt::format("the inputs of '{}'", function.name), seed,
                    function.ranges));
  std::vector<std::filesystem::path> files;
  for (const problem::Array& array : arrays) {
    files.push_back(folder / fmt::format("argument{}.npy", files.size()));
    HONE_TRY(write_file_atomically(files.back(), problem::to_npy(array)));
  }
  return files;
}

}  // namespace hone::tune
