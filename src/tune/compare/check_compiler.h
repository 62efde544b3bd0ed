// Tests whether a compiler is slower or wrong on dispatches that were tuned or profiled before. The
// code in a store is compared with code that the compiler makes now of the same dispatches, by the
// same configurations and flags.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "trial/compile_service.h"
#include "tune/compare/compare.h"

namespace hone::tune {

enum class CheckOutcome {
  kSameCode,   // byte for byte: nothing is measured
  kNotSlower,  // no slowdown beyond CompareOptions::statistics is shown
  kSlower,
  kWrong,         // computes something else than the reference
  kFails,         // does not compile, load or run
  kNotComparable  // what the store has of it cannot be run or verified here
};
std::string_view name_of(CheckOutcome outcome);  // "same code", "not slower", "slower", ...
// Whether the outcome speaks against the compiler.
bool is_alarm(CheckOutcome outcome);

struct CheckedCode {
  CheckOutcome outcome = CheckOutcome::kNotComparable;
  std::string configuration;
  ComparedPair pair;   // A: the code in the store. B: compiled now
  std::string reason;  // of an alarm other than slower, and of kNotComparable
};

struct CheckedCompiler {
  std::vector<CheckedCode> codes;      // by dispatch; first of the default, then of the winner
  std::vector<std::string> not_known;  // dispatches of the program that the store has no result of
};

struct CheckRequest {
  std::filesystem::path store;
  // The program as the compiler splits it now: only its dispatches are checked, and compiled from
  // this split. Null: all of the store, from the sources there.
  const problem::Program* program = nullptr;
  std::vector<std::string> dispatches;  // names or patterns; none: all
};

// Returns the formats of the code that the store has of these dispatches
// (provider::Artifact::format). Input errors: no dispatch is measured and matches, none has code.
Result<std::set<std::string>> stored_formats(const std::filesystem::path& store,
                                             const std::vector<std::string>& dispatches);

// Codes that differ share the false-positive rate (CompareOptions::statistics): alpha is for all of
// them together. The user's own flags (CompareOptions::own_flags) are added to those in the store.
// Where compiling disturbs measuring, all is compiled first. Input errors: no store, nothing in it
// that matches, a store without code.
Result<CheckedCompiler> check_compiler(const CompareContext& context,
                                       trial::CompileService& compiler,
                                       const CheckRequest& request);

}  // namespace hone::tune
