#include "provider/iree/compiler/in_process_linker.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace hone::iree {
namespace {

using LinkerMain = int (*)(int, char**);

// ireeCompilerRunLldMain of the library that holds `address`; null when that is not the compiler.
LinkerMain linker_of(const void* address) {
  Dl_info caller{};
  if (::dladdr(address, &caller) == 0 || caller.dli_fname == nullptr) return nullptr;
  void* library = ::dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto main = reinterpret_cast<LinkerMain>(::dlsym(library, "ireeCompilerRunLldMain"));
  ::dlclose(library);
  return main;
}

// Runs the linker in a fork, since it ends its process when it is done. Returns what system() does:
// a wait status, or -1. A linker killed from outside takes the caller's process, a job's, with it:
// the compiler would report an error of the candidate, but a killed job is retried.
int link_in_fork(LinkerMain main, std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before the line above
    ::setenv("LLD_VERSION", "IREE", 1);
    ::_exit(main(static_cast<int>(arguments.size()), pointers.data()));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ::raise(SIGKILL);
  return status;
}

// A lock that another thread holds at this moment would be held in a fork for ever.
bool has_one_thread() {
  std::error_code code;
  const std::filesystem::directory_iterator threads("/proc/self/task", code);
  return !code && std::distance(begin(threads), end(threads)) == 1;
}

int system_or_linker(const char* command, const void* caller) {
  if (command != nullptr && has_one_thread())
    if (const auto arguments = linker_arguments(command))
      if (const LinkerMain main = linker_of(caller)) return link_in_fork(main, *arguments);
  const auto next = reinterpret_cast<int (*)(const char*)>(::dlsym(RTLD_NEXT, "system"));
  return next == nullptr ? -1 : next(command);
}

}  // namespace

std::optional<std::vector<std::string>> linker_arguments(std::string_view command) {
  constexpr std::string_view kPrefix = "LLD_VERSION=IREE ";
  if (!command.starts_with(kPrefix) ||
      command.find_first_of("\"'\\`$&|;<>()*?[]#~{}\n") != std::string_view::npos)
    return std::nullopt;
  command.remove_prefix(kPrefix.size());
  std::vector<std::string> arguments;
  while (!command.empty()) {
    const std::size_t space = std::min(command.find(' '), command.size());
    if (space > 0) arguments.emplace_back(command.substr(0, space));
    command.remove_prefix(std::min(space + 1, command.size()));
  }
  const bool gnu = arguments.size() > 3 && arguments[1] == "-flavor" && arguments[2] == "gnu";
  if (!gnu || !arguments[0].ends_with("iree-lld")) return std::nullopt;
  // Link with one thread: a candidate is far too small to share among several.
  arguments.emplace_back("--threads=1");
  return arguments;
}

bool links_in_process() {
  return ::dlsym(RTLD_DEFAULT, "system") ==
         reinterpret_cast<void*>(static_cast<int (*)(const char*)>(&::system));
}

}  // namespace hone::iree

extern "C" int system(const char* command) {
  return hone::iree::system_or_linker(command, __builtin_return_address(0));
}
