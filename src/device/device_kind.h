// Kinds of devices: each is registered by one line of session/registry.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/lock_file.h"
#include "device/place.h"

namespace hone::device {

struct DeviceKind {
  // Device::kind() of its devices, Address::kind of its places, and the word of --device.
  std::string name;

  // Whether its devices run code compiled for `target` (--target): "host", "znver4", "sm_90".
  std::function<bool(const std::string& target)> runs = {};

  // The places of this kind on this machine, by index; `cores` are those of their addresses (empty:
  // all that the process may use). It may open the kind's driver, and so is only called in a
  // process that is started for that. Environment errors where the driver is missing, too old or
  // finds no device.
  std::function<Result<std::vector<Place>>(const std::vector<int>& cores)> places = {};

  // The device, for a runner: in a process that forks no more, one thread. It may wait seconds for
  // another process to let go of it. Input errors for a device that is not there, environment
  // errors for one that is not to be had.
  std::function<Result<std::unique_ptr<Device>>(const Address& address)> open = {};

  // An exclusive hold among the hone processes of this machine, for a command, from before it
  // starts anything: who is refused must not disturb who measures. It opens no driver. An
  // environment error that names the process that holds it.
  std::function<Result<std::vector<LockFile>>(const Place& place)> lease = {};
};

}  // namespace hone::device
