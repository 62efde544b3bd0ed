// A GPU in use by this process: driver and context.
#pragma once

#include <memory>

#include "device/cuda/driver.h"
#include "device/cuda/facts.h"

namespace hone::device::cuda {

// Everything runs in the order in which it was asked for (on the default stream). One thread, the
// one that opened it.
class Session {
 public:
  static Result<std::shared_ptr<Session>> open(std::shared_ptr<Driver> driver, const Facts& facts);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Driver& driver() const { return *driver_; }
  const DriverApi& call() const { return driver_->call(); }
  const Facts& facts() const { return facts_; }
  // Waits for all that was asked for; a failure when some of it went wrong.
  Status wait(std::string_view doing) {
    return driver_->check(call().context_synchronize(), doing);
  }

 private:
  Session() = default;
  std::shared_ptr<Driver> driver_;
  Facts facts_;
  DeviceHandle device_ = 0;
  bool retained_ = false;
};

}  // namespace hone::device::cuda
