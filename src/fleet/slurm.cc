#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/ranges.h"
#include "base/text.h"
#include "fleet/launcher.h"

namespace hone::fleet {
namespace {

// Slurm's programs wait for a controller that is down by themselves, for less than this.
constexpr ProcessLimits kLimits{.seconds = 120};
// Takes back what the user's arguments ask of nodes with devices: of options that are given twice,
// the last one counts.
constexpr std::string_view kNoDevices =
    " --gres=none --gpus=0 --gpus-per-node=0 --gpus-per-task=0 --constraint=";
// Seconds before a job's time limit at which its task writes a checkpoint and ends.
constexpr int kSecondsToStop = 60;

std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(" \n\r\t");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

// Returns the words of a program of Slurm in one line, without its name.
std::string in_one_line(const std::string& program, const std::string& text) {
  std::string line;
  for (std::string each : lines_of(text)) {
    if (const std::string prefix = program + ": error: "; each.starts_with(prefix))
      each.erase(0, prefix.size());
    if (!each.empty()) line += (line.empty() ? "" : "; ") + each;
  }
  return line;
}

// Output of a program of Slurm. `advice`: where it refuses. Environment errors: it is missing, or
// ends with an error.
Result<std::string> ask(const std::vector<std::string>& words, std::string_view advice = "") {
  Result<ProcessResult> ran = run_process({words}, kLimits);
  if (!ran)
    return environment_error("{}; --launcher slurm needs Slurm's programs: run it on a login node",
                             ran.error().message);
  const std::string said = trimmed(readable(ran->standard_error.text()));
  if (!ran->succeeded())
    return environment_error(
        "{} refuses: {}{}", words.front(),
        said.empty() ? describe(*ran, kLimits) : in_one_line(words.front(), said), advice);
  return trimmed(ran->standard_output.text());
}

class Slurm final : public Launcher {
 public:
  Slurm(std::string arguments, std::string compile_partition)
      : arguments_(std::move(arguments)), compile_partition_(std::move(compile_partition)) {}

  std::string script(const Folder& folder, const JobRequest& request) const override {
    const std::optional<std::string_view> prefix = prefix_in(request.name);
    const std::string task =
        prefix ? fmt::format("{}\"$SLURM_ARRAY_TASK_ID\"", *prefix) : request.name;
    std::string text = "#!/bin/bash\n";
    const auto option = [&](const std::string& words) { text += "#SBATCH " + words + "\n"; };
    option("--job-name=hone-" + request.name);
    option("--nodes=1 --ntasks=1");
    if (prefix) option(fmt::format("--array={}", fmt::join(mapped(request.tasks, index_of), ",")));
    const std::string log = prefix ? fmt::format("{}%a", *prefix) : request.name;
    option("--output=" + shell_word(folder.log(log).string()));
    option("--open-mode=append");
    option("--requeue");
    option(fmt::format("--signal=B:TERM@{}", kSecondsToStop));
    option("--chdir=" + shell_word(folder.plan().folder));
    if (!arguments_.empty()) option(arguments_);
    if (request.name == kCompileJob)
      option(fmt::format("--partition={}{}", shell_word(compile_partition_), kNoDevices));
    return text + fmt::format("exec {} fleet task {} {}\n", shell_word(folder.plan().executable),
                              shell_word(folder.path().string()), task);
  }

  Result<std::vector<SubmittedJob>> submit(const Folder& folder,
                                           const std::vector<JobRequest>& requests) override {
    std::vector<SubmittedJob> jobs;
    for (const JobRequest& request : requests) {
      const Result<std::string> id =
          submit_one(folder, request, jobs.empty() ? "" : jobs.back().id);
      if (id) {
        jobs.push_back({request.name, *id});
        continue;
      }
      (void)cancel(jobs);  // the reason for it is the error that counts
      return tl::unexpected(id.error());
    }
    return jobs;
  }

  Result<std::set<std::string>> alive(const std::vector<SubmittedJob>& jobs) override {
    // Without ids: an id that Slurm has forgotten would be an error.
    HONE_ASSIGN(const std::string listed,
                ask({"squeue", "--noheader", "--array", "--me", "--format=%F|%K"}));
    std::set<std::string> names;
    for (const std::string& line : lines_of(listed)) {
      const std::size_t bar = line.find('|');
      if (bar == std::string::npos) continue;
      const std::string id = line.substr(0, bar), index = trimmed(line.substr(bar + 1));
      const auto job = std::ranges::find(jobs, id, &SubmittedJob::id);
      if (job == jobs.end()) continue;
      const std::optional<std::string_view> prefix = prefix_in(job->name);
      names.insert(prefix ? std::string(*prefix) + index : job->name);
    }
    return names;
  }

  Status cancel(const std::vector<SubmittedJob>& jobs) override {
    if (jobs.empty()) return {};
    std::vector<std::string> words{"scancel"};
    // The last first: it would begin once those before it end.
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) words.push_back(job->id);
    return ask(words).map([](const std::string&) {});
  }

 private:
  // Returns the names of an array's tasks without their number; nullopt for a job of one task.
  static std::optional<std::string_view> prefix_in(std::string_view job) {
    if (job == kCompileJob) return kCompilePrefix;
    if (job == kShardsJob) return "";
    return std::nullopt;
  }
  static std::string index_of(const std::string& task) { return number_of(task).value_or(task); }

  Result<std::string> submit_one(const Folder& folder, const JobRequest& request,
                                 const std::string& after) const {
    const std::string file = folder.script(request.name).string();
    HONE_TRY(write_file_atomically(file, script(folder, request)));
    std::vector<std::string> words{"sbatch", "--parsable"};
    if (!after.empty()) words.push_back("--dependency=afterany:" + after);
    words.push_back(file);
    HONE_ASSIGN(const std::string id, ask(words, "; nothing is submitted: check --sbatch-args"));
    return id.substr(0, id.find(';'));  // "12;cluster"
  }

  std::string arguments_, compile_partition_;
};

}  // namespace

std::unique_ptr<Launcher> slurm(std::string arguments, std::string compile_partition) {
  return std::make_unique<Slurm>(std::move(arguments), std::move(compile_partition));
}

}  // namespace hone::fleet
