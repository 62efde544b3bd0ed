#include "device/device.h"

#include <nlohmann/json.hpp>

#include "base/exact_json.h"

namespace hone::device {

Buffer bound_buffer(std::span<const problem::KernelBinding> bindings, std::size_t ordinal,
                    std::span<const Buffer> buffers) {
  if (bindings.empty()) return ordinal < buffers.size() ? buffers[ordinal] : Buffer();
  const problem::KernelBinding& binding = bindings[ordinal];
  if (binding.buffer < 0 || static_cast<std::size_t>(binding.buffer) >= buffers.size()) return {};
  // Numbers, as such an address need not lie in the buffer's memory.
  const auto begin =
      reinterpret_cast<std::uintptr_t>(buffers[static_cast<std::size_t>(binding.buffer)].data) -
      static_cast<std::uintptr_t>(binding.offset);
  return {reinterpret_cast<void*>(begin), static_cast<std::size_t>(binding.bytes)};
}

void to_json(nlohmann::json& json, const Peak& peak) {
  json = {{"gflops", peak.gflops},
          {"matrix_gflops", peak.matrix_gflops},
          {"stated_matrix_gflops", peak.stated_matrix_gflops},
          {"gbytes_per_second", peak.gbytes_per_second},
          {"instructions", peak.instructions},
          {"threads", peak.threads}};
}

void from_json(const nlohmann::json& json, Peak& peak) {
  json.at("gflops").get_to(peak.gflops);
  peak.matrix_gflops = json.value("matrix_gflops", 0.0);
  peak.stated_matrix_gflops = json.value("stated_matrix_gflops", 0.0);
  json.at("gbytes_per_second").get_to(peak.gbytes_per_second);
  json.at("instructions").get_to(peak.instructions);
  exact_to(json.at("threads"), peak.threads);
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
