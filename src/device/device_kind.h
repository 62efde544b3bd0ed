// Kinds of devices, each registered by one line of session/registry.cc, and the locks by which hone
// processes lease devices.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "device/device.h"
#include "device/place.h"

namespace hone::device {

// $XDG_RUNTIME_DIR/hone, or /tmp/hone-<uid>.
std::filesystem::path lock_folder();
// Makes the folder; an environment error if something else has its name.
Status make_lock_folder(const std::filesystem::path& folder);

// A lock that keeps hone processes of one user apart, with one file per locked resource: a core, a
// GPU. flock() holds it, so it ends with the object or with the process, however that dies.
class LockFile {
 public:
  // Takes the lock of `name` ("core-3") in an existing folder, waiting until `deadline` while
  // another process has it. After that, an environment error names the holder: "core 3 is leased by
  // process 17, which measures on it; wait for it, or give this run other cores". There, `thing` is
  // "core 3" and `others` "other cores".
  static Result<LockFile> acquire(const std::filesystem::path& folder, std::string_view name,
                                  const std::string& thing, std::string_view others,
                                  std::chrono::steady_clock::time_point deadline);

 private:
  explicit LockFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

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
