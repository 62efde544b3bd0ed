#include "trial/time_budget.h"

#include <utility>

namespace hone::trial {

std::string_view name_of(Activity activity) {
  // Names in the order of the activities.
  static constexpr std::array<std::string_view, kActivities> kNames = {
      "search and store",  "split",     "calibrate", "prepare",
      "wait for compiles", "load",      "verify",    "measure",
      "finalists",         "baselines", "program"};
  return kNames[static_cast<std::size_t>(activity)];
}

Activity TimeBudget::enter(Activity activity) {
  const auto now = std::chrono::steady_clock::now();
  seconds_[static_cast<std::size_t>(activity_)] +=
      std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(activity_, activity);
}

void TimeBudget::add(const CompiledCandidate& compiled) {
  if (!compiled.artifact) {
    ++failed_;
    failed_seconds_ += compiled.seconds;
    return;
  }
  ++compiled_;
  compile_seconds_ += compiled.seconds;
  stages_.configure += compiled.stages.configure;
  stages_.translate += compiled.stages.translate;
  stages_.serialize += compiled.stages.serialize;
  stages_.assemble += compiled.stages.assemble;
}

std::vector<TimeRow> TimeBudget::rows() {
  enter(activity_);
  std::vector<TimeRow> rows;
  for (std::size_t i = 0; i < kActivities; ++i)
    rows.push_back({kSessionTime, name_of(static_cast<Activity>(i)), counts_[i], seconds_[i]});
  const auto add = [&](std::string_view stage, double seconds) {
    rows.push_back({kCompilingTime, stage, compiled_, seconds});
  };
  add("configure", stages_.configure);
  add("translate", stages_.translate);
  add("serialize", stages_.serialize);
  add("assemble", stages_.assemble);
  add("fork and answer", compile_seconds_ - stages_.configure - stages_.translate -
                             stages_.serialize - stages_.assemble);
  rows.push_back({kCompilingTime, "what failed", failed_, failed_seconds_});
  return rows;
}

}  // namespace hone::trial
