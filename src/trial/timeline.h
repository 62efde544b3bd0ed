// A session's time as it passed. The store keeps it as JSON, and hone report --trace draws it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "provider/artifact.h"

namespace hone::trial {

// Current activity of the tuner. There is only one at a time: the activities of a session add up to
// its wall time.
enum class Activity {
  kOther,      // the search, the store
  kSplit,      // the compiler's frontend, on the whole program
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

using provider::CompileStages;

// Times are seconds since the session began. As JSON they are whole microseconds.
struct Timeline {
  // Time in one activity, up to `end`. Each stretch begins where the one before ends, the first at
  // 0.
  struct Stretch {
    Activity activity = Activity::kOther;
    double end = 0;
    std::string what = {};  // the activity in more detail: "round 3 of 12"; empty: nothing more

    bool operator==(const Stretch&) const = default;
  };
  struct CompileJob {
    std::int64_t candidate = 0;  // of the store
    double begin = 0, seconds = 0;
    bool failed = false;
    CompileStages stages = {};  // of what compiled

    bool operator==(const CompileJob&) const = default;
  };

  // Another job of a compile worker, by its kind: "compile_program".
  struct Job {
    std::string kind;
    double begin = 0, seconds = 0;

    bool operator==(const Job&) const = default;
  };

  std::vector<Stretch> stretches = {};
  std::vector<CompileJob> compiles = {};  // as they were taken
  std::vector<Job> jobs = {};             // as they ended

  double seconds() const { return stretches.empty() ? 0 : stretches.back().end; }
  bool operator==(const Timeline&) const = default;
};

void to_json(nlohmann::json& json, const Timeline& timeline);
// Throws what nlohmann's get<T>() throws.
void from_json(const nlohmann::json& json, Timeline& timeline);

}  // namespace hone::trial
