#include "tests/worker/behaviours.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "base/process_tree.h"
#include "worker/compile_pool.h"

namespace hone::worker {
namespace {

nlohmann::json prepared_state;

[[noreturn]] void die_of(int signal) {
  std::fprintf(stderr, "about to die of %d\n", signal);
  ::signal(signal, SIG_DFL);  // sanitizers catch some
  ::raise(signal);
  std::abort();
}

[[noreturn]] void hang() {
  while (true) {
    volatile unsigned spins = 0;
    (void)spins;
  }
}

[[noreturn]] void eat_memory() {
  while (true) {
    constexpr std::size_t kBytes = std::size_t{16} << 20;
    auto* block = static_cast<volatile char*>(std::malloc(kBytes));
    for (std::size_t i = 0; i < kBytes; i += 4096) block[i] = 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void flood() {
  const std::string line(std::size_t{1} << 16, 'x');
  std::fprintf(stderr, "first words\n");
  for (int i = 0; i < 1 << 14; ++i)
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  std::fprintf(stderr, "\nlast words\n");
}

// A grandchild that executes another program, as a compiler's linker does.
pid_t start_sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(127);
  }
  return pid;
}

pid_t start_daemon() {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t middle = ::fork();
  if (middle == 0) {
    ::setsid();
    const pid_t pid = start_sleeper();
    if (::write(ends[1], &pid, sizeof pid) < 0) ::_exit(1);
    ::_exit(0);
  }
  ::waitpid(middle, nullptr, 0);
  pid_t pid = -1;
  if (::read(ends[0], &pid, sizeof pid) < 0) return -1;
  return pid;
}

void fill_folder() {
  const std::filesystem::path folder = std::getenv("TMPDIR");
  std::filesystem::create_directories(folder / "a" / "b");
  std::ofstream(folder / "a" / "b" / "linked.o") << "code";
  std::ofstream(folder / "c.ll") << "text";
}

// Raw bytes to the parent; its socket is the only one among this process's descriptors.
void send_raw(std::string_view bytes) {
  for (int fd = 3; fd < 256; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
        ::write(fd, bytes.data(), bytes.size()) > 0)
      return;
  }
}

Outcome pid_answer(pid_t pid) {
  return Message{"pid", pid, {}};
}

}  // namespace

std::vector<std::string> serving_command(const char* flag) {
  return {std::filesystem::read_symlink("/proc/self/exe"), flag};
}

Outcome behave(const Message& message) {
  const std::string& kind = message.kind;
  if (kind == "state") return Message{"state", prepared_state, {}};
  if (kind == "fail") {
    std::fprintf(stderr, "compiler: error: no\n");
    return tl::unexpected(provider::Failure{provider::FailureKind::kNotApplied, "dropped"});
  }
  if (kind == "throw") throw std::runtime_error("thrown words");
  if (kind == "segv") die_of(SIGSEGV);
  if (kind == "fpe") die_of(SIGFPE);
  if (kind == "hang") hang();
  if (kind == "sleep") std::this_thread::sleep_for(std::chrono::duration<double>(message.body));
  if (kind == "eat") eat_memory();
  if (kind == "eat-below") {
    const pid_t pid = ::fork();
    if (pid == 0) eat_memory();
    ::waitpid(pid, nullptr, 0);
  }
  if (kind == "flood") flood();
  if (kind == "flood-fail") {
    flood();
    return tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, "said no"});
  }
  if (kind == "silent") ::_exit(3);
  if (kind == "garbage") {
    send_raw("this is not a message of the protocol, whatever it is");
    hang();
  }
  if (kind == "half") {
    send_raw(encode({"half", "a body", {}})->substr(0, 25));
    ::_exit(0);
  }
  if (kind == "pid") return Message{"pid", {{"pid", ::getpid()}, {"parent", ::getppid()}}, {}};
  if (kind == "grandchild") return pid_answer(start_sleeper());
  if (kind == "daemon") return pid_answer(start_daemon());
  if (kind == "files") fill_folder();
  if (kind == "files-hang") {
    fill_folder();
    start_sleeper();
    start_daemon();
    hang();
  }
  if (kind == "write") std::ofstream(std::string(message.body)) << "done";
  if (kind == "large") return Message{"large", nullptr, {std::string(message.body, 'b')}};
  if (kind == "kill-parent" ||
      (kind == "kill-parent-once" && !std::filesystem::exists(std::string(message.body)))) {
    if (kind == "kill-parent-once") std::ofstream(std::string(message.body)) << "done";
    ::kill(::getppid(), SIGKILL);
    hang();
  }
  // Killed, as by the system, or slow, as on a busy machine: each time, or the first time only.
  if (kind == "kill") ::raise(SIGKILL);
  if (kind == "kill-once" || kind == "hang-once") {
    const std::string mark = message.body;
    if (!std::filesystem::exists(mark)) {
      std::ofstream(mark) << "done";
      if (kind == "kill-once") ::raise(SIGKILL);
      hang();
    }
  }
  if (kind == "segv-second") {
    const std::string file = message.body;
    const bool second = std::filesystem::exists(file) && std::filesystem::file_size(file) == 1;
    std::ofstream(file, std::ios::app) << "x";
    if (second) ::raise(SIGSEGV);
  }
  Message answer = message;
  answer.body = {{"body", message.body}, {"tmpdir", std::getenv("TMPDIR")}};
  return answer;
}

CompileHandlers compile_behaviours() {
  CompileHandlers handlers;
  handlers.prepare = [](const Message& message) {
    prepared_state = message.body;
    return behave(message);
  };
  handlers.run = behave;
  handlers.once = behave;
  return handlers;
}

int tuner_main(const std::string& folder) {
  CompilePoolOptions options;
  options.command = serving_command(kServeCompile);
  options.jobs = 4;
  options.temporary = folder;
  auto pool = CompilePool::start(options);
  if (!pool || !(*pool)->prepare("d", {"files", 1, {}})) return 1;
  for (JobId id = 1; id <= 2; ++id)
    if (!(*pool)->submit("d", id, {"files-hang", nullptr, {}})) return 1;
  RunnerOptions runner_options;
  runner_options.command = serving_command(kServeRunner);
  runner_options.temporary = folder;
  RunnerProcess runner(runner_options);
  if (!runner.start()) return 1;
  std::thread call([&] { (void)runner.call({"files-hang", nullptr, {}}, 0); });
  std::thread job([&] { (void)(*pool)->once({"files-hang", nullptr, {}}); });
  // The zygote, the server, three hanging jobs and their sleepers (servers end daemons), the runner
  // and its sleeper; its daemon is no descendant.
  while (descendants_of(::getpid()).size() < 10)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::ofstream(folder + "/ready") << "ready";
  call.join();
  job.join();
  return 0;
}

}  // namespace hone::worker
