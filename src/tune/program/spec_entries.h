// Entries that a program's tuning spec could have: the winners of the dispatches.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "provider/program_provider.h"
#include "tune/dispatch/dispatch_tuner.h"

namespace hone::tune {

struct LeftOut {
  std::string dispatch;
  std::string reason;
};

// An entry, and the dispatches that it was verified and measured for.
struct VerifiedEntry {
  const TunedDispatch* tuned = nullptr;  // whose configuration it holds
  // Dispatches with the same winner that no matcher tells from `tuned`, itself included.
  std::vector<const TunedDispatch*> verified;
  // Names of the dispatches that the entry is restricted to, since it would reach others; empty:
  // unrestricted.
  std::vector<std::string> only = {};

  const std::string& name() const { return tuned->dispatch->name; }
  // Whether the program is wrong without it.
  bool repairs() const {
    return std::ranges::any_of(verified, [](const TunedDispatch* each) { return each->repairs(); });
  }
};

// Whether another provider's kernel replaces the compiler's own; else a spec configures that.
inline bool replaces(const VerifiedEntry& entry) {
  return entry.tuned->replaces();
}

// Whether one spec entry is for both: no matcher tells their roots apart. The operations around a
// root must be the same too if the provider configures them. Launch sets of a kernel share its name
// and its code.
bool one_entry_for(const provider::SpecWriter& specs, const problem::Dispatch& a,
                   const problem::Dispatch& b);

// Returns one entry for each class of dispatches that one matcher accepts. Repairs come first, then
// the largest gain (operations of a call times the share of the time that is saved). `left_out`
// names winners that no spec can express, and dispatches with another winner than the entry that
// matches them.
std::vector<VerifiedEntry> spec_entries(const provider::ProgramProvider& provider,
                                        const std::vector<TunedDispatch>& tuned,
                                        std::vector<LeftOut>& left_out);

// Returns the spec with these entries, in their order; empty without one. Errors: those of
// SpecWriter::text_of.
Result<std::string> spec_text(const provider::SpecWriter& specs,
                              const std::vector<VerifiedEntry>& entries);

// Returns the files by which the compiler takes the replacing kernels among these entries. Errors:
// those of SpecWriter::replaced.
Result<std::vector<provider::ReplacedExecutable>> replaced_executables(
    const provider::ProgramProvider& provider, const std::vector<VerifiedEntry>& entries);

// Whether the verification of one dispatch holds for the other. Either their functions are the same
// text but for names. Or their roots are of one class for the provider, with the same operations
// around them and the same bindings. (With other flags IREE writes a product as linalg.generic that
// is linalg.matmul without them.)
bool same_work(const provider::SpecWriter& specs, const problem::Dispatch& a,
               const problem::Dispatch& b);

}  // namespace hone::tune
