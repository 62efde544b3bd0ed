// Messages between a tuner and hone on another machine (docs/worker-protocol.md, "Another
// machine").
#pragma once

#include <string_view>

#include "worker/message.h"

namespace hone::worker::remote {

// To the machine, each with a `number`: a wrapped job for its runner, with `seconds`, `generation`
// (of the runner that the tuner means), `blobs`, and `check` where the runner is to be seen to
// answer first; or one that hone answers there itself.
inline constexpr std::string_view kCall = "call", kJob = "job";
// Asks for a runner; nothing is wrapped.
inline constexpr std::string_view kStart = "start";
// From the machine, with the `number`, the runner's `generation` and whether it `lives`: an answer,
// how the job failed, and an error that is not the job's.
inline constexpr std::string_view kDone = "done", kFailed = "failed", kError = "error";

// A part of a file: `name`, `at` (bytes before it), `last`; one blob.
inline constexpr std::string_view kFile = "file";

// Smaller blobs are sent each time.
inline constexpr std::size_t kLeastKeptBytes = 1024;

}  // namespace hone::worker::remote
