#include "device/cuda/driver.h"

#include "device/library.h"

namespace hone::device::cuda {
namespace {

using gpu::DriverApi;
using gpu::DriverCode;

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

Result<Driver::ErrorWords> error_words(const SharedLibrary& library) {
  using Words = DriverCode (*)(DriverCode code, const char** words);
  Words error_name = nullptr, error_string = nullptr;
  HONE_TRY(find_driver_call(library, "cuGetErrorName", error_name));
  HONE_TRY(find_driver_call(library, "cuGetErrorString", error_string));
  return [error_name, error_string](DriverCode code) {
    const char *name = nullptr, *text = nullptr;
    if (error_name(code, &name) != 0 || name == nullptr) name = "an unknown error";
    if (error_string(code, &text) != 0 || text == nullptr) text = "no words";
    return fmt::format("{} ({})", text, name);
  };
}

}  // namespace

Result<std::shared_ptr<Driver>> open_driver(const std::string& library) {
  const auto opened = SharedLibrary::open({library});
  if (!opened)
    return environment_error(
        "the NVIDIA driver is not available ({}): install it, or choose "
        "another device",
        opened.error().message);
  DriverApi api;
  api.module_load_logs = true;
#define HONE_CUDA_FIND(member, symbol) HONE_TRY(find_driver_call(*opened, symbol, api.member));
  HONE_CUDA_CALLS(HONE_CUDA_FIND)
#undef HONE_CUDA_FIND
  opened->find("cuTensorMapEncodeTiled", api.encode_tensor_map);
  HONE_ASSIGN(Driver::ErrorWords words, error_words(*opened));
  auto driver = std::make_shared<Driver>(api, std::move(words), library);
  HONE_TRY(driver->start("the NVIDIA driver", "the NVIDIA driver finds no GPU on this machine",
                         {kNoDevice}));
  if (driver->version() < kOldestDriver)
    return environment_error(
        "the NVIDIA driver is too old: it runs CUDA {}.{}, hone needs one of CUDA {}.{} or later",
        driver->version() / 1000, driver->version() % 1000 / 10, kOldestDriver / 1000,
        kOldestDriver % 1000 / 10);
  return driver;
}

}  // namespace hone::device::cuda
