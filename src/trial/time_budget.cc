#include "trial/time_budget.h"

#include <utility>

namespace hone::trial {

TimeBudget::Doing TimeBudget::enter(Doing next) {
  const double now = monotonic_seconds();
  seconds_[static_cast<std::size_t>(doing_.activity)] += now - since_;
  since_ = now;
  std::vector<Timeline::Stretch>& stretches = timeline_.stretches;
  // Spans of one activity with nothing between them are one stretch.
  const bool goes_on = !stretches.empty() && stretches.back().activity == doing_.activity &&
                       stretches.back().what == doing_.what;
  if (!goes_on) stretches.push_back({doing_.activity, 0, doing_.what});
  stretches.back().end = now - begin_;
  return std::exchange(doing_, std::move(next));
}

std::string TimeBudget::describe(std::string what) {
  return enter({doing_.activity, std::move(what)}).what;
}

void TimeBudget::add(const CompiledCandidate& compiled, std::int64_t candidate) {
  timeline_.compiles.push_back({candidate, compiled.ended - compiled.seconds - begin_,
                                compiled.seconds, !compiled.artifact, compiled.stages});
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

void TimeBudget::add(const worker::JobTime& job) {
  timeline_.jobs.push_back({job.kind, job.ended - job.seconds - begin_, job.seconds});
}

const Timeline& TimeBudget::timeline() {
  enter(doing_);
  return timeline_;
}

std::vector<TimeRow> TimeBudget::rows() {
  enter(doing_);
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
