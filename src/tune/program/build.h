// A build: the whole program as it is compiled. It is a value, so that it is found again at another
// size, in another baseline and in the rounds of a proof.
#pragma once

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "measure/array_difference.h"
#include "provider/program_provider.h"

namespace hone::tune {

// Hash of a build without its label: equal for builds that are compiled from the same.
struct BuildId {
  std::string hash;
  auto operator<=>(const BuildId&) const = default;
};

struct Build {
  std::string label;  // for people: "data tiling + spec"; nothing is decided by it
  std::vector<std::string> flags = {};  // beyond the session's
  std::string spec = {};                // text; empty without one
  // Kernels that replace the compiler's own.
  std::vector<provider::ReplacedExecutable> replaced = {};

  BuildId id() const;
  // Whether it has tuned parts: configurations in a spec, replacing kernels, or both.
  bool uses_spec() const { return !spec.empty() || !replaced.empty(); }
};

// A build that was compiled and called.
struct CheckedBuild : Build {
  // The same build without its tuned parts; none if it uses no spec.
  std::optional<Build> without_spec = {};
  // Differences of each output from the expected one: the default's, or that of the build that
  // repairs it. The repairing build itself is compared with the default. Empty for the default, and
  // for builds that do not run.
  std::vector<measure::ArrayDifference> differences = {};
  // Largest error of the outputs, if this build repairs the default: root mean square, as a share
  // of the output. Measured by the independent compile of the program in f32
  // (Options::reference_flags); none if that did not compute it.
  std::optional<double> repaired_error = {};
  std::vector<double> seconds = {};  // per call, by round; builds of one bench share rounds
};

// Returns the default build: the program with nothing added.
Build default_build();

// Returns the build with this id; null if there is none.
template <class Builds>
auto* find_build(Builds& builds, const BuildId& id) {
  const auto found = std::ranges::find(builds, id, &Build::id);
  return found == builds.end() ? nullptr : &*found;
}

// Joins labels, which may be empty: "data tiling + spec".
std::string joined_label(const std::string& a, const std::string& b);

}  // namespace hone::tune
