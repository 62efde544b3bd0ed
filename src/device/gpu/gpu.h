// A GPU: facts that its vendor's driver states, and one in use by this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/gpu/driver.h"

namespace hone::device::gpu {

// Facts of a GPU of any vendor.
struct GpuFacts {
  std::string kind;  // Device::kind()
  int index = 0;     // the driver's, as in "cuda:0"
  std::string name;  // "NVIDIA H200"
  // Identifies this very GPU, or part of one, whoever numbers it: "GPU-1b4d...". Leases go by it.
  std::string id;
  std::string pci;   // "0000:1b:00.0"
  std::string arch;  // "sm_90", "gfx942"
  int units = 0;     // multiprocessors, compute units
  std::int64_t last_level_cache_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t shared_bytes = 0;  // dynamic shared memory one block may have, opted in
  int megahertz = 0;              // highest clock of the units
  int driver_version = 0;         // 13000; in the vendor's way of counting

  bool operator==(const GpuFacts&) const = default;
};

// Facts that all drivers state by the same calls: name, PCI address, UUID (as id), memory.
Result<GpuFacts> shared_facts(Driver& driver, std::string_view kind, int index);

// An input error that lists what there is: "device cuda:7 is not there: this machine has cuda:0
// (NVIDIA H200)".
Result<GpuFacts> find_device(const std::vector<GpuFacts>& devices, std::string_view kind,
                             int index);

// A GPU in use by this process: driver and context. Runs all work in the order of the requests (on
// the default stream). Used by one thread, which opened it.
class GpuContext {
 public:
  static Result<std::shared_ptr<GpuContext>> open(std::shared_ptr<Driver> driver,
                                                  const GpuFacts& facts);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  Driver& driver() const { return *driver_; }
  const DriverApi& call() const { return driver_->call(); }
  const GpuFacts& facts() const { return facts_; }
  DeviceHandle handle() const { return device_; }
  // As Driver::check.
  Status check(DriverCode code, std::string_view doing) const {
    return driver_->check(code, doing);
  }
  // Waits for all that was asked for; a failure when some of it went wrong.
  Status wait(std::string_view doing) { return check(call().context_synchronize(), doing); }

  // Adds up the seconds that kernels ran which were verified or measured (Device::busy_seconds).
  void add_busy(double seconds) { busy_seconds_ += seconds; }
  double busy_seconds() const { return busy_seconds_; }

 private:
  GpuContext() = default;
  std::shared_ptr<Driver> driver_;
  GpuFacts facts_;
  DeviceHandle device_ = 0;
  double busy_seconds_ = 0;
  bool retained_ = false;
};

// Counts the time of its life as busy: work that the host waits for.
class BusyWait {
 public:
  explicit BusyWait(GpuContext& gpu) : gpu_(gpu) {}
  ~BusyWait() {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    gpu_.add_busy(passed.count());
  }
  BusyWait(const BusyWait&) = delete;
  BusyWait& operator=(const BusyWait&) = delete;

 private:
  GpuContext& gpu_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// A pair of events around work on the GPU.
class GpuStopwatch {
 public:
  static Result<GpuStopwatch> create(std::shared_ptr<GpuContext> gpu);
  ~GpuStopwatch();
  GpuStopwatch(GpuStopwatch&& other) noexcept;
  GpuStopwatch& operator=(GpuStopwatch&&) = delete;

  Status start();
  // Waits for the work enqueued since start(); returns its seconds (resolution about 0.5
  // microseconds on NVIDIA).
  Result<double> stop();

 private:
  explicit GpuStopwatch(std::shared_ptr<GpuContext> gpu) : gpu_(std::move(gpu)) {}
  std::shared_ptr<GpuContext> gpu_;
  EventHandle start_ = nullptr;
  EventHandle end_ = nullptr;
};

}  // namespace hone::device::gpu
