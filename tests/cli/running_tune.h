// `hone tune` while it runs: its processes to do something to, and what it leaves.
#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/process_tree.h"
#include "store/export.h"
#include "store/store.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {

class RunningTune : public HoneCommand {
 protected:
  // Enough that something can be done to a session in its midst.
  static constexpr int kMany = 20;

  void SetUp() override {
    HoneCommand::SetUp();
    temporary_ = folder() / "tmp";
    std::filesystem::create_directory(temporary_);
    program_ = write("small.mlir", matmul_program("64"));
  }

  // Nothing a session made outside of its store and --out, be it a process or a file, is left.
  void TearDown() override {
    tune_.reset();
    EXPECT_TRUE(holds_soon([&] { return processes_started_with(mark()).empty(); }));
    EXPECT_TRUE(holds_soon([&] { return std::filesystem::is_empty(temporary_); }));
  }

  static bool holds_soon(const std::function<bool()>& condition, int seconds = 60) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(seconds)) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return condition();
  }

  std::vector<EnvironmentChange> environment() const {
    return {{"TMPDIR", temporary_.string()}, {"HONE_TEST", folder().string()}};
  }

  // A tuning of a small product that tries `candidates`, most of which are legal and slow.
  std::vector<std::string> arguments(int candidates) const {
    return {"tune",
            program_,
            "--candidates",
            std::to_string(candidates),
            "--strategy",
            "random",
            "--budget",
            "40s",
            "--threads",
            "1",
            "--json",
            "--no-program",
            "--no-baselines",
            "--relax",
            "all",
            "--jobs",
            "1",
            "--kernel-timeout",
            "2"};
  }

  void start(const std::vector<std::string>& arguments) {
    Command with = command(arguments);
    with.environment = environment();
    auto child = ChildProcess::start(with);
    ASSERT_TRUE(child) << child.error().message;
    tune_.emplace(std::move(*child));
    words_ = Capture(std::size_t{1} << 20);
  }
  pid_t tune_pid() const { return tune_->pid(); }
  bool has_ended() { return tune_->has_ended(); }
  const std::filesystem::path& temporary() const { return temporary_; }

  // How it ended, and what it said on stdout and stderr together.
  int finish() {
    EXPECT_TRUE(holds_soon(
        [&] {
          read_available(tune_->error_pipe(), words_);
          return tune_->has_ended();
        },
        240));
    read_available(tune_->error_pipe(), words_);
    return tune_->exit_code();
  }
  std::string words() const { return words_.text(); }
  nlohmann::json result() const { return nlohmann::json::parse(words(), nullptr, false); }

  // Processes of the session whose command line has `word` ("compile", "run") as hone's worker.
  std::vector<pid_t> workers(const std::string& word) const {
    std::vector<pid_t> found;
    for (const pid_t pid : descendants_of(tune_->pid())) {
      const auto line = read_file(fmt::format("/proc/{}/cmdline", pid));
      if (line && line->find(std::string("worker\0", 7) + word) != std::string::npos)
        found.push_back(pid);
    }
    return found;
  }
  // Sends `signal` to one process and never to more: kill(2) takes -1, which stands for "there is
  // none" here, as every process there is.
  static bool strike(pid_t pid, int signal) { return pid > 1 && ::kill(pid, signal) == 0; }

  // Waits for the runner; -1 when the session ends without one.
  pid_t runner() const {
    pid_t pid = -1;
    EXPECT_TRUE(holds_soon([&] {
      const auto found = workers("run");
      pid = found.empty() ? -1 : found.front();
      return pid > 0 || ::kill(tune_->pid(), 0) != 0;
    }));
    return pid;
  }

  // Rows of the candidates that the session itself proposed.
  nlohmann::json rows() const {
    nlohmann::json chosen = nlohmann::json::array();
    auto store = store::Store::open(folder() / "hone.db", store::Mode::kReadOnly);
    if (!store) return chosen;  // a session that starts has none yet, or an empty one
    const auto all = store->candidate_rows();
    if (!all) return chosen;
    const nlohmann::json exported = store::export_json(*all);
    for (const auto& row : exported["candidates"])
      if (row["provider"] == "iree" && row["default"] == false) chosen.push_back(row);
    return chosen;
  }
  std::size_t count(const char* state) const {
    std::size_t count = 0;
    for (const auto& row : rows())
      if (row["state"] == state) ++count;
    return count;
  }
  void wait_until_measured(std::size_t candidates) const {
    ASSERT_TRUE(holds_soon([&] { return count("measured") >= candidates; }));
  }

  // Every candidate has a result, and the file is whole.
  void expect_complete(std::size_t candidates) const {
    const nlohmann::json all = rows();
    EXPECT_EQ(all.size(), candidates);
    for (const auto& row : all)
      EXPECT_TRUE(row["state"] == "measured" || row["state"] == "failed" || row["state"] == "wrong")
          << row.dump(2);
    expect_whole_store();
  }
  void expect_whole_store() const {
    const Ran check = hone({"store", "check", "hone.db"});
    EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  }

 private:
  std::string mark() const { return "HONE_TEST=" + folder().string(); }

  std::filesystem::path temporary_;
  std::string program_;
  std::optional<ChildProcess> tune_;
  Capture words_;
};

}  // namespace hone::cli
