// Recommends a build of a whole program, and states its gain. One set of rounds chooses a build,
// and fresh rounds alone say whether it is faster. In the rounds that chose it, the best of several
// looks better than it is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/comparison.h"
#include "tune/program/build.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {

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
