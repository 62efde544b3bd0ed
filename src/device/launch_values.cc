#include "device/launch_values.h"

namespace hone::device {

using problem::LaunchArgument;

Result<std::span<void*>> LaunchValues::of(std::span<const Buffer> bindings) {
  values_.clear();
  pointers_.clear();
  if (launch_.arguments.empty()) {
    const std::size_t bound = launch_.bindings.empty() ? bindings.size() : launch_.bindings.size();
    for (std::size_t i = 0; i < bound; ++i)
      push(reinterpret_cast<std::uintptr_t>(bound_buffer(launch_.bindings, i, bindings).data));
    for (const std::uint32_t constant : launch_.constants) push(constant);
  }
  for (const LaunchArgument& argument : launch_.arguments) HONE_TRY(add(argument, bindings));
  for (int i = 0; i < launch_.hidden_pointers; ++i) push(0);
  return std::span(pointers_);
}

void LaunchValues::push(std::uint64_t value) {
  pointers_.push_back(&values_.emplace_back(value));
}

Status LaunchValues::add(const LaunchArgument& argument, std::span<const Buffer> bindings) {
  using Kind = LaunchArgument::Kind;
  const auto binding = static_cast<std::size_t>(argument.binding);
  if ((argument.kind == Kind::kBinding || argument.kind == Kind::kTensorMap) &&
      binding >= bindings.size())
    return failure("the kernel asks for binding {} of {}", argument.binding, bindings.size());
  switch (argument.kind) {
    case Kind::kBinding:
      push(reinterpret_cast<std::uintptr_t>(bindings[binding].data));
      break;
    case Kind::kScratch:
      push(scratch_ + static_cast<std::uint64_t>(argument.value));
      break;
    case Kind::kInteger:
      push(static_cast<std::uint64_t>(argument.value));
      break;
    case Kind::kTensorMap: {
      if (!tensor_maps_) return failure("the device takes no tensor maps");
      const auto address = reinterpret_cast<std::uintptr_t>(bindings[binding].data);
      HONE_ASSIGN(const void* const map, tensor_maps_(argument, address));
      pointers_.push_back(const_cast<void*>(map));
      for (const std::int64_t extent : argument.map.shape) push(static_cast<std::uint64_t>(extent));
      for (const std::int64_t stride : argument.map.strides)
        push(static_cast<std::uint64_t>(stride));
    }
  }
  return {};
}

}  // namespace hone::device
