#include "fleet/task.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "base/text.h"

namespace hone::fleet {
namespace {

namespace fs = std::filesystem;

// Seconds that a stopped tuning has to end before it is killed: Slurm kills after 30 (KillWait).
constexpr double kSecondsToEnd = 20;
constexpr int kInterruptedCode = 130, kEnvironmentCode = 3;
// Further tries after an environment error, such as a device that somebody else measures on.
constexpr int kMoreTries = 6;
constexpr double kSecondsBetweenTries = 10;

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Stays on the cores that HyperQueue gave the task. Slurm binds tasks itself.
void stay_on_given_cores() {
  const char* const given = std::getenv("HQ_CPUS");
  if (given == nullptr) return;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (const char* at = given; *at != '\0';) {
    char* end = nullptr;
    const long core = std::strtol(at, &end, 10);
    if (end == at || core < 0 || core >= CPU_SETSIZE) return;
    CPU_SET(static_cast<std::size_t>(core), &cores);
    at = *end == ',' ? end + 1 : end;
    if (*end != ',' && *end != '\0') return;
  }
  (void)::sched_setaffinity(0, sizeof cores, &cores);  // best effort: leases keep tasks apart
}

class Task {
 public:
  Task(const Folder& folder, std::string name, fs::path local, int stop_fd)
      : folder_(folder), name_(std::move(name)), local_(std::move(local)), stop_fd_(stop_fd) {}

  Result<int> run(TaskStatus status) {
    status_ = std::move(status);
    HONE_TRY(folder_.write(status_));
    HONE_TRY(gather());
    HONE_ASSIGN(int code, tune());
    // Another process of the node may hold the device for a moment.
    for (int tries = 0; code == kEnvironmentCode && tries < kMoreTries && !waits_for_stop();
         ++tries) {
      HONE_ASSIGN(code, tune());
    }
    return finish(code);
  }

  // Writes that the task failed, for who reads the folder.
  void tell(const Error& error) {
    status_.state = TaskState::kFailed;
    status_.message = error.message;
    status_.exit_code = 3;
    (void)folder_.write(status_);  // the error itself is returned
  }

 private:
  bool is_proof() const { return name_ == kProofTask; }
  bool compiles() const { return name_.starts_with(kCompilePrefix); }
  std::optional<std::string> number() const { return number_of(name_); }  // of its shard
  fs::path store() const { return local_ / "store.db"; }
  const FleetPlan& plan() const { return folder_.plan(); }

  // The store begins with what is decided, and with what this task or, for a proof, all have found.
  Status gather() {
    if (is_there(folder_.flags())) HONE_TRY(take(folder_.flags()));
    if (!is_proof()) {
      if (plan().compiles && number() && !compiles()) HONE_TRY(take_compiled());
      return is_there(folder_.checkpoint(name_)) ? take(folder_.checkpoint(name_)) : Status();
    }
    std::map<std::string, std::vector<std::string>> devices;  // with the shards that ran on each
    for (const std::string& shard : folder_.shards()) {
      // Results of a task that was lost are as good as a whole shard's.
      const fs::path whole = folder_.published(shard);
      const bool is_whole = is_there(whole);
      if (!is_whole)
        result_.notes.push_back(fmt::format("shard {} of {} is missing", shard, plan().tasks));
      const fs::path file = is_whole ? whole : folder_.checkpoint(shard);
      if (!is_there(file)) continue;
      HONE_ASSIGN(const std::optional<TaskStatus> of_shard, folder_.status(shard));
      if (of_shard && of_shard->version != plan().version) {
        result_.notes.push_back(
            fmt::format("shard {} ('{}') is of hone {}, and this is hone {}: it is refused; remove "
                        "it and submit again",
                        shard, file.string(), of_shard->version, plan().version));
        continue;
      }
      if (const Status merged = take(file); !merged) {
        result_.notes.push_back(
            fmt::format("shard {} is refused: {}", shard, merged.error().message));
        continue;
      }
      if (of_shard && !of_shard->progress.device.empty())
        devices[of_shard->progress.device].push_back(shard);
    }
    if (devices.size() > 1) note_devices(devices);
    return {};
  }

