// Accounts for a session's time: what its device did or waited for, and what compiling cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "trial/compile_service.h"
#include "trial/timeline.h"

namespace hone::trial {

inline constexpr std::string_view kSessionTime = "session", kCompilingTime = "compiling";

struct TimeRow {
  std::string_view of;  // kSessionTime: wall time; kCompilingTime: of the compile workers' cores
  std::string_view phase;
  std::size_t count = 0;  // times it was entered; candidates
  double seconds = 0;
};

// Account of a session's time. For one thread.
class TimeBudget {
  struct Doing {
    Activity activity = Activity::kOther;
    std::string what = {};
  };

 public:
  // Counts time as `activity` while it lives, then again as the previous activity. `what`: as
  // Timeline::Stretch.
  class Span {
   public:
    Span(TimeBudget& budget, Activity activity, std::string what = {})
        : budget_(budget), before_(budget.enter({activity, std::move(what)})) {
      ++budget_.counts_[static_cast<std::size_t>(activity)];
    }
    ~Span() { budget_.enter(std::move(before_)); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    TimeBudget& budget_;
    Doing before_;
  };

  // Says what the current activity does from now on, and returns what was said before.
  std::string describe(std::string what);
  // `candidate`: its id in the store.
  void add(const CompiledCandidate& compiled, std::int64_t candidate);
  // Adds a job of the compile workers to the timeline. The time table is of candidates only.
  void add(const worker::JobTime& job);
  // Returns the session's seconds by activity until now, then the seconds of compiling by stage.
  std::vector<TimeRow> rows();
  // Returns the same in the order in which it passed, until now.
  const Timeline& timeline();

 private:
  Doing enter(Doing next);

  double begin_ = monotonic_seconds(), since_ = begin_;
  Doing doing_;
  Timeline timeline_;
  std::array<double, kActivities> seconds_{};
  std::array<std::size_t, kActivities> counts_{};
  CompileStages stages_;
  double compile_seconds_ = 0;
  std::size_t compiled_ = 0, failed_ = 0;
  double failed_seconds_ = 0;
};

}  // namespace hone::trial
