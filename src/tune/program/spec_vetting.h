// What a spec does to the whole program, as the compiler says before anything runs: entries that
// break the compile, that stray to a dispatch they were not verified for, or that are not applied,
// are found, and mended or left out, until what is left compiles and does what was verified.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tune/program/spec_entries.h"
#include "tune/services/context.h"

namespace hone::tune {

// Whether the compiler refuses what it was asked; an error where hone could not ask it.
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
  // As loaded with these flags; none: it is loaded.
  const problem::Program* program = nullptr;
  std::optional<problem::GivenSizes> given = {};  // to load it with
};

struct VettedSpec {
  std::vector<VerifiedEntry> entries;  // in the order given; `only` is for these flags
  std::string spec;                    // text; empty when no entry is left
  std::vector<LeftOut> left_out;
  // Compiled with exactly these flags and this spec; without an entry nothing was compiled.
  std::string module;
};

// A matcher of a spec sees one operation and not what is fused around it, and of two operations of
// one dispatch each may have an entry. So each dispatch of the program, as these flags make it, is
// looked at as the spec configures it: with the compiler's own choice, or with what was verified
// for the same work; anything else is an entry astray. Which one it is, is found by halving: the
// first with which those before it, the larger gains, go wrong. It is kept to the dispatches that
// it was verified for, by their names, and where that does not help, left out. Errors: what keeps
// hone from asking the compiler, and a failure where it refuses the program with the flags alone.
Result<VettedSpec> vet_spec(Context& context, const VettingRequest& request,
                            std::vector<VerifiedEntry> entries);

}  // namespace hone::tune
