// Audits a tuning spec: says of each entry whether it still helps. What the compiler makes of the
// entries is known (tune/program/spec_check.h); each applied one is timed against today's default.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/comparison.h"
#include "measure/race.h"
#include "tune/compare/compare.h"
#include "tune/program/spec_check.h"

namespace hone::tune {

enum class EntryState {
  kHelps,        // faster than the default, or correct where the default is wrong
  kUndecided,    // neither faster, nor slower, nor known to be as fast
  kNotMeasured,  // it takes effect, and nothing is known of its speed
  kAsFast,       // as fast as the default, within the band of ties
  kSlower,
  kSameAsDefault,  // what the compiler chooses without it, or the same code
  kWrong,          // its code does not run, or computes something else
  kIllegal,        // the compiler refuses the dispatch with it
  kIgnored,
  kShadowed,  // an entry before it matches first, wherever it matches
  kDead,      // it matches nothing
};
std::string_view name_of(EntryState state);  // "still helps", "dead", ...

// Whether an entry in this state is worth keeping: it helps, or nothing says that it does not.
bool is_kept(EntryState state);

struct AuditedEntry {
  EntryState state = EntryState::kNotMeasured;
  std::string note;  // why
  // Time with the entry against the default's: of one call, summed over the dispatches that the
  // entry applies to, each weighted by its launches. None if nothing was timed.
  std::optional<measure::PairedComparison> timed;
  std::vector<ComparedPair> dispatches;  // that were timed
};

// Judges the entries by the compiler's IR alone; applied ones are not measured.
std::vector<AuditedEntry> entry_states(const CheckedSpec& checked);

struct SpecAuditRequest {
  const CheckedSpec& checked;
  const SpecCheckRequest& spec;  // that it was checked with; its flags are the default's
  bool times_same_code = false;  // to see the false-positive rate
};

// Times each entry of `entries` (entry_states) that takes effect, and updates it. Dispatches are
// compiled as the compiler does it with the whole spec, launched alone, and interleaved with the
// default. All entries share CompareOptions::statistics.alpha. An entry stays kNotMeasured, with a
// note, if one of its dispatches cannot be compared. Errors: interruption, environment.
Status time_entries(const CompareContext& context, trial::CompileService& compiler,
                    const SpecAuditRequest& request, std::vector<AuditedEntry>& entries);

// Shadowed uses of kept entries that come into effect once the entries which are not kept are gone:
// "@b applies to dispatch_1, where @a comes first today".
std::vector<std::string> revived_uses(const CheckedSpec& checked,
                                      const std::vector<AuditedEntry>& entries);

}  // namespace hone::tune
