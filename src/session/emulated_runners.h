// Runners that emulate the GPU that --compile-only compiles for (--verify-emulated).
#pragma once

#include <deque>
#include <optional>

#include "base/result.h"
#include "session/session_options.h"
#include "session/toolchain.h"
#include "store/store.h"
#include "tune/dispatch/emulated_check.h"

namespace hone::session {

// Refuses --verify-emulated where it does not apply. Input errors: without --compile-only, of a
// shard, for a target that the emulator does not know. An environment error with the command that
// installs the disassembler, if that is missing.
Status check_verify_emulated(const SessionOptions& options);

class EmulatedRunners {
 public:
  // Returns nullopt unless --verify-emulated asks for them. One runner for each compile process,
  // each on a core of its own; none starts before its first candidate. Puts the emulated device
  // into the store. Errors: those of choose_cores() and of the store.
  static Result<std::optional<EmulatedRunners>> open(const SessionOptions& options,
                                                     const Toolchain& toolchain,
                                                     store::Store& store);

  const tune::Emulator& emulator() const { return emulator_; }

 private:
  EmulatedRunners() = default;

  std::deque<trial::RunnerService> runners_;
  tune::Emulator emulator_;
};

}  // namespace hone::session
