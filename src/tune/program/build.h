// A whole program as it is compiled: a value, by which it is known again at another size, in another
// base and in the rounds of a proof.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "provider/program_provider.h"

namespace hone::tune {

// Equal for builds that are compiled from the same: a hash of all but the label.
struct BuildId {
  std::string hash;
  auto operator<=>(const BuildId&) const = default;
};

struct Build {
  std::string label;                    // for people: "data tiling + spec"; nothing is decided by it
  std::vector<std::string> flags = {};  // beyond the session's
  std::string spec = {};                // text; empty without one
  // Kernels in the place of the compiler's own.
  std::vector<provider::ReplacedExecutable> replaced = {};

  BuildId id() const;
  // Whether it has what was tuned: configurations in a spec, kernels, or both.
  bool uses_spec() const { return !spec.empty() || !replaced.empty(); }
};

// The program as it is.
Build default_build();

// "data tiling + spec", of labels that may be empty.
std::string joined_label(const std::string& a, const std::string& b);

}  // namespace hone::tune
