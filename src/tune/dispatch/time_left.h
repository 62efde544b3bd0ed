// How long a session will still search and compare, as far as its budget says: for people who wait.
#pragma once

namespace hone::tune {

// One dispatch's part of a session. Seconds.
struct DispatchTime {
  double searching = 0;      // left for its search; negative when that is over its time
  double per_candidate = 0;  // that one took until now; 0: not known yet
  double candidates = 0;     // still to be tried, where the plan is limited
  double comparing = 0;      // left, or still to come, for its finalists
  double after = 0;          // for the dispatches after it
};

// Never negative. The search ends with its time or its plan, whichever is first. The proof of the
// program that may follow is not in it: nobody knows how long that runs.
double seconds_left(const DispatchTime& time);

}  // namespace hone::tune
