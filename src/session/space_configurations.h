// Configurations for hone generate out of hone's own spaces, or on a GPU those that the compiler
// states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"
#include "profiler/tile_configuration.h"
#include "session/toolchain.h"

namespace hone::session {

// Draws configurations of operations, and has each compiled: those that the compiler refuses, and
// those that it does not keep from the operation's own attribute (read back from the configured
// IR), are not among them.
class SpaceConfigurations {
 public:
  // `target`: "host" or a GPU; `iree` as ToolchainOptions. Errors of Toolchain::start.
  static Result<SpaceConfigurations> start(const std::string& target, const std::string& iree);

  // At most `count` of the operation's space at random, by `seed`: fewer where the space is
  // smaller, where only few of four times as many compile and stay, and none where there is no
  // space, with a line on standard error each. They are called tile_config_space_HASH by what they
  // say. Errors are those of CompileService for a program.
  Result<std::vector<profiler::Configuration>> configurations_of(
      const profiler::Operation& operation, std::size_t count, std::uint64_t seed);

 private:
  SpaceConfigurations(ToolchainOptions options, Toolchain toolchain, iree::IreeProvider provider)
      : options_(std::move(options)),
        toolchain_(std::move(toolchain)),
        provider_(std::move(provider)) {}
  // Those of `drawn` that the operation's source keeps.
  Result<std::vector<profiler::Configuration>> kept(const profiler::Operation& operation,
                                                    std::vector<profiler::Configuration> drawn);
  Result<std::vector<profiler::Configuration>> drawn(const problem::Dispatch& dispatch,
                                                     const space::Space& space, std::size_t count,
                                                     std::uint64_t seed);

  ToolchainOptions options_;
  Toolchain toolchain_;
  iree::IreeProvider provider_;
};

}  // namespace hone::session
