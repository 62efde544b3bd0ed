#include "provider/triton/installation.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/process.h"
#include "base/python_environments.h"

namespace hone::triton {
namespace {

namespace fs = std::filesystem;

// Versions whose launches are known: hidden arguments, tensor descriptors (problem/launch.h).
constexpr int kMajor = 3, kOldestMinor = 5, kNewestMinor = 9;
constexpr std::string_view kHowToGet =
    "install it with 'python3 -m pip install triton==3.9.0', or name an interpreter that has it "
    "with --triton or HONE_TRITON";
// Prints the version, or nothing; importing Triton itself would take a second.
constexpr const char* kProbe =
    "import importlib.metadata as m, importlib.util as u\n"
    "print(m.version('triton') if u.find_spec('triton') else '')";

std::optional<Installation> look_at(const fs::path& place) {
  std::error_code code;
  const fs::path python = fs::is_directory(place, code) ? place / "bin" / "python3" : place;
  if (python.has_parent_path() && !fs::exists(python, code)) return std::nullopt;
  const auto printed = run_process({{python.string(), "-c", kProbe}}, {.seconds = 20});
  if (!printed || !printed->succeeded()) return std::nullopt;
  std::string version = printed->standard_output.text();
  while (!version.empty() && version.back() == '\n') version.pop_back();
  if (version.empty()) return std::nullopt;
  return Installation{python, version};
}

std::vector<fs::path> usual_places() {
  std::vector<fs::path> places = python_environments();
  places.push_back("python3");
  return places;
}

Result<Installation> checked(Installation installation) {
  int major = 0, minor = 0;
  std::sscanf(installation.version.c_str(), "%d.%d", &major, &minor);
  if (major == kMajor && minor >= kOldestMinor && minor <= kNewestMinor) return installation;
  return advised(environment_error("Triton {} of '{}' is not one that hone knows ({}.{} to {}.{})",
                                   installation.version, installation.python.string(), kMajor,
                                   kOldestMinor, kMajor, kNewestMinor),
                 kHowToGet);
}

}  // namespace

Result<Installation> find_installation(const std::string& given) {
  const char* variable = std::getenv("HONE_TRITON");
  const auto named = [](const char* by, const std::string& place) -> Result<Installation> {
    if (auto found = look_at(place)) return checked(std::move(*found));
    return advised(
        environment_error("{} '{}' is no Python interpreter or virtual environment with Triton", by,
                          place),
        kHowToGet);
  };
  if (!given.empty()) return named("--triton", given);
  if (variable != nullptr && *variable != '\0') return named("HONE_TRITON", variable);
  for (const fs::path& place : usual_places())
    if (auto found = look_at(place)) return checked(std::move(*found));
  return advised(environment_error("no Triton found"), kHowToGet);
}

}  // namespace hone::triton
