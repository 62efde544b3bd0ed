#include "device/cuda/driver.h"

#include <algorithm>
#include <array>

#include "device/library.h"

namespace hone::device::cuda {
namespace {

constexpr int kOldestDriver = 11000;
constexpr DriverCode kNoDevice = 100;

template <class Signature>
Status find_driver_call(const SharedLibrary& library, const char* symbol, Signature& function) {
  if (library.find(symbol, function)) return {};
  return advised(environment_error("{} has no function {}: the NVIDIA driver is too old",
                                   library.name(), symbol),
                 fmt::format("hone needs one of CUDA {}.{} or later", kOldestDriver / 1000,
                             kOldestDriver % 1000 / 10));
}

Status find_driver_calls(const SharedLibrary& library, DriverApi& api) {
#define HONE_CUDA_FIND(member, symbol, parameters) \
  HONE_TRY(find_driver_call(library, symbol, api.member));
  HONE_CUDA_CALLS(HONE_CUDA_FIND)
#undef HONE_CUDA_FIND
  library.find("cuTensorMapEncodeTiled", api.encode_tensor_map);
  return {};
}

}  // namespace

Result<std::shared_ptr<Driver>> Driver::open(const std::string& library) {
  const auto opened = SharedLibrary::open({library});
  if (!opened)
    return environment_error(
        "the NVIDIA driver is not available ({}): install it, or choose "
        "another device",
        opened.error().message);
  const std::shared_ptr<Driver> driver(new Driver);
  HONE_TRY(find_driver_calls(*opened, driver->api_));
  const DriverApi& call = driver->api_;
  if (const DriverCode code = call.init(0); code == kNoDevice)
    return environment_error("the NVIDIA driver finds no GPU on this machine");
  else if (const Status status = driver->check(code, "starting the NVIDIA driver"); !status)
    return environment_error("{}", status.error().message);
  if (const Status status = driver->check(call.driver_version(&driver->version_), "asking it");
      !status)
    return environment_error("{}", status.error().message);
  if (driver->version_ < kOldestDriver)
    return environment_error(
        "the NVIDIA driver is too old: it runs CUDA {}.{}, hone needs one of CUDA {}.{} or later",
        driver->version_ / 1000, driver->version_ % 1000 / 10, kOldestDriver / 1000,
        kOldestDriver % 1000 / 10);
  return driver;
}

Status Driver::check(DriverCode code, std::string_view doing) {
  if (code == 0) return {};
  lost_ = lost_ || ends_context(code);
  const char *name = nullptr, *text = nullptr;
  if (api_.error_name(code, &name) != 0 || name == nullptr) name = "an unknown error";
  if (api_.error_string(code, &text) != 0 || text == nullptr) text = "no words";
  return failure("{}: {} ({})", doing, text, name);
}

bool ends_context(DriverCode code) {
  // ECC; illegal address, launch timeout; destroyed context, assertion; hardware stack, illegal
  // instruction, misaligned address, address space, program counter, launch failed; unknown.
  static constexpr std::array kSticky{214, 220, 700, 702, 709, 710, 714,
                                      715, 716, 717, 718, 719, 999};
  return std::ranges::count(kSticky, code) > 0;
}

}  // namespace hone::device::cuda
