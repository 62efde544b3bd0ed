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

  // The places of this kind on this machine, by index; `cores` are the cores of their addresses
  // (empty: all that the process may use). It may open the kind's driver, so it is called only in a
  // process started for that. Environment errors if the driver is missing, too old or finds no
  // device.
  std::function<Result<std::vector<Place>>(const std::vector<int>& cores)> places = {};

  // Opens the device for a runner: in a process that forks no more, one thread. It may wait seconds
  // for another process to release it. Input errors for a device that does not exist, environment
  // errors for one that is not available.
  std::function<Result<std::unique_ptr<Device>>(const Address& address)> open = {};

  // Leases the place exclusively among the hone processes of this machine, for a command, before it
  // starts anything: a refused command must not disturb a measuring one. It opens no driver. An
  // environment error that names the process that holds the lease.
  std::function<Result<std::vector<LockFile>>(const Place& place)> lease = {};
};

}  // namespace hone::device
