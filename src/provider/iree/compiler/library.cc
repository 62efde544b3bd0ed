#include "provider/iree/compiler/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/file.h"
#include "base/python_environments.h"
#include "provider/iree/compiler/in_process_linker.h"

namespace hone::iree {
namespace {

namespace fs = std::filesystem;

constexpr char kHowToGet[] =
    "get it with `pip install iree-base-compiler==3.13.0 iree-base-runtime==3.13.0` where hone is "
    "installed, or with `./scripts/setup` in hone's sources; one that is elsewhere is named by "
    "--iree or HONE_IREE";
constexpr int kOldest[2] = {3, 13};
constexpr char kLibraryName[] = "libIREECompiler.so";

bool is_there(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

// The site-packages folders of a Python prefix: <prefix>/lib/python3.*/{site,dist}-packages.
std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", code)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    folders.push_back(entry.path() / "site-packages");
    folders.push_back(entry.path() / "dist-packages");
  }
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

std::string wheel_version(const fs::path& packages) {
  const auto text = read_file(packages / "iree" / "compiler" / "version.py");
  if (!text) return {};
  constexpr std::string_view kKey = "VERSION = \"";
  const auto at = text->find(kKey);
  if (at == std::string::npos) return {};
  const auto begin = at + kKey.size();
  return text->substr(begin, text->find('"', begin) - begin);
}

Installation in_packages(const fs::path& library) {
  const fs::path tools = library.parent_path();                               // _mlir_libs
  const fs::path packages = tools.parent_path().parent_path().parent_path();  // site-packages
  const fs::path runtime = packages / "iree" / "_runtime_libs";
  const auto present = [](const fs::path& path) { return is_there(path) ? path : fs::path(); };
  const auto runtime_tool = [&](const char* name) {
    const fs::path tool = present(runtime / name);
    return tool.empty() ? present(tools / name) : tool;
  };
  return {.compiler_library = library,
          .iree_compile = present(tools / "iree-compile"),
          .iree_lld = present(tools / "iree-lld"),
          .benchmark_module = runtime_tool("iree-benchmark-module"),
          .benchmark_executable = runtime_tool("iree-benchmark-executable"),
          .run_module = runtime_tool("iree-run-module"),
          .dump_module = runtime_tool("iree-dump-module"),
          .version = wheel_version(packages)};
}

// An installation at `place`: the library, its folder, a site-packages folder or a prefix of one.
std::optional<Installation> look_at(const fs::path& place) {
  std::error_code code;
  const fs::path absolute = fs::absolute(place, code);
  if (fs::is_regular_file(absolute, code) && absolute.filename() == kLibraryName)
    return in_packages(absolute);
  if (is_there(absolute / kLibraryName)) return in_packages(absolute / kLibraryName);
  std::vector<fs::path> folders = package_folders(absolute);
  folders.insert(folders.begin(), absolute);
  for (const fs::path& folder : folders) {
    const fs::path library = folder / "iree" / "compiler" / "_mlir_libs" / kLibraryName;
    if (is_there(library)) return in_packages(library);
  }
  return std::nullopt;
}

std::vector<fs::path> usual_places() {
  std::vector<fs::path> places = python_environments();
  const char* search = std::getenv("PATH");
  std::istringstream folders(search == nullptr ? "" : search);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (is_there(fs::path(folder) / "python3")) {
      places.push_back(fs::path(folder).parent_path());
      break;
    }
  if (const char* home = std::getenv("HOME")) places.push_back(fs::path(home) / ".local");
  return places;
}

Status check_version(const Installation& installation) {
  int major = 0, minor = 0;
  // A library outside a wheel has no version file; its symbols are checked when it is opened.
  if (std::sscanf(installation.version.c_str(), "%d.%d", &major, &minor) != 2) return {};
  if (std::pair(major, minor) >= std::pair(kOldest[0], kOldest[1])) return {};
  return advised(environment_error("IREE {} at '{}' is too old: hone needs {}.{} or later",
                                   installation.version, installation.compiler_library.string(),
                                   kOldest[0], kOldest[1]),
                 kHowToGet);
}

Result<Installation> checked(Installation installation) {
  HONE_TRY(check_version(installation));
  return installation;
}

}  // namespace

Result<Installation> find_installation(const std::string& given) {
  const char* variable = std::getenv("HONE_IREE");
  const auto named = [](const char* by, const std::string& place) -> Result<Installation> {
    if (auto found = look_at(place)) return checked(*found);
    return advised(environment_error("{} '{}' holds no IREE compiler (looked for {} itself and for "
                                     "iree/compiler/_mlir_libs/{} below it)",
                                     by, place, kLibraryName, kLibraryName),
                   kHowToGet);
  };
  if (!given.empty()) return named("--iree", given);
  if (variable != nullptr && *variable != '\0') return named("HONE_IREE", variable);
  for (const fs::path& place : usual_places())
    if (auto found = look_at(place)) return checked(*found);
  return advised(environment_error("no IREE compiler found"), kHowToGet);
}

Installation find_runtime() {
  std::vector<fs::path> places = usual_places();
  const char* variable = std::getenv("HONE_IREE");
  if (variable != nullptr && *variable != '\0') places.insert(places.begin(), variable);
  for (const fs::path& place : places) {
    std::vector<fs::path> folders = package_folders(place);
    folders.insert(folders.begin(), place);
    for (const fs::path& folder : folders)
      if (is_there(folder / "iree" / "_runtime_libs" / "iree-run-module"))
        return in_packages(folder / "iree" / "compiler" / "_mlir_libs" / kLibraryName);
  }
  return {};
}

Result<CompilerLibrary> CompilerLibrary::open(const Installation& installation) {
  const std::string path = installation.compiler_library.string();
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return advised(environment_error("cannot open IREE's compiler '{}': {}", path, ::dlerror()),
                   kHowToGet);
  auto api = std::make_shared<CApi>();
  std::vector<std::string> missing;
  const auto resolve = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr) missing.emplace_back(name);
  };
