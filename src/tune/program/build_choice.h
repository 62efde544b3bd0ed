// Which way to build a whole program is recommended, and what is claimed for it. One set of rounds
// chooses; what it has chosen is timed anew, and these rounds alone say whether it is faster, since
// the best of several looks better than it is in the rounds that made it the best.
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

// The error rate of a recommendation: when no way to build the program is faster than the default,
// at most this share of runs recommends one, however many there are and at however many sizes they
// are compared.
inline constexpr double kRecommendedInError = 0.05;

// One that runs and gives the default's outputs.
struct VerifiedBuild : CheckedBuild {
  std::vector<store::Id> shipped = {};  // dispatches that the spec's entries were verified for
  std::vector<LeftOut> left_out = {};   // what has no entry only because of these flags
  // Dispatches whose compiler's own kernel is wrong, and for which it has a right one.
  std::vector<std::string> repairs = {};
};

// `at_sizes`: the builds of the program at each of several sizes, or at the one it has, the
// default first. The one whose ratio to the default is the smallest (geometric mean over the
// sizes), among those that are there at every size with the same spec and are estimated slower by
// kLeastMargin at none. It may be the default. Nothing where there is none. Where some repair what
// the default computes wrong, the one of these with the smallest ratio, whatever that is.
Result<std::optional<VerifiedBuild>> most_promising(
    const std::vector<std::vector<VerifiedBuild>>& at_sizes);

// Rounds at one size that chose nothing: seconds per call, by round.
struct ProvingRounds {
  std::vector<double> base;   // of the default
  std::vector<double> flags;  // of the chosen one's flags alone; empty: it has no spec, or no flags
  std::vector<double> chosen;  // of the chosen one
};

// One way compared with another at every size.
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

// The chosen one where it is faster than the default, and its spec is faster than its flags alone;
// the flags where their gain is certain and the spec's is not; the chosen one again where only the
// gain of both together is certain; else the default. The second question is asked only once the
// first is answered, so kRecommendedInError holds for both together; it is shared out over the
// sizes. `repairs`: what the chosen one repairs (VerifiedBuild); where that is anything it is
// recommended however fast it is. Input errors of compare_paired.
Result<ProgramVerdict> verdict_of(std::span<const ProvingRounds> at_sizes,
                                  const std::vector<std::string>& repairs = {});

// {"variant", "recommended", "recommended_in_error", "against_default", "spec_against_flags",
// "flags_against_default"}; each of the last three null where it was not compared, else {"verdict",
// "margin", "at_sizes": [{"speedup", "speedup_low", "speedup_high", "rounds"}]}.
nlohmann::json json_of(const ProgramVerdict& verdict, const VerifiedBuild& chosen);

// Whether to keep each entry, or group of entries. `with_it`: the program with the whole spec
// beside the one whose spec lacks it; `whole`: beside the program without a spec. Where the spec
// helps, all are kept but those that reliably hurt: each was faster alone, and the noise of a
// program hides small parts of a gain. So where it seems to help, by 2 % or more, and these rounds
// cannot tell: the proof's rounds will. Where it does not, those that reliably help.
std::vector<bool> kept_entries(std::span<const measure::Verdict> with_it,
                               const measure::PairedComparison& whole);

// The places of `count` entries, in order, in at most `most` groups of nearly equal size.
std::vector<std::vector<std::size_t>> groups_of(std::size_t count, std::size_t most);

}  // namespace hone::tune
