// The Device seam: where kernels are loaded, launched and timed. One Device is one set of compute
// resources that hone holds alone while it measures: some cores of a CPU, one GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/machine_state.h"

namespace hone::device {

// Memory that is bound to a kernel; the device does not own it.
struct Buffer {
  void* data = nullptr;
  std::size_t bytes = 0;
};

// How code is launched; the plain facts of provider::Launch, which lies above this folder.
struct LaunchParameters {
  std::string entry;                            // exported name; empty: the ordinal alone decides
  int ordinal = 0;                              // of the export in its library
  std::array<std::uint32_t, 3> grid{1, 1, 1};   // workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1};  // threads of a workgroup
  std::uint32_t shared_bytes = 0;               // dynamic shared memory; local memory on a CPU
  std::vector<std::uint32_t> constants = {};    // 32-bit words
};

// Code that is ready to run. Lives no longer than its device.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Runs every workgroup once over `bindings` (in ordinal order) and waits for the end. A failure
  // when the kernel itself reports an error. One launch at a time on one device.
  virtual Status launch(std::span<const Buffer> bindings) = 0;
  // Whether it runs on the device's own threads; a library's kernel may bring its own.
  virtual bool uses_device_threads() const { return true; }
};

// How long a batch of launches took.
struct BatchTime {
  double seconds = 0;             // wall time of the whole batch
  double cpu_seconds = 0;         // least processor time any thread of the device got meanwhile
  long involuntary_switches = 0;  // times the operating system took the core from the main thread
  // The device was not hone's alone meanwhile (preemption); such a time is not to be trusted.
  bool disturbed = false;
};

// The most the device was seen to do.
struct Peak {
  double gflops = 0;             // f32 multiply-add throughput of all its cores together, GFLOP/s
  double gbytes_per_second = 0;  // memory bandwidth, triad, all cores together; 0: unknown
  std::string instructions;      // what reached it: "avx512f"
  int threads = 1;
};

void to_json(nlohmann::json& json, const Peak& peak);
void from_json(const nlohmann::json& json, Peak& peak);

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view kind() const = 0;  // "cpu"
  virtual int threads() const = 0;            // that share a launch

  // Loads `code` of `format` ("embedded-elf-x86_64"). A failure that says what is wrong with it,
  // when it does not load, has another interface version, or lacks the export asked for.
  virtual Result<std::unique_ptr<Kernel>> load(std::string_view format, std::string_view code,
                                               const LaunchParameters& parameters) = 0;

  // Launches `kernel` `launches` times back to back; launch i uses
  // rotation[(first + i) % rotation.size()].
  virtual Result<BatchTime> time(Kernel& kernel, std::span<const std::vector<Buffer>> rotation,
                                 std::size_t first, std::size_t launches) = 0;

  // Places what the device itself gives a kernel (the threads' stacks on a CPU) elsewhere, at
  // random by `seed`: a kernel's time depends on where its arrays lie to one another.
  virtual void vary_placement(std::uint64_t seed) { static_cast<void>(seed); }

  // Measures the peak (below 0.3 s).
  virtual Peak measure_peak() = 0;
  virtual MachineState machine_state() = 0;
  // The same, and which processes use the device's resources; takes milliseconds.
  virtual MachineState detailed_machine_state() = 0;
  // A kernel without bindings that does the same work at every launch (about 0.1 ms), as kernels
  // do it: arithmetic and caches on every thread. How much its times differ is the machine's noise.
  virtual std::unique_ptr<Kernel> calibration_kernel() = 0;
};

}  // namespace hone::device
