#include "tune/input_files.h"

#include <string>

#include "base/file.h"
#include "measure/inputs.h"
#include "problem/npy.h"

namespace hone::tune {
namespace {

// Weights and activations of a model are below one; sums over thousands of them stay moderate.
constexpr measure::InputValues kRealArgument{measure::InputValues::Kind::kReals, 1, 0, 1, 1};
constexpr measure::InputValues kIntegerArgument{measure::InputValues::Kind::kIntegers, 3, 0, 1, 1};

Result<std::filesystem::path> write_array(const problem::TensorType& type,
                                          const measure::InputValues& values, std::uint64_t seed,
                                          const std::filesystem::path& path) {
  problem::Array array{type, {}};
  array.bytes.resize(
      static_cast<std::size_t>(problem::element_count(type) * problem::byte_size(type.element)));
  measure::fill_input(std::as_writable_bytes(std::span(array.bytes)), type.element, values, seed);
  HONE_TRY(write_file_atomically(path, problem::to_npy(array)));
  return path;
}

}  // namespace

Result<std::vector<std::filesystem::path>> write_binding_files(const problem::Dispatch& dispatch,
                                                               const std::filesystem::path& folder,
                                                               std::uint64_t seed) {
  const measure::InputPlan plan = measure::plan_inputs(dispatch);
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    files.emplace_back();
    if (dispatch.bindings[i].access == problem::Access::kWriteOnly) continue;
    HONE_ASSIGN(files.back(), write_array(dispatch.bindings[i].type, plan.bindings[i],
                                          measure::binding_seed(seed, i),
                                          folder / fmt::format("binding{}.npy", i)));
  }
  return files;
}

Result<std::vector<std::filesystem::path>> write_argument_files(const problem::Function& function,
                                                                const std::filesystem::path& folder,
                                                                std::uint64_t seed) {
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < function.inputs.size(); ++i) {
    const problem::TensorType& type = function.inputs[i];
    if (problem::is_dynamic(type))
      return input_error("argument {} of '{}' has a dynamic shape ({}), so hone cannot call it", i,
                         function.name, problem::to_string(type));
    HONE_ASSIGN(
        std::filesystem::path file,
        write_array(type, problem::is_float(type.element) ? kRealArgument : kIntegerArgument,
                    measure::binding_seed(seed, i), folder / fmt::format("argument{}.npy", i)));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace hone::tune
