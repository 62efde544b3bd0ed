// Accounts for a session's time: what its device did or waited for, and what compiling cost.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

#include "trial/compile_service.h"

namespace hone::trial {

// Current activity of the tuner. There is only one at a time: the activities of a session add up to
// its wall time.
enum class Activity {
  kOther,      // the search, the store
  kSplit,      // the front half of the compiler, on the whole program
  kCalibrate,  // how quiet the device is
  kPrepare,    // what a dispatch's candidates share: the compiler's part, inputs, the reference
  kWait,       // the device is idle: nothing is compiled yet that could run
  kLoad,
  kVerify,
  kMeasure,
  kFinalists,
  kBaselines,  // other libraries, the compiler's own runtime, the device's peak
  kProgram,    // the proof in the whole program
};
inline constexpr std::size_t kActivities = static_cast<std::size_t>(Activity::kProgram) + 1;
std::string_view name_of(Activity activity);

inline constexpr std::string_view kSessionTime = "session", kCompilingTime = "compiling";

struct TimeRow {
  std::string_view of;  // kSessionTime: wall time; kCompilingTime: of the compile workers' cores
  std::string_view phase;
  std::size_t count = 0;  // times it was entered; candidates
  double seconds = 0;
};

// Account of a session's time. For one thread.
class TimeBudget {
 public:
  // Counts time as `activity` while it lives, then again as the previous activity.
  class Span {
   public:
    Span(TimeBudget& budget, Activity activity) : budget_(budget), before_(budget.enter(activity)) {
      ++budget_.counts_[static_cast<std::size_t>(activity)];
    }
    ~Span() { budget_.enter(before_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    TimeBudget& budget_;
    Activity before_;
  };

  void add(const CompiledCandidate& compiled);
  // Returns the session's seconds by activity until now, then the seconds of compiling by stage.
  std::vector<TimeRow> rows();

 private:
  Activity enter(Activity activity);

  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  Activity activity_ = Activity::kOther;
  std::array<double, kActivities> seconds_{};
  std::array<std::size_t, kActivities> counts_{};
  CompileStages stages_;
  double compile_seconds_ = 0;
  std::size_t compiled_ = 0, failed_ = 0;
  double failed_seconds_ = 0;
};

}  // namespace hone::trial
