// How far a fleet is, from its folder alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/folder.h"

namespace hone::fleet {

enum class TaskView {
  kWaiting,      // not begun
  kRunning,      // its beat grows
  kSilent,       // its beat has stopped growing: lost, or its node is
  kInterrupted,  // stopped; a requeued one goes on
  kFailed,
  kFinished,  // its store is published
};
inline constexpr std::pair<TaskView, std::string_view> kTaskViews[] = {
    {TaskView::kWaiting, "waiting"}, {TaskView::kRunning, "running"},
    {TaskView::kSilent, "silent"},   {TaskView::kInterrupted, "interrupted"},
    {TaskView::kFailed, "failed"},   {TaskView::kFinished, "finished"}};

struct ShownTask {
  std::string name;
  TaskView view = TaskView::kWaiting;
  bool is_straggler = false;  // it runs far longer than expected
  std::optional<TaskStatus> status = {};
  double expected_seconds = 0;  // of its dispatches; 0: not known yet

  std::size_t dispatches() const;  // 0 while unknown
  std::size_t done() const;
  std::size_t candidates() const;
};

struct FleetProgress {
  std::vector<ShownTask> compiles, shards;  // Folder::compiles() and shards()
  std::optional<TaskStatus> flags, proof;
  std::optional<FleetResult> result;
  std::vector<std::string> failures;  // "dispatch: reason", of dispatches and of tasks
  std::vector<std::string> notes;     // shards that do not fit together
  double candidates_per_minute = 0;   // of the running tasks
  // Until the last shard ends, by what shards took so far; none: no shard has begun.
  std::optional<double> seconds_left;

  // Count the shards, and their dispatches.
  std::size_t count(TaskView view) const;
  std::size_t dispatches() const, done() const;
};

// Beats of the tasks as last seen, to tell running tasks from silent ones: clocks of machines are
// never compared.
using Beats = std::map<std::string, std::uint64_t>;

// Reads the folder. `silent`: tasks whose beat has not grown for long.
Result<FleetProgress> progress_of(const Folder& folder, const std::set<std::string>& silent);
// Beats of the tasks that say that they run.
Result<Beats> beats_of(const Folder& folder);

// "3 of 8 tasks done, 2 running; 12 of 40 dispatches; 340 candidates a minute; 5 min left".
std::string in_one_line(const FleetProgress& progress);

}  // namespace hone::fleet