#define HONE_IREE_RESOLVE(result, name, arguments) resolve(api->name, #name);
  HONE_IREE_FUNCTIONS(HONE_IREE_RESOLVE)
#undef HONE_IREE_RESOLVE
  if (!missing.empty())
    return advised(
        environment_error(
            "IREE's compiler '{}' (version {}) does not have {}: hone needs {}.{} or later", path,
            installation.version.empty() ? "unknown" : installation.version,
            fmt::join(missing, ", "), kOldest[0], kOldest[1]),
        kHowToGet);
  api->ireeCompilerGlobalInitialize();
  CompilerLibrary library;
  library.revision_ = std::make_shared<std::string>(api->ireeCompilerGetRevision());
  library.api_ = std::move(api);
  library.process_flags_ = std::make_shared<std::vector<std::string>>();
  library.links_in_process_ = iree::links_in_process();
  library.installation_ = std::make_shared<Installation>(installation);
  return library;
}

bool CompilerLibrary::has_option(std::string_view name) const {
  const int file = ::open(installation_->compiler_library.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat facts {};
  bool found = false;
  if (::fstat(file, &facts) == 0 && facts.st_size > 0) {
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const std::string text = '\0' + std::string(name) + '\0';
      found = ::memmem(bytes, size, text.data(), text.size()) != nullptr;
      ::munmap(bytes, size);
    }
  }
  ::close(file);
  return found;
}

Status CompilerLibrary::set_process_flags(const std::vector<std::string>& flags) const {
  if (*process_flags_ == flags) return {};
  if (!process_flags_->empty())
    return failure("this process compiles with '{}' and cannot change to '{}'",
                   fmt::join(*process_flags_, " "), fmt::join(flags, " "));
  *process_flags_ = flags;
  std::vector<const char*> arguments{"hone"};
  for (const std::string& flag : flags) arguments.push_back(flag.c_str());
  constexpr bool kInstallSignalHandlers = false;
  api_->ireeCompilerSetupGlobalCL(static_cast<int>(arguments.size()), arguments.data(), "hone",
                                  kInstallSignalHandlers);
  return {};
}

Command python_of(const std::filesystem::path& packages, std::vector<std::string> arguments) {
  const auto version = packages.parent_path();
  const auto own = version.parent_path().parent_path() / "bin" / "python3";
  std::error_code code;
  // Wherever else the folder lies, a Python that stands above it by chance is not its own.
  const bool has_own =
      version.filename().string().starts_with("python3") && std::filesystem::exists(own, code);
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), has_own ? own.string() : "python3");
  if (!has_own) command.environment.emplace_back("PYTHONPATH", packages.string());
  return command;
}

Command python_of(const std::filesystem::path& packages, std::string_view file,
                  std::vector<std::string> arguments) {
  const auto source = std::ranges::find(python_sources(), file, &EmbeddedFile::name);
  arguments.insert(arguments.begin(), {"-c", std::string(source->text)});
  return python_of(packages, std::move(arguments));
}

}  // namespace hone::iree
