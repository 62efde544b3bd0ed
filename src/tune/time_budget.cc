#include "tune/time_budget.h"

#include <utility>

namespace hone::tune {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::kOther:
      return "search and store";
    case Phase::kSplit:
      return "split";
    case Phase::kCalibrate:
      return "calibrate";
    case Phase::kPrepare:
      return "prepare";
    case Phase::kWait:
      return "wait for compiles";
    case Phase::kLoad:
      return "load";
    case Phase::kVerify:
      return "verify";
    case Phase::kMeasure:
      return "measure";
    case Phase::kFinalists:
      return "finalists";
    case Phase::kBaselines:
      return "baselines";
    case Phase::kProgram:
      break;
  }
  return "program";
}

Phase TimeBudget::enter(Phase phase) {
  const auto now = std::chrono::steady_clock::now();
  seconds_[static_cast<std::size_t>(phase_)] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  return std::exchange(phase_, phase);
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
  enter(phase_);
  std::vector<TimeRow> rows;
  for (std::size_t i = 0; i < kPhases; ++i)
    rows.push_back({"session", name_of(static_cast<Phase>(i)), counts_[i], seconds_[i]});
  const auto add = [&](std::string_view stage, double seconds) {
    rows.push_back({"compiling", stage, compiled_, seconds});
  };
  add("configure", stages_.configure);
  add("translate", stages_.translate);
  add("serialize", stages_.serialize);
  add("assemble", stages_.assemble);
  add("fork and answer", compile_seconds_ - stages_.configure - stages_.translate -
                             stages_.serialize - stages_.assemble);
  rows.push_back({"compiling", "what failed", failed_, failed_seconds_});
  return rows;
}

}  // namespace hone::tune
