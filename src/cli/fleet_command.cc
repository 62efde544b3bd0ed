// hone fleet: tells how far a tuning on many machines is; runs one of its tasks.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/fd.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/command.h"
#include "fleet/progress.h"
#include "fleet/task.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/session_options.h"

namespace hone::cli {
namespace {

using enum output::Align;

struct FleetOptions {
  std::string folder;
  std::string task;
  bool json = false;
};

constexpr std::size_t kMostShown = 40;  // tasks, and failures

// Waits until every task that says that it runs has written another beat, for three beats at most.
// Returns those that have not.
Result<std::set<std::string>> silent_tasks(const fleet::Folder& folder) {
  HONE_ASSIGN(const fleet::Beats first, fleet::beats_of(folder));
  const Stopwatch clock;
  std::set<std::string> silent;
  do {
    silent.clear();
    HONE_ASSIGN(const fleet::Beats now, fleet::beats_of(folder));
    for (const auto& [name, beat] : now)
      if (const auto before = first.find(name); before != first.end() && before->second == beat)
        silent.insert(name);
    if (silent.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  } while (clock.seconds() < 3 * folder.plan().beat_seconds);
  return silent;
}

output::Table table_of(const fleet::FleetProgress& progress) {
  output::Table table({{"task", "task"},
                       {"state", "state"},
                       {"host", "host"},
                       {"attempts", "starts", kRight},
                       {"done", "done", kRight},
                       {"dispatches", "of", kRight},
                       {"candidates", "candidates", kRight},
                       {"seconds", "time", kRight},
                       {"expected_seconds", "expected", kRight},
                       {"straggler", "note"}});
  std::vector<fleet::ShownTask> tasks = progress.compiles;
  tasks.insert(tasks.end(), progress.shards.begin(), progress.shards.end());
  for (const fleet::ShownTask& each : tasks) {
    const auto known = [&](double seconds) {
      return output::time_cell(each.status && seconds > 0 ? std::optional(seconds) : std::nullopt);
    };
    table.add({{each.name, ""},
               {std::string(name_in(fleet::kTaskViews, each.view)), ""},
               {each.status ? each.status->host : "", each.status ? "" : "-"},
               {each.status ? each.status->attempts : 0, ""},
               {each.done(), ""},
               {each.dispatches(), ""},
               {each.candidates(), ""},
               known(each.status ? each.status->seconds : 0),
               known(each.expected_seconds),
               {each.is_straggler, each.is_straggler ? "straggler" : "-"}});
  }
  return table;
}

// Shards that nobody works on: their share can be submitted again.
std::vector<std::string> lost_shards(const fleet::FleetProgress& progress) {
  std::vector<std::string> names;
  for (const fleet::ShownTask& each : progress.shards)
    if (each.view == fleet::TaskView::kSilent || each.view == fleet::TaskView::kFailed ||
        (progress.result && each.view != fleet::TaskView::kFinished))
      names.push_back(each.name);
  return names;
}

CommandResult show_status(FleetOptions& options) {
  HONE_ASSIGN(const fleet::Folder folder, fleet::Folder::open(options.folder, version()));
  HONE_ASSIGN(const std::set<std::string> silent, silent_tasks(folder));
  HONE_ASSIGN(const fleet::FleetProgress progress, fleet::progress_of(folder, silent));
  const std::vector<std::string> lost = lost_shards(progress);
  if (options.json) {
    nlohmann::json document{{"folder", options.folder},
                            {"tasks", table_of(progress).to_json()},
                            {"dispatches", progress.dispatches()},
                            {"done", progress.done()},
                            {"candidates_per_minute", progress.candidates_per_minute},
                            {"seconds_left", output::or_null(progress.seconds_left)},
                            {"failures", progress.failures},
                            {"notes", progress.notes},
                            {"lost", lost},
                            {"submit_again", folder.plan().command},
                            {"exit_code", nlohmann::json()}};
    if (progress.result) document["exit_code"] = progress.result->exit_code;
    output::print_document(std::move(document));
    return 0;
  }
  fmt::print("{}\n\n{}", fleet::in_one_line(progress),
             table_of(progress).first_text(kMostShown, output::screen_width(), " (--json)"));
  for (std::size_t i = 0; i < std::min(kMostShown, progress.failures.size()); ++i)
    fmt::print("failed: {}\n", progress.failures[i]);
  for (const std::string& note : progress.notes) fmt::print("{}\n", note);
  if (progress.result) {
    fmt::print("ended with exit code {}\n", progress.result->exit_code);
    for (const std::string& note : progress.result->notes) fmt::print("{}\n", note);
  }
  if (!lost.empty())
    fmt::print("lost: {}; submit what is missing again: {}\n", fmt::join(lost, ", "),
               folder.plan().command);
  return 0;
}

CommandResult run_task(FleetOptions& options) {
  HONE_ASSIGN(const fleet::Folder folder, fleet::Folder::open(options.folder, version()));
  HONE_ASSIGN(const StopSignal stop, StopSignal::install());
  return fleet::run_task(folder, options.task, version(), stop.fd());
}

}  // namespace

void add_fleet_command(CLI::App& app, Action& run) {
  CLI::App* command = app.add_subcommand("fleet", "Follow a tuning on many machines");
  command->require_subcommand(1);
  const auto [status, of_status] = add_command<FleetOptions>(
      *command, run, "status", "Show tasks, throughput, failures and time left", show_status);
  status.add_option("FOLDER", of_status.folder, "fleet folder (--out of the tuning, then /fleet)")
      ->required();
  status.add_flag("--json", of_status.json, "print one JSON document");
  status.allow_extras();
  const auto [task, of_task] = add_command<FleetOptions>(
      *command, run, "task", "Run one task; the batch system calls it", run_task);
  task.add_option("FOLDER", of_task.folder, "fleet folder")->required();
  task.add_option("TASK", of_task.task, "number of a shard, compile-NUMBER, flags or proof")
      ->required();
  task.allow_extras();
  task.group("");
}

}  // namespace hone::cli
