// A whole program as it is compiled: a value, by which it is known again at another size, in
// another base and in the rounds of a proof.
#pragma once

#include <algorithm>
#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "measure/array_difference.h"
#include "provider/program_provider.h"

namespace hone::tune {

// Equal for builds that are compiled from the same: a hash of all but the label.
struct BuildId {
  std::string hash;
  auto operator<=>(const BuildId&) const = default;
};

struct Build {
  std::string label;  // for people: "data tiling + spec"; nothing is decided by it
  std::vector<std::string> flags = {};  // beyond the session's
  std::string spec = {};                // text; empty without one
  // Kernels in the place of the compiler's own.
  std::vector<provider::ReplacedExecutable> replaced = {};

  BuildId id() const;
  // Whether it has what was tuned: configurations in a spec, kernels, or both.
  bool uses_spec() const { return !spec.empty() || !replaced.empty(); }
};

// A build that was compiled and called.
struct CheckedBuild : Build {
  // Of one that uses a spec: the same without what was tuned.
  std::optional<Build> without_spec = {};
  // How each output differs from what is right: the default's, or those of the one that repairs it
  // (of that itself: from the default's). Empty for the default itself, and for what does not run.
  std::vector<measure::ArrayDifference> differences = {};
  // Of one that repairs the default: the largest error of its outputs, in root mean square as a
  // share of the output, by the independent compile of the program in f32
  // (Options::reference_flags). None where that did not compute it.
  std::optional<double> repaired_error = {};
  std::vector<double> seconds = {};  // per call, by round; builds of one bench share rounds
};

// The program as it is.
Build default_build();

// That build among others; null where it is not there.
template <class Builds>
auto* find_build(Builds& builds, const BuildId& id) {
  const auto found = std::ranges::find(builds, id, &Build::id);
  return found == builds.end() ? nullptr : &*found;
}

// "data tiling + spec", of labels that may be empty.
std::string joined_label(const std::string& a, const std::string& b);

}  // namespace hone::tune
