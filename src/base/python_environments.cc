#include "base/python_environments.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

namespace hone {

namespace fs = std::filesystem;

std::vector<fs::path> python_environments(const fs::path& executable,
                                          const fs::path& working_folder) {
  std::vector<fs::path> prefixes;
  const fs::path own = executable.parent_path();
  if (own.filename() == "bin") prefixes.push_back(own.parent_path());
  for (fs::path folder = own; folder.has_relative_path(); folder = folder.parent_path())
    prefixes.push_back(folder / ".venv");
  prefixes.push_back(working_folder / ".venv");
  return prefixes;
}

std::vector<fs::path> python_environments() {
  std::error_code code;
  const fs::path executable = fs::read_symlink("/proc/self/exe", code);
  return python_environments(executable, fs::current_path(code));
}

namespace {

// Adds the folders of packages below `prefix`/lib/python3.N.
void add_packages(std::vector<fs::path>& folders, const fs::path& prefix) {
  std::error_code error;
  if (prefix.empty()) return;
  for (const auto& python : fs::directory_iterator(prefix / "lib", error)) {
    if (python.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* kind : {"site-packages", "dist-packages"})
      if (const fs::path packages = python.path() / kind; fs::is_directory(packages, error))
        folders.push_back(packages);
  }
}

}  // namespace

std::vector<fs::path> path_folders(const char* variable) {
  std::vector<fs::path> folders;
  const char* path = std::getenv(variable);
  std::string rest = path != nullptr ? path : "";
  std::error_code error;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    if (fs::path folder = rest.substr(0, colon); fs::is_directory(folder, error))
      folders.push_back(std::move(folder));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

std::vector<fs::path> python_packages() {
  std::vector<fs::path> folders;
  for (const fs::path& prefix : python_environments()) add_packages(folders, prefix);
  if (const char* active = std::getenv("VIRTUAL_ENV")) add_packages(folders, active);
  for (const fs::path& folder : path_folders()) {
    const fs::path python = folder / "python3";
    std::error_code error;
    if (!fs::is_regular_file(python, error) || access(python.c_str(), X_OK) != 0) continue;
    add_packages(folders, folder.parent_path());
    // PATH may have a link into a virtual environment, whose packages lie where that link points.
    // Only one link is followed, since the environment's own python3 is a link out of it again.
    const fs::path target = fs::read_symlink(python, error);
    if (!error && target.is_absolute()) add_packages(folders, target.parent_path().parent_path());
    break;
  }
  return folders;
}

}  // namespace hone
