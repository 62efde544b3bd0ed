#include "tune/services/input_files.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/file.h"
#include "measure/inputs.h"
#include "problem/npy.h"

namespace hone::tune {
namespace {

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
