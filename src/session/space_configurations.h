// Configurations for hone generate, drawn from hone's own spaces, or on a GPU from the compiler's.
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

// Draws configurations of operations and compiles each. Drops the ones that the compiler refuses,
// or does not keep from the operation's own attribute (read back from the configured IR).
class SpaceConfigurations {
 public:
  // `target`: "host" or a GPU; `iree` as ToolchainOptions. Errors of Toolchain::start.
  static Result<SpaceConfigurations> start(const std::string& target, const std::string& iree);

  // Draws at most `count` configurations of the operation's space at random, by `seed`. There are
  // fewer if the space is smaller, or if too few of four times as many draws compile and stay; none
  // if there is no space. Each of these cases prints a line to stderr. A configuration's name is
  // tile_config_space_HASH, the hash of its content. Errors: those of CompileService for a program.
  Result<std::vector<profiler::Configuration>> configurations_of(
      const profiler::Operation& operation, std::size_t count, std::uint64_t seed);

 private:
  SpaceConfigurations(ToolchainOptions options, Toolchain toolchain,
                      std::unique_ptr<iree::IreeProvider> provider)
      : options_(std::move(options)),
        toolchain_(std::move(toolchain)),
        provider_(std::move(provider)) {}
  // Returns the configurations of `drawn` that the operation's source keeps after compilation.
  Result<std::vector<profiler::Configuration>> kept(const profiler::Operation& operation,
                                                    std::vector<profiler::Configuration> drawn);
  Result<std::vector<profiler::Configuration>> drawn(const problem::Dispatch& dispatch,
                                                     const space::Space& space, std::size_t count,
                                                     std::uint64_t seed);

  ToolchainOptions options_;
  Toolchain toolchain_;
  std::unique_ptr<iree::IreeProvider> provider_;
};

}  // namespace hone::session
