// The places of the machine on which candidates run, as that machine states them: a process of its
// own is asked, since a tuner opens no driver.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "device/place.h"

namespace hone::cli {

// Those of this kind, by `hone worker devices` (docs/worker-protocol.md). Errors: those of
// DeviceKind::places; an environment error where that process ends without an answer.
Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores = {});

// What that process does: prints its answer. An input error for a kind that is not registered.
CommandResult print_places(const std::string& kind, const std::vector<int>& cores);

}  // namespace hone::cli
