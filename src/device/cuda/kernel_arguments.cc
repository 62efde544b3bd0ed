#include "device/cuda/kernel_arguments.h"

namespace hone::device::cuda {

using problem::LaunchArgument;
using problem::TensorMap;

Result<void**> KernelArguments::of(std::span<const Buffer> bindings) {
  values_.clear();
  pointers_.clear();
  if (launch_.arguments.empty()) {
    const std::size_t bound = launch_.bindings.empty() ? bindings.size() : launch_.bindings.size();
    for (std::size_t i = 0; i < bound; ++i)
      push(reinterpret_cast<Address>(bound_buffer(launch_.bindings, i, bindings).data));
    for (const std::uint32_t constant : launch_.constants) push(constant);
  }
  for (const LaunchArgument& argument : launch_.arguments) HONE_TRY(add(argument, bindings));
  for (int i = 0; i < launch_.hidden_pointers; ++i) push(0);
  return pointers_.data();
}

void KernelArguments::push(std::uint64_t value) {
  pointers_.push_back(&values_.emplace_back(value));
}

Status KernelArguments::add(const LaunchArgument& argument, std::span<const Buffer> bindings) {
  using Kind = LaunchArgument::Kind;
  const auto binding = static_cast<std::size_t>(argument.binding);
  if ((argument.kind == Kind::kBinding || argument.kind == Kind::kTensorMap) &&
      binding >= bindings.size())
    return failure("the kernel asks for binding {} of {}", argument.binding, bindings.size());
  switch (argument.kind) {
    case Kind::kBinding:
      push(reinterpret_cast<Address>(bindings[binding].data));
      break;
    case Kind::kScratch:
      push(scratch_ + static_cast<Address>(argument.value));
      break;
    case Kind::kInteger:
      push(static_cast<std::uint64_t>(argument.value));
      break;
    case Kind::kTensorMap: {
      const auto address = reinterpret_cast<Address>(bindings[binding].data);
      HONE_ASSIGN(const TensorMapBytes* const map, tensor_map(argument, address));
      pointers_.push_back(const_cast<TensorMapBytes*>(map));  // the driver only reads it
      for (const std::int64_t extent : argument.map.shape) push(static_cast<std::uint64_t>(extent));
      for (const std::int64_t stride : argument.map.strides)
        push(static_cast<std::uint64_t>(stride));
    }
  }
  return {};
}

Result<const TensorMapBytes*> KernelArguments::tensor_map(const LaunchArgument& argument,
                                                          Address address) {
  const EncodeTensorMap encode = gpu_.call().encode_tensor_map;
  if (encode == nullptr)
    return failure("the NVIDIA driver makes no tensor maps; that takes one of CUDA 12.0 or later");
  const auto [found, is_new] = maps_.try_emplace({&argument, address});
  if (!is_new) return &found->second;
  const TensorMap& map = argument.map;
  // The driver's order is the innermost dimension first, and it takes no stride for that one.
  std::vector<std::uint64_t> shape(map.shape.rbegin(), map.shape.rend()), strides;
  const std::vector<std::uint32_t> box(map.box.rbegin(), map.box.rend()), ones(shape.size(), 1);
  for (std::size_t i = map.strides.size(); i-- > 1;)
    strides.push_back(static_cast<std::uint64_t>(map.strides[i - 1] * map.element_bytes));
  // No interleaving, L2 promotion to 128 bytes, zeros outside: what Triton's own launcher asks for
  // (third_party/nvidia/backend/driver.c, fillTMADescriptor).
  constexpr int kNoInterleave = 0, kPromote128 = 2, kZeros = 0;
  const Code code =
      encode(&found->second, map.element_type, static_cast<std::uint32_t>(shape.size()), address,
             shape.data(), strides.data(), box.data(), ones.data(), kNoInterleave, map.swizzle,
             kPromote128, kZeros);
  const Status encoded = gpu_.check(code, "describing a matrix to the GPU");
  if (encoded) return &found->second;
  maps_.erase(found);
  return tl::unexpected(encoded.error());
}

}  // namespace hone::device::cuda
