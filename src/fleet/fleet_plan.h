// Data of a tuning that is divided over the tasks of a batch system, as its fleet folder holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fields.h"
#include "plan/shards.h"

namespace hone::fleet {

// Names of tasks: of the two that are one of a kind, and of those with the number of a shard. A
// shard is called "3", and the task that compiles for it "compile-3".
inline constexpr std::string_view kFlagsTask = "flags", kProofTask = "proof";
inline constexpr std::string_view kCompilePrefix = "compile-";
// Names of the jobs of numbered tasks.
inline constexpr std::string_view kCompileJob = "compile", kShardsJob = "tasks";

// plan.json: all that a task needs to know.
struct FleetPlan {
  std::string version = {};             // hone's: other versions refuse the folder
  std::string command = {};             // that submitted it, to be repeated
  std::string executable = {};          // hone
  std::vector<std::string> words = {};  // of `hone tune`, input included, launcher's not
  std::string out = {};                 // --out, where the proof writes
  std::string folder = {};              // to run in
  std::map<std::string, std::string> environment = {};  // of the tasks
  std::string launcher = {};
  std::size_t tasks = 1;           // shards
  bool flags = false;              // a task chooses the compiler's flags before the shards
  bool compiles = false;           // a task for each shard compiles before it, without its device
  double checkpoint_seconds = 60;  // between copies of a running task's store
  double beat_seconds = 5;         // between two statuses of a task

  static void fields(auto& plan, auto&& field) {
    field("version", plan.version);
    field("command", plan.command);
    field("executable", plan.executable);
    field("words", plan.words);
    field("out", plan.out);
    field("folder", plan.folder);
    field("environment", plan.environment);
    field("launcher", plan.launcher);
    field("tasks", plan.tasks);
    field("flags", plan.flags);
    field.or_default("compiles", plan.compiles);
    field("checkpoint_seconds", plan.checkpoint_seconds);
    field("beat_seconds", plan.beat_seconds);
  }
};

enum class TaskState { kRunning, kFinished, kFailed, kInterrupted };
inline constexpr std::pair<TaskState, std::string_view> kTaskStates[] = {
    {TaskState::kRunning, "running"},
    {TaskState::kFinished, "finished"},
    {TaskState::kFailed, "failed"},
    {TaskState::kInterrupted, "interrupted"}};

// status/NAME.json. It has no times of day: clocks of machines differ. `beat` grows while the task
// lives, and a reader looks whether it does.
struct TaskStatus {
  std::string task = {};
  TaskState state = TaskState::kRunning;
  std::string host = {}, version = {};
  std::size_t attempts = 1;  // starts of the task, this one included
  std::uint64_t beat = 0;
  double seconds = 0;  // of this attempt, by the task's own clock
  int exit_code = 0;
  std::string message = {};  // why it failed
  plan::PartProgress progress = {};

  static void fields(auto& status, auto&& field) {
    field("task", status.task);
    field.named("state", status.state, kTaskStates);
    field("host", status.host);
    field("version", status.version);
    field("attempts", status.attempts);
    field("beat", status.beat);
    field("seconds", status.seconds);
    field("exit_code", status.exit_code);
    field("message", status.message);
    field("progress", status.progress);
  }
};

// proof.json: how the tuning ended.
struct FleetResult {
  int exit_code = 0;
  std::vector<std::string> notes = {};  // shards that are missing, refused or of another device

  static void fields(auto& result, auto&& field) {
    field("exit_code", result.exit_code);
    field("notes", result.notes);
  }
};

// jobs.json: the jobs of the last submission.
struct SubmittedJob {
  std::string name = {};  // kFlagsTask, kCompileJob, kShardsJob or kProofTask
  std::string id = {};

  static void fields(auto& job, auto&& field) {
    field("name", job.name);
    field("id", job.id);
  }
};

}  // namespace hone::fleet