  // Adds the code that was compiled for this shard. What is missing the shard compiles for itself.
  Status take_compiled() const {
    const std::string task = compile_task_of(name_);
    const bool is_whole = is_there(folder_.published(task));
    const fs::path file = is_whole ? folder_.published(task) : folder_.checkpoint(task);
    if (!is_whole) say("hone: task {} has not ended: this one compiles what is missing\n", task);
    if (!is_there(file)) return {};
    if (const Status merged = take(file); !merged)
      say("hone: {}; this task compiles for itself\n", merged.error().message);
    return {};
  }

  void note_devices(const std::map<std::string, std::vector<std::string>>& devices) {
    std::vector<std::string> words;
    for (const auto& [device, shards] : devices)
      words.push_back(fmt::format("{} on {}", fmt::join(shards, ", "), device));
    result_.notes.push_back(
        fmt::format("shards ran on different devices ({}): results of another device than the "
                    "proof's are not used; ask for one kind of node by --sbatch-args",
                    fmt::join(words, "; ")));
  }

  // Adds a published store. A copy is opened: locks do not work on every shared file system.
  Status take(const fs::path& published) const {
    const fs::path copy = local_ / "published.db";
    HONE_TRY(publish(published, copy));
    Status merged = merge(store(), copy);
    remove_store(copy);
    if (!merged)
      merged.error().message = fmt::format("'{}': {}", published.string(), merged.error().message);
    return merged;
  }

  // Runs hone on stores in the local folder; the tuner of this task may have its store open.
  static void remove_store(const fs::path& store) {
    std::error_code code;
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(store.string() + end, code);
  }
  Status merge(const fs::path& into, const fs::path& other) const {
    const Command command{{plan().executable, "store", "merge", into.string(), other.string()}};
    HONE_ASSIGN(const ProcessResult ran, run_process(command));
    if (ran.succeeded()) return {};
    const std::string said = readable(ran.standard_error.text());
    return environment_error("cannot be merged: {}", reason_of(said));
  }

  // Waits between two tries. Returns whether the task is to end.
  bool waits_for_stop() const {
    pollfd waiting{stop_fd_, POLLIN, 0};
    return ::poll(&waiting, 1, static_cast<int>(1000 * kSecondsBetweenTries)) > 0 ||
           folder_.is_cancelled();
  }

  Command command() const {
    Command command{{plan().executable, "tune"}};
    command.folder = plan().folder;
    for (const auto& [name, value] : plan().environment)
      command.environment.emplace_back(name, value);
    std::vector<std::string>& words = command.arguments;
    words.insert(words.end(), plan().words.begin(), plan().words.end());
    const std::string part = number() ? fmt::format("{}/{}", *number(), plan().tasks) : name_;
    words.insert(words.end(), {"--shard", part, "--store", store().string()});
    if (plan().compiles && number())
      words.emplace_back(compiles() ? "--compile-only" : "--measure-only");
    // The proof's output is read as the user wants it.
    // Files that flags name lie in --out, under the same path for all tasks.
    words.insert(words.end(), {"--out", plan().out});
    if (!is_proof()) words.emplace_back("--plain");
    return command;
  }

  // Runs the tuner to its end, with a status at every beat and checkpoints. Returns its exit code.
  Result<int> tune() {
    UniqueFd out(is_proof()
                     ? ::open((local_ / "stdout").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)
                     : -1);
    HONE_ASSIGN(const pid_t child, spawn(command(), {{1, is_proof() ? out.get() : 1}, {2, 2}}));
    const UniqueFd ended = open_pid(child);
    const Stopwatch clock;
    double checkpoint = 0;
    std::optional<double> stopped;  // when it was told
    bool killed = false;
    while (!has_ended(child)) {
      pollfd waiting[] = {{ended.get(), POLLIN, 0}, {stopped ? -1 : stop_fd_, POLLIN, 0}};
      ::poll(waiting, 2, static_cast<int>(1000 * std::min(plan().beat_seconds, 1.0)));
      if (!stopped && (is_readable(stop_fd_) || folder_.is_cancelled())) {
        stopped = clock.seconds();
        ::kill(child, SIGTERM);
      }
      if (stopped && !killed && clock.seconds() - *stopped > kSecondsToEnd) {
        kill_tree(child);
        killed = true;
      }
      if (clock.seconds() - status_.seconds >= plan().beat_seconds) beat(clock.seconds());
      if (number() && clock.seconds() - checkpoint >= plan().checkpoint_seconds) {
        checkpoint = clock.seconds();
        // Best effort: the next one may succeed, and the end tells.
        if (const Status saved = save(); !saved) say("hone: {}\n", saved.error().message);
      }
    }
    int code = 0;
    ::waitpid(child, &code, 0);
    status_.seconds = clock.seconds();
    read_progress();
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128 + WTERMSIG(code);
  }

