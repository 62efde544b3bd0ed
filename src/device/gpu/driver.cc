#include "device/gpu/driver.h"

#include <algorithm>
#include <array>

namespace hone::device::gpu {

Status Driver::start(std::string_view name, std::string_view no_device,
                     std::initializer_list<DriverCode> no_device_codes) {
  const DriverCode code = api_.init(0);
  if (std::ranges::count(no_device_codes, code) > 0) return environment_error("{}", no_device);
  Status status = check(code, fmt::format("starting {}", name));
  if (status) status = check(api_.driver_version(&version_), "asking it");
  if (!status) return environment_error("{}", status.error().message);
  return {};
}

Status Driver::check(DriverCode code, std::string_view doing) {
  if (code == 0) return {};
  lost_ = lost_ || ends_context(code);
  return failure("{}: {}", doing, words_(code));
}

bool ends_context(DriverCode code) {
  // ECC; illegal address, launch timeout; destroyed context, assertion; hardware stack, illegal
  // instruction, misaligned address, address space, program counter, launch failed; unknown.
  static constexpr std::array kSticky{214, 220, 700, 702, 709, 710, 714,
                                      715, 716, 717, 718, 719, 999};
  return std::ranges::count(kSticky, code) > 0;
}

std::string text_of(const Uuid& uuid) {
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace hone::device::gpu
