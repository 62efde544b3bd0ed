#include "fleet/progress.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace hone::fleet {
namespace {

// A task takes this many times its dispatches' expected time, until some have ended.
constexpr double kUsualRatio = 1.3;
// Beyond this many times the expected time, and this many seconds, a task is a straggler.
constexpr double kStragglerRatio = 2, kStragglerSeconds = 60;

TaskView view_of(const Folder& folder, const ShownTask& task, const std::set<std::string>& silent) {
  if (is_there(folder.published(task.name))) return TaskView::kFinished;
  if (!task.status) return TaskView::kWaiting;
  switch (task.status->state) {
    case TaskState::kRunning:
      return silent.contains(task.name) ? TaskView::kSilent : TaskView::kRunning;
    case TaskState::kFailed:
      return TaskView::kFailed;
    case TaskState::kInterrupted:
    case TaskState::kFinished:  // its store was removed
      break;
  }
  return TaskView::kInterrupted;
}

// Seconds per expected second, of the shards that have ended.
double ratio_of(const std::vector<ShownTask>& shards) {
  double taken = 0, expected = 0;
  for (const ShownTask& each : shards) {
    if (each.view != TaskView::kFinished || !each.status || each.status->attempts > 1) continue;
    taken += each.status->seconds;
    expected += each.expected_seconds;
  }
  return expected > 0 ? taken / expected : kUsualRatio;
}

std::optional<double> seconds_left(const std::vector<ShownTask>& shards) {
  const double ratio = ratio_of(shards);
  double known = 0, sum = 0, longest = 0, waiting = 0, running = 0;
  for (const ShownTask& each : shards)
    if (each.status && each.dispatches() > 0) {
      ++known;
      sum += each.expected_seconds;
    }
  if (known == 0) return std::nullopt;
  double left = 0;
  for (const ShownTask& each : shards) {
    if (each.view == TaskView::kFinished) continue;
    const bool runs = each.view == TaskView::kRunning;
    const double whole = ratio * (each.dispatches() > 0 ? each.expected_seconds : sum / known);
    const double rest = std::max(0.0, whole - (runs ? each.status->seconds : 0));
    (runs ? running : waiting) += 1;
    left += rest;
    longest = std::max(longest, rest);
  }
  return std::max(longest, left / std::max(1.0, running));
}

void add_failures(const ShownTask& task, std::vector<std::string>& failures) {
  if (!task.status) return;
  if (task.view == TaskView::kFailed)
    failures.push_back(fmt::format("task {}: {}", task.name, task.status->message));
  for (const plan::PartDispatch& each : task.status->progress.dispatches)
    if (!each.failure.empty())
      failures.push_back(fmt::format("{}: {}", each.name, reason_of(each.failure)));
}

// Shards that were not split alike, or ran on different devices, do not make one tuning.
std::vector<std::string> misfits(const std::vector<ShownTask>& shards) {
  std::set<std::string> splits, devices;
  for (const ShownTask& each : shards) {
    if (!each.status || each.status->progress.part.empty()) continue;
    splits.insert(each.status->progress.split);
    devices.insert(each.status->progress.device);
  }
  std::vector<std::string> notes;
  if (splits.size() > 1)
    notes.emplace_back(
        "shards were split differently: use the same compiler and hone on all nodes");
  if (devices.size() > 1)
    notes.push_back(fmt::format("shards run on different devices, whose results are kept apart: {}",
                                fmt::join(devices, ", ")));
  return notes;
}

// Adds what the folder tells of the tasks with these names.
Result<std::vector<ShownTask>> tasks_of(const Folder& folder, const std::vector<std::string>& names,
                                        const std::set<std::string>& silent,
                                        std::vector<std::string>& failures) {
  std::vector<ShownTask> tasks;
  for (const std::string& name : names) {
    ShownTask& task = tasks.emplace_back();
    task.name = name;
    HONE_ASSIGN(task.status, folder.status(name));
    if (task.status)
      for (const plan::PartDispatch& each : task.status->progress.dispatches)
        task.expected_seconds += each.expected_seconds;
    task.view = view_of(folder, task, silent);
    add_failures(task, failures);
  }
  return tasks;
}

std::size_t count_of(const std::vector<ShownTask>& tasks, TaskView view) {
  return static_cast<std::size_t>(std::ranges::count(tasks, view, &ShownTask::view));
}

// "3 of 8 tasks done, 2 running".
std::string states_of(const std::vector<ShownTask>& tasks, std::string_view kind) {
  std::vector<std::string> words{
      fmt::format("{} of {} {} done", count_of(tasks, TaskView::kFinished), tasks.size(), kind)};
  for (const auto& [view, name] : kTaskViews)
    if (const std::size_t count = count_of(tasks, view);
        count > 0 && view != TaskView::kFinished && view != TaskView::kWaiting)
      words.push_back(fmt::format("{} {}", count, name));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

std::size_t ShownTask::dispatches() const {
  return status ? status->progress.dispatches.size() : 0;
}

std::size_t ShownTask::done() const {
  if (!status) return 0;
  if (view == TaskView::kFinished) return dispatches();
  return static_cast<std::size_t>(
      std::ranges::count_if(status->progress.dispatches, &plan::PartDispatch::is_done));
}

std::size_t ShownTask::candidates() const {
  std::size_t all = 0;
  if (status)
    for (const plan::PartDispatch& each : status->progress.dispatches) all += each.candidates;
  return all;
}

std::size_t FleetProgress::count(TaskView view) const {
  return count_of(shards, view);
}

std::size_t FleetProgress::dispatches() const {
  std::size_t all = 0;
  for (const ShownTask& each : shards) all += each.dispatches();
  return all;
}

std::size_t FleetProgress::done() const {
  std::size_t all = 0;
  for (const ShownTask& each : shards) all += each.done();
  return all;
}

Result<FleetProgress> progress_of(const Folder& folder, const std::set<std::string>& silent) {
  FleetProgress progress;
  HONE_ASSIGN(progress.compiles, tasks_of(folder, folder.compiles(), silent, progress.failures));
  HONE_ASSIGN(progress.shards, tasks_of(folder, folder.shards(), silent, progress.failures));
  for (const ShownTask& task : progress.shards) {
    if (task.view != TaskView::kRunning || task.status->seconds <= 0) continue;
    const double seconds = task.status->seconds;
    progress.candidates_per_minute += 60 * static_cast<double>(task.candidates()) / seconds;
  }
  const double ratio = ratio_of(progress.shards);
  for (ShownTask& task : progress.shards)
    task.is_straggler =
        task.view == TaskView::kRunning && task.dispatches() > 0 &&
        task.status->seconds >
            std::max(kStragglerSeconds, kStragglerRatio * ratio * task.expected_seconds);
  HONE_ASSIGN(progress.flags, folder.status(std::string(kFlagsTask)));
  HONE_ASSIGN(progress.proof, folder.status(std::string(kProofTask)));
  HONE_ASSIGN(progress.result, folder.result());
  progress.notes = misfits(progress.shards);
  progress.seconds_left = seconds_left(progress.shards);
  return progress;
}

Result<Beats> beats_of(const Folder& folder) {
  Beats beats;
  for (const std::string& name : folder.tasks()) {
    HONE_ASSIGN(const std::optional<TaskStatus> status, folder.status(name));
    if (status && status->state == TaskState::kRunning) beats[name] = status->beat;
  }
  return beats;
}

std::string in_one_line(const FleetProgress& progress) {
  std::string text = states_of(progress.shards, "tasks");
  if (!progress.compiles.empty() && progress.count(TaskView::kWaiting) == progress.shards.size())
    text = states_of(progress.compiles, "compile tasks");
  if (progress.dispatches() > 0)
    text += fmt::format("; {} of {} dispatches", progress.done(), progress.dispatches());
  if (progress.candidates_per_minute > 0)
    text += fmt::format("; {:.0f} candidates a minute", progress.candidates_per_minute);
  if (progress.proof && progress.proof->state == TaskState::kRunning)
    text += "; the proof runs";
  else if (progress.flags && progress.flags->state == TaskState::kRunning)
    text += "; the flags are searched";
  else if (progress.seconds_left && *progress.seconds_left >= 1)
    text += fmt::format("; about {} left, then the proof",
                        format_duration(std::ceil(*progress.seconds_left)));
  return text;
}

}  // namespace hone::fleet
