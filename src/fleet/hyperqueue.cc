#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/process.h"
#include "base/python_environments.h"
#include "base/text.h"
#include "fleet/launcher.h"

namespace hone::fleet {
namespace {

constexpr ProcessLimits kApiLimits{.seconds = 60};

// The Python that has the wheel: beside hone, in .venv, or the one on PATH.
std::string python() {
  for (const std::filesystem::path& prefix : python_environments()) {
    std::error_code code;
    const std::filesystem::path found = prefix / "bin" / "python";
    if (std::filesystem::exists(found, code)) return found.string();
  }
  return "python3";
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t from = text.rfind('\n', end);
  return text.substr(from == std::string::npos ? 0 : from + 1,
                     end - (from == std::string::npos ? 0 : from + 1) + 1);
}

// Last line that the script prints. Environment errors: Python or the wheel is missing, or no
// server answers.
Result<std::string> ask_api(const std::string& action, const std::string& argument) {
  const char* const server = std::getenv("HQ_SERVER_DIR");
  HONE_ASSIGN(const ProcessResult ran,
              run_process({{python(), "-c", std::string(python_sources().front().text), action,
                            server == nullptr ? "" : server, argument}},
                          kApiLimits));
  if (ran.succeeded()) return last_line(ran.standard_output.text());
  const std::string said = last_line(readable(ran.standard_error.text()));
  return environment_error(
      "HyperQueue refuses: {}; --launcher hq needs its wheel (pip install hyperqueue) and a server "
      "(hq server start, $HQ_SERVER_DIR)",
      said.empty() ? describe(ran, kApiLimits) : said);
}

class HyperQueue final : public Launcher {
 public:
  std::string script(const Folder& folder, const JobRequest& request) const override {
    std::string text;
    for (const nlohmann::json& task : job_of(folder, request)["tasks"]) {
      std::string line;
      for (const nlohmann::json& word : task["words"])
        line += (line.empty() ? "" : " ") + shell_word(word.get<std::string>());
      text += line + "\n";
    }
    return text;
  }

  Result<std::vector<SubmittedJob>> submit(const Folder& folder,
                                           const std::vector<JobRequest>& requests) override {
    nlohmann::json jobs = nlohmann::json::array();
    for (const JobRequest& request : requests) jobs.push_back(job_of(folder, request));
    HONE_ASSIGN(const std::string id, ask_api("submit", jobs.dump()));
    // A single job of HyperQueue holds all.
    std::vector<SubmittedJob> submitted;
    for (const JobRequest& request : requests) submitted.push_back({request.name, id});
    return submitted;
  }

  Result<std::set<std::string>> alive(const std::vector<SubmittedJob>& jobs) override {
    if (jobs.empty()) return std::set<std::string>();
    HONE_ASSIGN(const std::string goes_on, ask_api("alive", jobs.front().id));
    // The API does not tell the tasks apart: the last one, at least, goes on.
    if (goes_on == "true") return std::set<std::string>{jobs.back().name};
    return std::set<std::string>();
  }

  // The API cannot cancel. The tasks look for the folder's cancel file, and end themselves.
  Status cancel(const std::vector<SubmittedJob>&) override { return {}; }

 private:
  static nlohmann::json job_of(const Folder& folder, const JobRequest& request) {
    nlohmann::json tasks = nlohmann::json::array();
    for (const std::string& name : request.tasks)
      tasks.push_back(
          {{"name", "hone-" + name},
           {"folder", folder.plan().folder},
           {"log", folder.log(name).string()},
           {"words", {folder.plan().executable, "fleet", "task", folder.path().string(), name}}});
    return {{"tasks", std::move(tasks)}};
  }
};

}  // namespace

std::unique_ptr<Launcher> hyperqueue() {
  return std::make_unique<HyperQueue>();
}

}  // namespace hone::fleet
