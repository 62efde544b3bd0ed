#include "measure/calibration.h"

#include <nlohmann/json.hpp>

#include "measure/sample_loop.h"

namespace hone::measure {
namespace {

constexpr int kA = 1;
constexpr int kB = 2;

Protocol protocol_for(std::size_t rounds) {
  Protocol protocol;
  protocol.max_warm_up_seconds = 0.1;
  protocol.min_samples = rounds;
  protocol.max_samples = rounds;
  protocol.max_seconds = 20;  // only reached where nearly every sample is disturbed
  protocol.early_stop_factor = 0;
  return protocol;
}

}  // namespace

Result<Calibration> calibrate(device::Device& device, std::size_t rounds) {
  const std::unique_ptr<device::Kernel> kernel = device.calibration_kernel();
  if (kernel == nullptr) return failure("the device has no calibration kernel");
  HONE_ASSIGN(Buffers buffers, Buffers::create({}, {}, 1));
  Workload workload{.buffers = std::move(buffers)};
  MeasureRequest request;
  request.handles = {kA, kB};
  request.protocol = protocol_for(rounds);
  device.detailed_machine_state();  // shares are of the time from here on
  HONE_ASSIGN(MeasureResult result,
              sample_interleaved(
                  device, {{kA, kernel.get(), &workload}, {kB, kernel.get(), &workload}}, request));
  Calibration calibration;
  calibration.before = std::move(result.before);
  calibration.after = std::move(result.after);
  // The loop has looked at the state already: of a second look only the processes are of use.
  calibration.after.processes = device.detailed_machine_state().processes;
  calibration.a_seconds = std::move(result.handles[0].seconds);
  calibration.b_seconds = std::move(result.handles[1].seconds);
  calibration.disturbed = result.handles[0].disturbed + result.handles[1].disturbed;
  return calibration;
}

}  // namespace hone::measure
