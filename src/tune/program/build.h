// A build: the whole program as it is compiled. It is a value, so that it is found again at another
// size, in another baseline and in the rounds of a proof. Builds are compared, and one is
// recommended: one set of rounds chooses it, and fresh rounds alone say whether it is faster. In
// the rounds that chose it, the best of several looks better than it is.
#pragma once

#include <algorithm>
#include <compare>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/array_difference.h"
#include "measure/comparison.h"
#include "provider/program_provider.h"
#include "tune/program/spec_entries.h"

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

// A build that runs and gives the default's outputs.
struct VerifiedBuild : CheckedBuild {
  std::vector<store::Id> shipped = {};  // dispatches that the spec's entries were verified for
  std::vector<LeftOut> left_out = {};   // what has no entry only because of these flags
  // Dispatches whose default kernel is wrong, and for which this build has a correct one.
  std::vector<std::string> repairs = {};
};

// Returns the build with the smallest ratio to the default (geometric mean over the sizes).
// `at_sizes`: the builds at each size, the default first. A build counts if every size has it with
// the same spec, and if no size estimates it slower by plan::kLeastMargin. The result may be the
// default; none if there are no builds, or a size lacks the default. If some builds repair a wrong
// default, returns the one of these with the smallest ratio, whatever it is.
Result<std::optional<VerifiedBuild>> most_promising(
    const std::vector<std::vector<VerifiedBuild>>& at_sizes);

// Fresh rounds at one size, which chose nothing: seconds per call, by round.
struct ProvingRounds {
  std::vector<double> base;   // of the default
  std::vector<double> flags;  // of the chosen one's flags alone; empty: it has no spec, or no flags
  std::vector<double> chosen;  // of the chosen one
};

// A comparison of two builds at every size.
struct Claim {
  std::vector<measure::PairedComparison> at_sizes;
  measure::Verdict verdict = measure::Verdict::kNoDifferent;  // combined_verdict
  double margin = 0;  // slower_margin(at_sizes): what "slower at no size" means
};

enum class Recommended { kDefault, kFlags, kChosen };

struct ProgramVerdict {
  Recommended recommended = Recommended::kDefault;
  Claim chosen;                // against the default
  std::optional<Claim> spec;   // the chosen one against its flags alone: what the spec gains
  std::optional<Claim> flags;  // its flags alone against the default
};

// Recommends the chosen build if it is faster than the default, and its spec faster than its flags
// alone. Recommends the flags if their gain is certain and the spec's is not. Recommends the chosen
// build too if only the gain of both together is certain; else the default. The second question is
// asked only once the first is answered, so plan::kRecommendedInError holds for both together; it
// is divided among the sizes. `repairs`: what the chosen build repairs (VerifiedBuild); if not
// empty, the build is recommended however fast it is. Input errors: those of compare_paired.
Result<ProgramVerdict> verdict_of(std::span<const ProvingRounds> at_sizes,
                                  const std::vector<std::string>& repairs = {});

// {"variant", "recommended", "recommended_in_error", "against_default", "spec_against_flags",
// "flags_against_default"}; each of the last three null where it was not compared, else {"verdict",
// "margin", "at_sizes": [{"speedup", "speedup_low", "speedup_high", "rounds"}]}.
nlohmann::json json_of(const ProgramVerdict& verdict, const VerifiedBuild& chosen);

// Returns whether to keep each entry, or group of entries. `with_it`: the program with the whole
// spec against the spec without that entry. `whole`: the same against the program without a spec.
// If the spec helps, all entries stay but those that reliably hurt: each was faster alone, and
// noise hides small parts of a gain. The same holds if the spec seems to help by 2 % or more and
// these rounds cannot tell: the proof's rounds will. If the spec does not help, only entries that
// reliably help stay.
std::vector<bool> kept_entries(std::span<const measure::Verdict> with_it,
                               const measure::PairedComparison& whole);

// Splits the places of `count` entries, in order, into at most `most` groups of nearly equal size.
std::vector<std::vector<std::size_t>> groups_of(std::size_t count, std::size_t most);

}  // namespace hone::tune
