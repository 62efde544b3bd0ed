// Compares a spec's gain in the whole program with the sum of its kernels' gains alone, and locates
// the rest.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/program/program_proof.h"

namespace hone::tune {

// Gain of one kernel, in seconds of all its launches in a call of the program.
struct KernelGain {
  std::string dispatch;
  std::string provider = {};  // who made it: "iree", "triton@3.6.0"
  int launches = 1;
  double promised = 0;  // what its configuration saves by itself, as it was measured
  // In place: with the flags alone, and with the spec; none if the runtime does not report it.
  std::optional<double> before = {}, after = {};

  std::optional<double> arrived() const;
};

// Seconds of a call of the program.
struct ProgramGain {
  std::string variant, without_spec;  // labels of what was proved, and of the same without a spec
  bool has_flags = false;             // without a spec it is not the default
  double base = 0;                    // the default
  double before = 0, after = 0;       // its flags alone, and with the spec
  std::vector<KernelGain> kernels;    // with an entry; what promises most first
  // Kernels without an entry, in place: the spec's effect on its neighbours.
  std::optional<double> others_before = {}, others_after = {};

  double promised() const;  // by all kernels
  double arrived() const { return before - after; }
  // Parts of arrived() in kernels with an entry, and in those without; none if any of these is
  // unknown.
  std::optional<double> in_kernels() const;
  std::optional<double> in_others() const;
  // The rest: between launches, in copies and in the call itself.
  std::optional<double> between() const;
};

// Returns the gain of `build`, which `rounds` proved on the bench of prove_program(). `tuned`: the
// dispatches that it may have entries for, of a program split with its flags. Kernel times in place
// are medians of a few runs of both builds in turn. Errors: of the store, and of the runtime's
// tools.
Result<ProgramGain> gain_of(Context& context, ProgramBench& bench, const VerifiedBuild& build,
                            const ProvingRounds& rounds, const std::vector<TunedDispatch>& tuned);

// Returns what these dispatches save in a call of the program, in seconds, as each was measured
// alone. `shipped`: store ids. Errors: of the store.
Result<double> promised_seconds(Context& context, const std::vector<TunedDispatch>& tuned,
                                const std::vector<store::Id>& shipped);

// {"variant", "without_spec", "seconds_default", "seconds_before", "seconds_after", "promised",
// "arrived", "in_kernels", "in_others", "between", "kernels": [{"dispatch", "provider", "launches",
// "promised", "before", "after", "arrived"}]}; null for what is not known.
nlohmann::json json_of(const ProgramGain& gain);

}  // namespace hone::tune
