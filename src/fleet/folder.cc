#include "fleet/folder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"

namespace hone::fleet {
namespace {

namespace fs = std::filesystem;

template <class T>
Result<T> read_json(const fs::path& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  try {
    return nlohmann::json::parse(text).get<T>();
  } catch (const nlohmann::json::exception& error) {
    return input_error("'{}' cannot be read: {}; remove the folder and submit again", path.string(),
                       error.what());
  }
}

template <class T>
Status write_json(const fs::path& path, const T& value) {
  return write_file_atomically(path, nlohmann::json(value).dump(1) + "\n");
}

// Says what the file system must be able to do, where trying it failed with `code`.
tl::unexpected<Error> unfit(const fs::path& path, std::string_view lacking, std::string_view why) {
  return environment_error(
      "'{}' cannot hold a fleet folder: {} ({}); it needs a shared file system with atomic renames "
      "and hard links (NFS, Lustre, BeeGFS, GPFS): name one by --fleet FOLDER",
      path.string(), lacking, why);
}

// Tries what publishing needs: a rename over a file that is there, and a link that refuses to
// replace one.
Status try_file_system(const fs::path& path) {
  const fs::path file = path / "try.1", other = path / "try.2";
  const auto remove = [&] {
    std::error_code code;
    fs::remove(file, code);
    fs::remove(other, code);
  };
  remove();
  for (const char* text : {"first", "second"})
    if (const Status written = write_file_atomically(file, text); !written) {
      remove();
      return unfit(path, "a file cannot be renamed over another", written.error().message);
    }
  const bool linked = ::link(file.c_str(), other.c_str()) == 0;
  const int refused = errno;
  const bool kept = linked && ::link(file.c_str(), other.c_str()) != 0 && errno == EEXIST;
  const Result<std::string> text = read_file(file);
  remove();
  if (!linked) return unfit(path, "a file cannot be linked", std::strerror(refused));
  if (!kept) return unfit(path, "a link replaces a file that is there", "link() did not refuse");
  if (!text || *text != "second")
    return unfit(path, "a renamed file cannot be read back", text ? *text : text.error().message);
  return {};
}

// Whether both describe the same tuning.
bool is_same(const FleetPlan& a, const FleetPlan& b) {
  return a.version == b.version && a.words == b.words && a.folder == b.folder &&
         a.tasks == b.tasks && a.flags == b.flags && a.compiles == b.compiles;
}

Status copy_beside(const fs::path& from, const fs::path& to, std::string& temporary) {
  HONE_ASSIGN(const std::string bytes, read_file(from));
  temporary = fmt::format("{}.{}", to.string(), ::getpid());
  return write_file_atomically(temporary, bytes);
}

}  // namespace

Result<Folder> Folder::create(const fs::path& path, FleetPlan plan) {
  if (is_there(path / "plan.json")) {
    HONE_ASSIGN(Folder folder, open(path, plan.version));
    if (!is_same(folder.plan_, plan))
      return input_error(
          "'{}' holds another tuning ({}): name another folder by --fleet, or remove it",
          path.string(), folder.plan_.command);
    return folder;
  }
  std::error_code code;
  if (is_there(path) && !fs::is_empty(path, code))
    return input_error("'{}' is no fleet folder, and not empty: name another one by --fleet",
                       path.string());
  for (const char* name : {"compiled", "shards", "checkpoints", "status", "winner", "log"})
    if (fs::create_directories(path / name, code); code)
      return environment_error("cannot make the folder '{}': {}", (path / name).string(),
                               code.message());
  Folder folder(path, std::move(plan));
  folder.is_new_ = true;
  Status ready = try_file_system(path);
  if (ready) ready = write_json(path / "plan.json", folder.plan_);
  if (ready) return folder;
  fs::remove_all(path, code);
  return tl::unexpected(ready.error());
}

Result<Folder> Folder::open(const fs::path& path, std::string_view version) {
  if (!is_there(path / "plan.json"))
    return input_error("'{}' is no fleet folder: it has no plan.json", path.string());
  HONE_ASSIGN(FleetPlan plan, read_json<FleetPlan>(path / "plan.json"));
  if (plan.version != version)
    return input_error(
        "'{}' is of hone {}, and this is hone {}: use that one, or remove the folder and submit "
        "again",
        path.string(), plan.version, version);
  return Folder(path, std::move(plan));
}

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

fs::path Folder::published(const std::string& task) const {
  if (task == kFlagsTask) return path_ / "winner" / "flags.db";
  if (task == kProofTask) return path_ / "proof.json";
  const bool compiles = task.starts_with(kCompilePrefix);
  return path_ / (compiles ? "compiled" : "shards") / (number_of(task).value_or(task) + ".db");
}
std::string compile_task_of(const std::string& shard) {
  return std::string(kCompilePrefix) + shard;
}

std::optional<std::string> number_of(std::string_view task) {
  if (task.starts_with(kCompilePrefix)) task.remove_prefix(kCompilePrefix.size());
  const bool is_number =
      !task.empty() && task.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::optional(std::string(task)) : std::nullopt;
}

fs::path Folder::checkpoint(const std::string& task) const {
  return path_ / "checkpoints" / (task + ".db");
}
fs::path Folder::status_file(const std::string& task) const {
  return path_ / "status" / (task + ".json");
}
fs::path Folder::log(const std::string& task) const {
  return path_ / "log" / (task + ".txt");
}
fs::path Folder::script(const std::string& job) const {
  return path_ / (job + ".sbatch");
}

std::vector<std::string> Folder::shards() const {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= plan_.tasks; ++i) names.push_back(std::to_string(i));
  return names;
}

