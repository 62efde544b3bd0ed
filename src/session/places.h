// Places where candidates run: this machine's cores and devices, and those that a command names. A
// separate process lists them, because a tuner opens no driver.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/place.h"
#include "session/toolchain.h"
#include "worker/remote_worker.h"

namespace hone::session {

// Lists the places of this kind with `hone worker devices` (docs/worker-protocol.md), on this
// machine or on `host` (device::Address::host), where hone is copied to first. Errors: those of
// DeviceKind::places and of install_at(); an environment error if that process ends without an
// answer.
Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores = {},
                                               const std::string& host = {});

// Returns the text that `hone worker devices` prints. An input error for a kind that is not
// registered.
Result<std::string> places_answer(const std::string& kind, const std::vector<int>& cores);

struct CoreOptions {
  std::vector<int> cores;  // which; empty: the first `threads`
  int threads = 0;         // 0: all
};

// Returns the places that `device` names, with these cores of their machines. `device` is "cpu",
// "cpu:0-7" (cores), "cuda:1", "cuda:0,2" or "cuda:0,cuda:2"; bare numbers mean the target's kind,
// empty means its first device. "ssh://[user@]name[:port]/" in front of one means another machine.
// Several devices must be of one kind (device::Facts::identity), since they share results. A target
// of "host" is set to the GPUs' target, or to one for the CPU of another machine. Input errors: no
// such device, a device named twice, devices of several kinds or of another kind than the target, a
// GPU whose target hone does not know or that a variable overrides (device::Facts::overrides), cores
// that may not be used. Environment errors: the driver is missing or too old, a machine cannot be
// reached.
Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const CoreOptions& cores);

// Returns the place of a device that this machine need not have, for shards that only compile: the
// traits and the rough throughput of the target's kind. `cores` say how many the other machine
// uses. An input error for an AMD GPU.
Result<device::Place> absent_place(const std::string& target, const CoreOptions& cores);

// Returns the only place of choose_places, for a command that takes one, on this machine. An input
// error if several are named, or one of another machine.
Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const CoreOptions& cores);

// An input error if whole programs do not run on the place (device::Facts::no_programs).
Status check_runs_programs(const device::Place& place);

// Returns the default of --device for commands that a GPU and the cores serve equally well: the
// first GPU that hone can measure on, else the cores.
std::string gpu_or_cores();
// Returns the device that runs code of these formats (provider::Artifact::format): the first GPU
// when one of them is a GPU's, else empty.
std::string device_for_code(const std::set<std::string>& formats);

// Leases of places, until it is destroyed.
struct Leases {
  std::vector<device::LockFile> locks;  // on this machine
  // By device::Address::host: a connection that holds the leases there.
  std::map<std::string, std::shared_ptr<worker::RemoteWorker>> machines;
};

// Leases the places for the command, before it starts anything: a command that is refused must not
// disturb one that measures. `environment`: "NAME=VALUE", set on other machines too.
Result<Leases> lease(std::span<const device::Place> places,
                     const std::vector<std::string>& environment = {});
// Leases places of this machine.
Result<std::vector<device::LockFile>> lease_here(std::span<const device::Place> places);

// Returns the cores to use, one thread on each. An input error for cores that this process may not
// use.
Result<std::vector<int>> choose_cores(const CoreOptions& options);

}  // namespace hone::session
