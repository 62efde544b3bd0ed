// Entries of a program's tuning spec: made from the winners of the dispatches, and vetted on the
// whole program.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "provider/program_provider.h"
#include "tune/dispatch/dispatch_tuner.h"
#include "tune/services/context.h"

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

// Whether the compiler refuses a request; an error if hone could not ask it.
template <class Answer>
Result<bool> is_refused(const Result<Answer>& answer) {
  if (answer) return false;
  if (answer.error().kind != ErrorKind::kInput && answer.error().kind != ErrorKind::kFailure)
    return tl::unexpected(answer.error());
  return true;
}

struct VettingRequest {
  std::string path;                // of the program
  const std::string& bytes;        // its file's
  std::vector<std::string> flags;  // of the compiler, without the spec's
  std::filesystem::path folder;    // for specs
  // The program whose dispatches the entries were tuned for: loaded with these flags, or without
  // Options::sums, which only change the code of a dispatch. Null: vet_spec() loads it.
  const problem::Program* program = nullptr;
  std::optional<problem::GivenSizes> given = {};  // to load it with
};

struct VettedSpec {
  std::vector<VerifiedEntry> entries;  // in the order given; `only` is for these flags
  std::string spec;                    // text; empty when no entry is left
  std::vector<LeftOut> left_out;
  // Module compiled with exactly these flags and this spec; empty without an entry.
  std::string module;
};

// Vets a spec on the whole program by asking the compiler, before anything runs. Finds entries that
// break the compile, that stray to a dispatch they were not verified for, or that are not applied.
// Restricts or drops them until the rest compiles and does what was verified.
//
// A matcher of a spec sees one operation and not what is fused around it. Two
// operations of one dispatch may each have an entry. So each dispatch of the program under these
// flags is checked as the spec configures it. It must have the compiler's own choice, or what was
// verified for the same work; anything else is a stray entry. Bisection finds it: the first that
// makes the ones before it, the larger gains, go wrong. It is restricted by name to the dispatches
// that it was verified for, and dropped if that does not help. Errors: hone cannot ask the
// compiler; failure if the compiler refuses the program with the flags alone.
Result<VettedSpec> vet_spec(Context& context, const VettingRequest& request,
                            std::vector<VerifiedEntry> entries);

}  // namespace hone::tune
