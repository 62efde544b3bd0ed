// What a user's budget promises: a session of `--budget B` ends within 1.25 B + 60 s, and the time
// of one compile and one call of the program as it is (docs/measuring.md).
#pragma once

#include <optional>

#include "base/stopwatch.h"

namespace hone::tune {

// For one thread. Times in seconds.
class Deadline {
 public:
  // Counts from here. `budget`: what the user gave.
  explicit Deadline(double budget, Clock clock = monotonic_seconds)
      : budget_(budget), watch_(std::move(clock)) {}

  // What comes on top of the budget: the program is split; then the program as it is has been
  // compiled, beside that and `seconds` longer; it has been called, in a process of its own. The
  // first time of each counts.
  void loaded();
  void compiled(double seconds);
  void called(double seconds);
  // A call by a process that has loaded the program took so long. Until that is known, a call is
  // taken to be as long as the first, which may have read gigabytes of weights.
  void called_again(double seconds);
  // A compile of the program with a spec took so long, from a front half that was known. The
  // longest counts: tiles of a spec may make the code many times as large.
  void compiled_with_spec(double seconds);

  // After what is at hand so many bases are searched for so many seconds together, and each is
  // compiled without and with its spec.
  void keep_for_bases(std::size_t bases, double search_seconds) {
    later_bases_ = bases;
    later_search_ = search_seconds;
  }

  // Until the budget is used up; negative after that.
  double left() const;
  // Until everything must have ended.
  double to_end() const;
  // Whether something that takes so many seconds may begin, and time is left behind it for what
  // comes later and for the proof.
  bool has(double seconds) const { return to_end() - later() - proof() >= seconds; }

  // The most that a job of the compiler and a call of the program may take: many times what the
  // program as it is took, and no longer than the session; a compile leaves time for the proof, but
  // for one that is like the default's. Nothing while that is not known.
  std::optional<double> most_compile() const;
  std::optional<double> most_call() const;
  // One compile and one call of the program as it is, as far as they are known, and what further
  // compiles take: the first one had the splitting of the program beside it.
  double compile() const { return compile_.value_or(load_.value_or(0)); }
  double next_compile() const;
  double next_with_spec() const;
  double call() const { return call_.value_or(0); }
  bool knows_call_again() const { return call_again_.has_value(); }
  // What so many calls take, of which so many are the first of their process.
  double calls(double count, double first) const;
  // What one more build of the program takes until it is known how fast it is: its compile, its
  // outputs on two sets of inputs, and a round beside the default.
  double trial() const;
  double trial_with_spec() const;

  // What the search for dispatches' configurations may take: a compile and the proof come after it.
  double for_search() const;
  // What rounds of the whole program may take that choose, and those that prove after them.
  double for_choosing() const;
  double for_proving() const;
  // What a proof takes at least, and whether it can begin.
  double proof() const;
  bool can_prove() const { return to_end() > proof(); }
  // A budget in which flags and dispatches of this program can be tried and proved.
  double sufficient() const;

 private:
  // The compile of what ships, at once as its user will.
  double compile_of_proof() const;
  double later() const;

  double budget_;
  Stopwatch watch_;
  std::optional<double> load_, compile_, call_, call_again_;
  double with_spec_ = 0;  // until one is known
  std::size_t later_bases_ = 0;
  double later_search_ = 0;
};

}  // namespace hone::tune
