// The fleet folder, on a file system that all tasks share. It needs atomic renames and hard links,
// and no locks: no file is written by two tasks, and no database is opened in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/fleet_plan.h"

namespace hone::fleet {

// Paths and files of the folder. Thread-safe. Errors: environment errors of the file system, input
// errors for files that are not what they should be.
class Folder {
 public:
  // Makes the folder at `path` for `plan`, or opens it if it holds the same plan. Tries what the
  // file system must be able to do. Input error: the folder holds another tuning.
  static Result<Folder> create(const std::filesystem::path& path, FleetPlan plan);
  // Returns a folder that is not made: for the paths in it.
  static Folder planned(const std::filesystem::path& path, FleetPlan plan) {
    return Folder(path, std::move(plan));
  }
  // Opens one that is there. Input error: there is none, or another version of hone made it.
  // `version`: hone's.
  static Result<Folder> open(const std::filesystem::path& path, std::string_view version);

  const std::filesystem::path& path() const { return path_; }
  const FleetPlan& plan() const { return plan_; }
  bool is_new() const { return is_new_; }  // made by create()

  // File that a finished task leaves: its store, or of the proof its result.
  std::filesystem::path published(const std::string& task) const;
  std::filesystem::path checkpoint(const std::string& task) const;  // its store at an interval
  std::filesystem::path status_file(const std::string& task) const;
  std::filesystem::path log(const std::string& task) const;
  std::filesystem::path script(const std::string& job) const;
  std::filesystem::path flags() const { return published(std::string(kFlagsTask)); }
  std::filesystem::path proof() const { return path_ / "proof.db"; }
  std::filesystem::path proof_output() const { return path_ / "proof.out"; }
  std::filesystem::path proof_result() const { return published(std::string(kProofTask)); }
  std::filesystem::path cancel_file() const { return path_ / "cancel"; }

  // Names: of the shards, of the tasks that compile for them (none where each shard does), and of
  // all tasks that the plan may have.
  std::vector<std::string> shards() const, compiles() const, tasks() const;
  std::vector<std::string> missing() const;  // shards without a finished store
  bool is_cancelled() const;

  // Nullopt: the task has not begun.
  Result<std::optional<TaskStatus>> status(const std::string& task) const;
  Status write(const TaskStatus& status) const;
  Result<std::vector<SubmittedJob>> jobs() const;
  Status write(const std::vector<SubmittedJob>& jobs) const;
  Result<std::optional<FleetResult>> result() const;

 private:
  Folder(std::filesystem::path path, FleetPlan plan)
      : path_(std::move(path)), plan_(std::move(plan)) {}

  std::filesystem::path path_;
  FleetPlan plan_;
  bool is_new_ = false;
};

bool is_there(const std::filesystem::path& path);

// The task that compiles for a shard; the number of a numbered task, else nullopt.
std::string compile_task_of(const std::string& shard);
std::optional<std::string> number_of(std::string_view task);

// Copies `from` beside `to` under another name, flushes it and renames it: readers see the whole
// file or none. An environment error otherwise.
Status publish(const std::filesystem::path& from, const std::filesystem::path& to);
// The same, unless `to` is there already: what is decided once stays. Returns whether it was not.
Result<bool> publish_once(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace hone::fleet
