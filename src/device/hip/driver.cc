#include "device/hip/driver.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/python_environments.h"
#include "device/library.h"

namespace hone::device::hip {
namespace {

namespace fs = std::filesystem;
using gpu::DriverApi;
using gpu::DriverCode;

// hipErrorNoDevice, and hipErrorInvalidDevice, with which hipInit of HIP 5 says the same.
constexpr DriverCode kNoDevice = 100, kInvalidDevice = 101;

constexpr std::array kEndings{".so.7", ".so.6", ".so.5", ".so"};

void add_existing(std::vector<std::string>& names, const fs::path& folder,
                  const std::string& file) {
  for (const char* ending : kEndings)
    if (std::error_code error; fs::exists(folder / (file + ending), error))
      names.push_back((folder / (file + ending)).string());
}

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? fs::path(value) : fs::path();
}

std::vector<std::string> given_names(const std::string& file, const fs::path& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) return {given.string()};
  std::vector<std::string> names;
  for (const fs::path& folder : {given, given / "lib", given / "lib64"})
    add_existing(names, folder, file);
  // So that the message names what was looked for.
  if (names.empty()) names.push_back((given / (file + ".so")).string());
  return names;
}

Status missing_function(const SharedLibrary& library, const char* symbol) {
  return environment_error(
      "{} has no function {}: it is no HIP runtime of version {} or later; name another with --hip "
      "or HONE_HIP",
      library.name(), symbol, kOldestMajor);
}

// The words of hipGetErrorName and hipGetErrorString, which return them.
Result<Driver::ErrorWords> error_words(const SharedLibrary& library) {
  using Words = const char* (*)(DriverCode code);
  Words name = nullptr, text = nullptr;
  if (!library.find("hipGetErrorName", name))
    HONE_TRY(missing_function(library, "hipGetErrorName"));
  if (!library.find("hipGetErrorString", text))
    HONE_TRY(missing_function(library, "hipGetErrorString"));
  return [name, text](DriverCode code) {
    const char *known = name(code), *words = text(code);
    return fmt::format("{} ({})", words != nullptr ? words : "no words",
                       known != nullptr ? known : "an unknown error");
  };
}

template <class Function>
std::string path_of(Function function, const std::string& otherwise) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(function), &info) == 0 || info.dli_fname == nullptr)
    return otherwise;
  std::error_code error;
  const fs::path path = fs::absolute(info.dli_fname, error);
  return error ? otherwise : path.string();
}

// A kernel's fault is a failed candidate, not a dump of the GPU's memory.
void expect_faults() {
  setenv("HIP_SKIP_ABORT_ON_GPU_ERROR", "1", /*replace=*/0);
  rlimit none{};
  if (getrlimit(RLIMIT_CORE, &none) != 0) return;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &none);
}

}  // namespace

std::string version_text(int version) {
  return fmt::format("{}.{}.{}", version / kVersionsOfAMajor,
                     version % kVersionsOfAMajor / kVersionsOfAMinor, version % kVersionsOfAMinor);
}

std::vector<std::string> library_names(const std::string& file, const std::string& given) {
  if (!given.empty()) return given_names(file, given);
  std::vector<std::string> names;
  const std::vector<fs::path> packages = python_packages();
  for (const fs::path& folder : packages) add_existing(names, folder / "_rocm_sdk_core/lib", file);
  for (const fs::path& folder : packages) add_existing(names, folder / "torch/lib", file);
  for (const fs::path& folder : path_folders("LD_LIBRARY_PATH")) add_existing(names, folder, file);
  for (const char* root : {"HIP_PATH", "ROCM_PATH"})
    if (const fs::path folder = variable(root); !folder.empty())
      add_existing(names, folder / "lib", file);
  for (const char* ending : kEndings) names.push_back(file + ending);
  add_existing(names, "/opt/rocm/lib", file);
  return names;
}

Result<std::shared_ptr<Driver>> open_driver(const std::string& given) {
  expect_faults();
  const std::string named = given.empty() ? variable("HONE_HIP").string() : given;
  const auto opened = SharedLibrary::open(library_names("libamdhip64", named));
  if (!opened)
    return environment_error(
        "AMD's HIP runtime is not available ({}): install ROCm, or name libamdhip64.so with --hip "
        "or HONE_HIP",
        opened.error().message);
  DriverApi api;
#define HONE_HIP_FIND(member, symbol) \
  if (!opened->find(symbol, api.member)) HONE_TRY(missing_function(*opened, symbol));
  HONE_HIP_CALLS(HONE_HIP_FIND)
#undef HONE_HIP_FIND
  HONE_ASSIGN(Driver::ErrorWords words, error_words(*opened));
  const std::string library = path_of(api.init, opened->name());
  auto driver = std::make_shared<Driver>(api, std::move(words), library);
  const std::string problem = access_problem();
  HONE_TRY(driver->start(fmt::format("the HIP runtime {}", library),
                         fmt::format("the HIP runtime {} finds no AMD GPU on this machine{}{}",
                                     library, problem.empty() ? "" : ": ", problem),
                         {kNoDevice, kInvalidDevice}));
  if (driver->version() < kOldestMajor * kVersionsOfAMajor)
    return environment_error("the HIP runtime {} is too old: it is HIP {}, hone needs {} or later",
                             library, version_text(driver->version()), kOldestMajor);
  return driver;
}

Result<std::string> isa_of(Driver& driver, int index) {
  HONE_ASSIGN(const SharedLibrary library, SharedLibrary::open({driver.library()}));
  DriverCode (*properties)(void* properties, int index) = nullptr;
  for (const PropertiesLayout& layout : {kPropertiesR0600, kPropertiesR0000}) {
    if (!library.find(layout.symbol, properties)) continue;
    // A later version may write more.
    std::vector<char> bytes(4 * layout.bytes);
    HONE_TRY(driver.check(properties(bytes.data(), index),
                          fmt::format("asking for the properties of hip:{}", index)));
    const char* const begin = bytes.data() + layout.arch_name;
    const std::string isa(begin, strnlen(begin, bytes.size() - layout.arch_name));
    if (isa.starts_with("gfx")) return isa;
    return failure("the HIP runtime {} states no architecture of hip:{}", driver.library(), index);
  }
  return missing_function(library, kPropertiesR0000.symbol).map([] { return std::string(); });
}

std::string access_problem(const fs::path& root) {
  const auto is_closed = [](const fs::path& file) {
    std::error_code error;
    return fs::exists(file, error) && access(file.c_str(), R_OK | W_OK) != 0;
  };
  std::vector<fs::path> files{root / "dev/kfd"};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "dev/dri", error))
    if (entry.path().filename().string().starts_with("renderD")) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files)
    if (is_closed(file))
      return fmt::format(
          "this user may not open {}; sudo usermod -aG render,video $USER, then log in again",
          file.string());
  return {};
}

}  // namespace hone::device::hip
