#include "base/python_environments.h"

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

}  // namespace hone
