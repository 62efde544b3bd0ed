// Where candidates run: the cores and devices of this machine, and those that a command names. The
// machine states them in a process of its own, since a tuner opens no driver.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/lock_file.h"
#include "device/place.h"
#include "session/toolchain.h"

namespace hone::session {

// Those of this kind, by `hone worker devices` (docs/worker-protocol.md). Errors: those of
// DeviceKind::places; an environment error where that process ends without an answer.
Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores = {});

// What that process prints. An input error for a kind that is not registered.
Result<std::string> places_answer(const std::string& kind, const std::vector<int>& cores);

// The places that `device` ("cpu", "cuda:1", "cuda:0,2" or "cuda:0,cuda:2", bare numbers for the
// target's kind, or nothing: the first of the target's kind) names, with these cores. Several are
// of one kind (device::Facts::identity), since they share results. Where the target is left at
// "host" it becomes the GPUs'. Input errors: no such device, one named twice, devices of several
// kinds, of another kind than the target, an AMD GPU. Environment errors where the driver is
// missing or too old.
Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const std::vector<int>& cores);

// The one of choose_places, for a command that takes no more; an input error where several are
// named.
Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const std::vector<int>& cores);

// What --device names where nothing else is said and a GPU is as good as the cores: the first GPU
// that hone can measure on, else the cores.
std::string gpu_or_cores();
// Returns the device that runs code of these formats (provider::Artifact::format): the first GPU
// when one of them is a GPU's, else empty.
std::string device_for_code(const std::set<std::string>& formats);

// Holds them for the command, from before it starts anything: who is refused must not disturb who
// measures.
Result<std::vector<device::LockFile>> lease(std::span<const device::Place> places);

struct CoreOptions {
  std::vector<int> cores;  // which; empty: the first `threads`
  int threads = 0;         // 0: all
};

// One thread runs on each. An input error for cores this process may not use.
Result<std::vector<int>> choose_cores(const CoreOptions& options);

}  // namespace hone::session