  void read_progress() {
    const Result<std::string> text = read_file(plan::progress_file(store()));
    if (!text) return;  // not begun
    const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (auto progress = decode_json<plan::PartProgress>(json))
      status_.progress = std::move(*progress);
  }

  void beat(double seconds) {
    status_.seconds = seconds;
    ++status_.beat;
    read_progress();
    // Best effort: a file system that is gone for a moment must not end the tuning.
    if (const Status written = folder_.write(status_); !written)
      say("hone: {}\n", written.error().message);
  }

  // Publishes a copy of the store as it is now, for a later attempt or for the proof.
  Status save() const { return publish_copy(folder_.checkpoint(name_)); }
  Status publish_copy(const fs::path& to) const {
    const fs::path copy = local_ / "copy.db";
    remove_store(copy);
    HONE_TRY(merge(copy, store()));
    const Status published = publish(copy, to);
    remove_store(copy);
    return published;
  }

  Result<int> finish(int code) {
    status_.exit_code = code;
    if (is_proof()) return finish_proof(code);
    if (code == 0) {
      HONE_TRY(publish_result());
      status_.state = TaskState::kFinished;
    } else {
      status_.state = code == kInterruptedCode ? TaskState::kInterrupted : TaskState::kFailed;
      status_.message = fmt::format("exit code {}: see '{}'", code, folder_.log(name_).string());
      if (number() && is_there(store())) HONE_TRY(save());
    }
    HONE_TRY(folder_.write(status_));
    return code;
  }

  Status publish_result() const {
    if (number()) return publish_copy(folder_.published(name_));
    const fs::path copy = local_ / "copy.db";
    HONE_TRY(merge(copy, store()));
    return publish_once(copy, folder_.flags()).map([](bool) {});
  }

  // Any end but an interruption is the tuning's: its output and exit code are the user's.
  Result<int> finish_proof(int code) {
    if (code == kInterruptedCode || code > 128) {
      status_.state = TaskState::kInterrupted;
      HONE_TRY(folder_.write(status_));
      return code;
    }
    HONE_TRY(publish(local_ / "stdout", folder_.proof_output()));
    if (is_there(store())) HONE_TRY(publish_copy(folder_.proof()));
    result_.exit_code = code;
    status_.state = TaskState::kFinished;
    HONE_TRY(folder_.write(status_));
    HONE_TRY(write_file_atomically(folder_.proof_result(), nlohmann::json(result_).dump(1) + "\n"));
    return code;
  }

  const Folder& folder_;
  std::string name_;
  fs::path local_;
  int stop_fd_;
  TaskStatus status_;
  FleetResult result_;
};

}  // namespace

Result<int> run_task(const Folder& folder, const std::string& name, std::string_view version,
                     int stop_fd) {
  if (std::ranges::count(folder.tasks(), name) == 0)
    return input_error("'{}' is no task of '{}': there are 1 to {}{}, flags and proof", name,
                       folder.path().string(), folder.plan().tasks,
                       folder.plan().compiles ? ", compile-1 and so on" : "");
  // Requeued after its end, or begun after Ctrl-C.
  if (is_there(folder.published(name))) return 0;
  if (folder.is_cancelled()) return kInterruptedCode;
  stay_on_given_cores();
  TaskStatus status{.task = name, .host = host_name(), .version = std::string(version)};
  HONE_ASSIGN(const std::optional<TaskStatus> before, folder.status(name));
  if (before) {
    status.attempts = before->attempts + 1;
    status.beat = before->beat + 1;
  }
  HONE_ASSIGN(const TemporaryFolder local, TemporaryFolder::create("hone-task-"));
  Task task(folder, name, local.path(), stop_fd);
  Result<int> code = task.run(std::move(status));
  if (!code) task.tell(code.error());
  return code;
}

}  // namespace hone::fleet
