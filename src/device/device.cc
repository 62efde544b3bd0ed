#include "device/device.h"

#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace hone::device {

Buffer bound_buffer(std::span<const problem::KernelBinding> bindings, std::size_t ordinal,
                    std::span<const Buffer> buffers) {
  if (bindings.empty()) return ordinal < buffers.size() ? buffers[ordinal] : Buffer();
  const problem::KernelBinding& binding = bindings[ordinal];
  if (binding.buffer < 0 || static_cast<std::size_t>(binding.buffer) >= buffers.size()) return {};
  // Computes with integers, since such an address need not lie in the buffer's memory.
  const auto begin =
      reinterpret_cast<std::uintptr_t>(buffers[static_cast<std::size_t>(binding.buffer)].data) -
      static_cast<std::uintptr_t>(binding.offset);
  return {reinterpret_cast<void*>(begin), static_cast<std::size_t>(binding.bytes)};
}

constexpr auto kPeakFields = [](auto& peak, auto&& field) {
  field("gflops", peak.gflops);
  field.or_default("matrix_gflops", peak.matrix_gflops);
  field.or_default("stated_matrix_gflops", peak.stated_matrix_gflops);
  field("gbytes_per_second", peak.gbytes_per_second);
  field("instructions", peak.instructions);
  field("threads", peak.threads);
};

void to_json(nlohmann::json& json, const Peak& peak) {
  write_fields(json, peak, kPeakFields);
}

void from_json(const nlohmann::json& json, Peak& peak) {
  read_fields(json, peak, kPeakFields);
}

namespace {

tl::unexpected<Error> no_memory(std::string_view kind) {
  return failure("a device of kind {} has no memory apart from the host's", kind);
}

}  // namespace

Result<void*> Device::allocate(std::size_t) {
  return no_memory(kind());
}
void Device::release(void*) {}
Status Device::upload(void*, std::span<const std::byte>) {
  return no_memory(kind());
}
Status Device::download(std::span<std::byte>, const void*) {
  return no_memory(kind());
}
Status Device::copy(void*, const void*, std::size_t) {
  return no_memory(kind());
}
Result<std::optional<Difference>> Device::difference(const void*, const void*, problem::ElementType,
                                                     std::int64_t, double, double) {
  return std::nullopt;
}

}  // namespace hone::device
