#include "measure/device_proof.h"

#include <algorithm>

#include "measure/workload.h"

namespace hone::measure {

Result<DeviceProof> DeviceProof::create(device::Device& device, const Buffers& buffers,
                                        const std::vector<Expected>& expected) {
  DeviceProof proof;
  if (!device.has_own_memory()) return proof;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [bytes, written] = expected[i];
    if (bytes.empty()) continue;
    if (std::ranges::count(written, false) > 0) return DeviceProof();
    const problem::TensorType type = type_of(buffers.bindings()[i], bytes.size());
    const std::int64_t needed = problem::element_count(type) * problem::byte_size(type.element);
    if (static_cast<std::int64_t>(bytes.size()) < needed) return DeviceProof();
    HONE_ASSIGN(auto memory, device::Memory::allocate(device, bytes.size()));
    HONE_TRY(device.upload(memory.data(), bytes));
    proof.outputs_.push_back({i, type, std::move(memory)});
  }
  proof.device_ = &device;
  return proof;
}

Result<bool> DeviceProof::is_right(const Buffers& buffers, int variant,
                                   const std::vector<Tolerance>& tolerances,
                                   std::vector<OutputCheck>& checks) const {
  if (device_ == nullptr) return false;
  HONE_ASSIGN(const auto intact, buffers.is_intact_on_device(0, variant));
  if (!intact || !*intact) return false;
  checks.clear();
  for (const Output& output : outputs_) {
    Comparison comparison;
    comparison.elements = problem::element_count(output.type);
    const Tolerance& tolerance = tolerances[output.binding];
    HONE_ASSIGN(const auto difference,
                device_->difference(buffers.copy(0)[output.binding].data, output.bytes.data(),
                                    output.type.element, comparison.elements, tolerance.absolute,
                                    tolerance.relative));
    if (!difference || !difference->right) return false;
    comparison.right = true;
    comparison.worst_error = difference->worst_error;
    comparison.worst_relative = difference->worst_relative;
    checks.push_back({static_cast<int>(output.binding), comparison});
  }
  return true;
}

}  // namespace hone::measure
