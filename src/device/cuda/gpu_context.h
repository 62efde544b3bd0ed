// A GPU in use by this process: driver and context.
#pragma once

#include <chrono>
#include <memory>

#include "device/cuda/driver.h"
#include "device/cuda/facts.h"

namespace hone::device::cuda {

// Runs all work in the order of the requests (on the default stream). Used by one thread, which
// opened it.
class GpuContext {
 public:
  static Result<std::shared_ptr<GpuContext>> open(std::shared_ptr<Driver> driver,
                                                  const Facts& facts);
  ~GpuContext();
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  Driver& driver() const { return *driver_; }
  const DriverApi& call() const { return driver_->call(); }
  const Facts& facts() const { return facts_; }
  // As Driver::check.
  Status check(Code code, std::string_view doing) const { return driver_->check(code, doing); }
  // Waits for all that was asked for; a failure when some of it went wrong.
  Status wait(std::string_view doing) { return check(call().context_synchronize(), doing); }

  // Adds up the seconds that kernels ran which were verified or measured (Device::busy_seconds).
  void add_busy(double seconds) { busy_seconds_ += seconds; }
  double busy_seconds() const { return busy_seconds_; }

 private:
  GpuContext() = default;
  std::shared_ptr<Driver> driver_;
  Facts facts_;
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

}  // namespace hone::device::cuda