std::vector<std::string> Folder::compiles() const {
  if (!plan_.compiles) return {};
  return mapped(shards(), compile_task_of);
}

std::vector<std::string> Folder::tasks() const {
  std::vector<std::string> names{std::string(kFlagsTask)};
  for (const std::vector<std::string>& numbered : {compiles(), shards()})
    names.insert(names.end(), numbered.begin(), numbered.end());
  names.emplace_back(kProofTask);
  return names;
}

std::vector<std::string> Folder::missing() const {
  std::vector<std::string> names = shards();
  std::erase_if(names, [this](const std::string& name) { return is_there(published(name)); });
  return names;
}

bool Folder::is_cancelled() const {
  return is_there(cancel_file());
}

Result<std::optional<TaskStatus>> Folder::status(const std::string& task) const {
  if (!is_there(status_file(task))) return std::nullopt;
  return read_json<TaskStatus>(status_file(task));
}

Status Folder::write(const TaskStatus& status) const {
  return write_json(status_file(status.task), status);
}

Result<std::vector<SubmittedJob>> Folder::jobs() const {
  if (!is_there(path_ / "jobs.json")) return std::vector<SubmittedJob>();
  return read_json<std::vector<SubmittedJob>>(path_ / "jobs.json");
}

Status Folder::write(const std::vector<SubmittedJob>& jobs) const {
  return write_json(path_ / "jobs.json", jobs);
}

Result<std::optional<FleetResult>> Folder::result() const {
  if (!is_there(proof_result())) return std::nullopt;
  return read_json<FleetResult>(proof_result());
}

Status publish(const fs::path& from, const fs::path& to) {
  HONE_ASSIGN(const std::string bytes, read_file(from));
  return write_file_atomically(to, bytes);
}

Result<bool> publish_once(const fs::path& from, const fs::path& to) {
  std::string temporary;
  HONE_TRY(copy_beside(from, to, temporary));
  const bool linked = ::link(temporary.c_str(), to.c_str()) == 0;
  const int refused = errno;
  std::error_code code;
  fs::remove(temporary, code);
  if (linked) return true;
  if (refused == EEXIST) return false;
  return environment_error("cannot publish '{}': {}", to.string(), std::strerror(refused));
}

}  // namespace hone::fleet
