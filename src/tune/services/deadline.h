// Time limits of a session. A session of `--budget B` ends within 1.25 B + 60 s, plus one compile
// and one call of the unmodified program (docs/measuring.md).
#pragma once

#include <optional>

#include "base/stopwatch.h"

namespace hone::tune {

// Not thread-safe. All times are in seconds.
class Deadline {
 public:
  // Starts the clock. `budget`: the user's.
  explicit Deadline(double budget, Clock clock = monotonic_seconds)
      : budget_(budget), watch_(std::move(clock)) {}

  // Record work that extends the budget; only the first call of each counts.
  // loaded(): the program is split.
  // compiled(): the unmodified program is compiled, beside the splitting and `seconds` longer.
  // called(): it was called in a process of its own.
  void loaded();
  void compiled(double seconds);
  void called(double seconds);
  // Records the time of a call by a process that has already loaded the program. Until then every
  // call is assumed to take as long as the first, which may have read gigabytes of weights.
  void called_again(double seconds);
  // Records the compile time of the program with a spec, from a cached frontend IR. The longest
  // counts: a spec's tiles may make the code many times as large.
  void compiled_with_spec(double seconds);

  // Keeps this share (0 to 1) of the budget: a shard's, since others have the rest.
  void take_share(double share) { budget_ *= share; }

  // Says whether the proof's compile runs in the background: then no time is kept for it.
  void compiles_proof(bool runs) { proof_compiles_ = runs; }

  // Reserves time for `bases` further flag sets: `search_seconds` for all their searches together,
  // and for each one compile without and one with its spec.
  void keep_for_bases(std::size_t bases, double search_seconds) {
    later_bases_ = bases;
    later_search_ = search_seconds;
  }

  // Seconds until the budget is used up; negative after that.
  double left() const;
  // Seconds until the session must have ended.
  double to_end() const;
  // Whether work of `seconds` may begin and still leaves time for the reserved flag sets and the
  // proof.
  bool has(double seconds) const { return to_end() - later() - proof() >= seconds; }

  // Limits of one compile and one call: many times the unmodified program's, and at most the rest
  // of the session. A compile leaves time for the proof, unless it takes at most twice the
  // default's or a spec's time. nullopt until the default's time is known.
  std::optional<double> most_compile() const;
  std::optional<double> most_call() const;
  // Compile and call time of the unmodified program; 0 while unknown. next_compile() and
  // next_with_spec() estimate later compiles: the first one ran beside the splitting of the
  // program.
  double compile() const { return compile_.value_or(load_.value_or(0)); }
  double next_compile() const;
  double next_with_spec() const;
  double call() const { return call_.value_or(0); }
  bool knows_call_again() const { return call_again_.has_value(); }
  // Estimated time of `count` calls, of which `first` are the first of their process.
  double calls(double count, double first) const;
  // Estimated time to screen one more build: its compile, its outputs on two input sets, and one
  // round beside the default.
  double trial() const;
  double trial_with_spec() const;

  // Time for searching configurations of dispatches. A compile and the proof still follow.
  double for_search() const;
  // Time for rounds of the whole program: screening rounds, then proof rounds.
  double for_choosing() const;
  double for_proving() const;
  // Least time of a proof, and whether that much is left.
  double proof() const;
  bool can_prove() const { return to_end() > proof(); }
  // Budget that is enough to try and prove flags and dispatches of this program.
  double sufficient() const;

 private:
  // Compile time of the final build, in one go as its user compiles it.
  double compile_of_proof() const;
  double later() const;

  double budget_;
  Stopwatch watch_;
  std::optional<double> load_, compile_, call_, call_again_;
  double with_spec_ = 0;  // until one is known
  bool proof_compiles_ = false;
  std::size_t later_bases_ = 0;
  double later_search_ = 0;
};

}  // namespace hone::tune
