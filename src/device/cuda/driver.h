// NVIDIA's driver, opened at run time.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/cuda/driver_api.h"

namespace hone::device::cuda {

// Not before the last fork of the process that opens it: a driver does not survive one.
class Driver {
 public:
  // Opens `library` and initialises the driver. Environment errors that say what is missing: the
  // library, one of its functions, a driver of CUDA 11.0 or later (the first for sm_80), a GPU it
  // can use. The library is never closed.
  static Result<std::shared_ptr<Driver>> open(const std::string& library = "libcuda.so.1");

  const DriverApi& call() const { return api_; }
  int version() const { return version_; }  // 13000: CUDA 13.0, the newest it can run

  // A failure in the driver's words: "launching the kernel: an illegal memory access was
  // encountered (CUDA_ERROR_ILLEGAL_ADDRESS)". After an error that ends the context every later
  // call fails too, and is_lost() says so. Not thread-safe.
  Status check(Code code, std::string_view doing);
  // The context is dead: only another process can use the GPU again.
  bool is_lost() const { return lost_; }

 private:
  Driver() = default;
  DriverApi api_;
  int version_ = 0;
  bool lost_ = false;
};

// Whether this error leaves the context unusable (cuda.h: "the process must be terminated and
// relaunched").
bool ends_context(Code code);

}  // namespace hone::device::cuda
