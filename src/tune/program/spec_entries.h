// The entries that a tuning spec of a program could have: what the dispatches won.
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

// An entry, and all that it was verified and measured for.
struct VerifiedEntry {
  const TunedDispatch* tuned = nullptr;  // whose configuration it holds
  // Dispatches with this very winner that no matcher tells from `tuned`, itself included.
  std::vector<const TunedDispatch*> verified;
  // Dispatches, by name, that it is kept to, since without that it reaches others; empty: it is
  // not.
  std::vector<std::string> only = {};

  const std::string& name() const { return tuned->dispatch->name; }
  // Whether the program is wrong without it.
  bool repairs() const {
    return std::ranges::any_of(verified, [](const TunedDispatch* each) { return each->repairs(); });
  }
};

// Whether the compiler's own kernel is used, configured by a spec, or another provider's.
inline bool replaces(const VerifiedEntry& entry) {
  return entry.tuned->replaces();
}

// Whether one entry of a spec is for both: no matcher tells their roots apart. What is around a
// root is configured too, where the provider says so: that must be the same. Launch sets of a
// kernel have its name, and its code.
bool one_entry_for(const provider::ProgramProvider& provider, const problem::Dispatch& a,
                   const problem::Dispatch& b);

// One entry for each class of dispatches that one matcher lets through: those that repair first,
// then that with the largest gain (operations of a call times the share of the time that is saved).
// What no spec can say, and a dispatch with another winner than an entry that matches it, are named
// in `left_out`.
std::vector<VerifiedEntry> spec_entries(const provider::ProgramProvider& provider,
                                        const std::vector<TunedDispatch>& tuned,
                                        std::vector<LeftOut>& left_out);

// The spec with these entries, in their order; empty without one. Errors of ProgramProvider::spec.
Result<std::string> spec_text(const provider::ProgramProvider& provider,
                              const std::vector<VerifiedEntry>& entries);

// The files with which the compiler takes the kernels of those entries that replace its own.
// Errors: ProgramProvider::replaced's.
Result<std::vector<provider::ReplacedExecutable>> replaced_executables(
    const provider::ProgramProvider& provider, const std::vector<VerifiedEntry>& entries);

// Whether what was verified of one dispatch holds for the other: their functions are the same text
// but for names, or their roots are of one class for the provider and have the same operations
// around them and the same bindings. (With other flags IREE writes a product as linalg.generic that
// is linalg.matmul without them.)
bool same_work(const provider::ProgramProvider& provider, const problem::Dispatch& a,
               const problem::Dispatch& b);

}  // namespace hone::tune
