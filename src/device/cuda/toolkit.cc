#include "device/cuda/toolkit.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/python_environments.h"

namespace hone::device::cuda {
namespace {

namespace fs = std::filesystem;

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code error;
  if (!folder.empty() && fs::is_directory(folder, error)) folders.push_back(folder);
}

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? fs::path(value) : fs::path();
}

std::vector<fs::path> path_folders() {
  std::vector<fs::path> folders;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    add(folders, rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

// Adds the toolkits that Python packages install below `prefix`/lib/python3.N/site-packages.
void add_packages(std::vector<fs::path>& folders, const fs::path& prefix) {
  std::error_code error;
  if (prefix.empty()) return;
  for (const auto& python : fs::directory_iterator(prefix / "lib", error)) {
    if (python.path().filename().string().rfind("python3", 0) != 0) continue;
    for (const char* kind : {"site-packages", "dist-packages"}) {
      const fs::path packages = python.path() / kind;
      for (const char* part :
           {"nvidia/cu13", "nvidia/cuda_nvcc", "nvidia/cuda_nvrtc", "nvidia/cublas"})
        add(folders, packages / part);
      add(folders, packages / "triton/backends/nvidia");
    }
  }
}

}  // namespace

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  add(folders, variable("CUDA_HOME"));
  add(folders, variable("CUDA_PATH"));
  // Search the Python environments in which the compilers are found too.
  for (const fs::path& prefix : python_environments()) add_packages(folders, prefix);
  add_packages(folders, variable("VIRTUAL_ENV"));
  for (const fs::path& folder : path_folders())
    if (is_program(folder / "python3")) {
      add_packages(folders, folder.parent_path());
      // PATH may have a link into a virtual environment, whose packages lie where that link points.
      // Only one link is followed, since the environment's own python3 is a link out of it again.
      std::error_code error;
      const fs::path target = fs::read_symlink(folder / "python3", error);
      if (!error && target.is_absolute()) add_packages(folders, target.parent_path().parent_path());
      break;
    }
  add(folders, "/usr/local/cuda");
  return folders;
}

std::vector<std::string> library_names(const std::vector<std::string>& files) {
  std::vector<std::string> names = files;
  for (const fs::path& folder : toolkit_folders())
    for (const char* part : {"lib64", "lib"})
      for (const std::string& file : files)
        if (std::error_code error; fs::exists(folder / part / file, error))
          names.push_back(folder / part / file);
  return names;
}

fs::path find_tool(std::string_view name) {
  for (const fs::path& folder : path_folders())
    if (is_program(folder / name)) return folder / name;
  for (const fs::path& folder : toolkit_folders())
    if (is_program(folder / "bin" / name)) return folder / "bin" / name;
  return {};
}

}  // namespace hone::device::cuda
