// Vets a spec on the whole program by asking the compiler, before anything runs. Finds entries that
// break the compile, that stray to a dispatch they were not verified for, or that are not applied.
// Restricts or drops them until the rest compiles and does what was verified.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tune/program/spec_entries.h"
#include "tune/services/context.h"

namespace hone::tune {

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
  // The program as loaded with these flags; null: vet_spec() loads it.
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

// Vets the entries. A matcher of a spec sees one operation and not what is fused around it. Two
// operations of one dispatch may each have an entry. So each dispatch of the program under these
// flags is checked as the spec configures it. It must have the compiler's own choice, or what was
// verified for the same work; anything else is a stray entry. Bisection finds it: the first that
// makes the ones before it, the larger gains, go wrong. It is restricted by name to the dispatches
// that it was verified for, and dropped if that does not help. Errors: hone cannot ask the
// compiler; failure if the compiler refuses the program with the flags alone.
Result<VettedSpec> vet_spec(Context& context, const VettingRequest& request,
                            std::vector<VerifiedEntry> entries);

}  // namespace hone::tune
