
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/process.h"
#include "base/ranges.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::iree {
namespace {

// Flags whose values the process takes by name. The Python bindings silently ignore other flags of
// the tools, such as the kind of allocator.
constexpr std::string_view kParameters = "--parameters=", kTaskSystem = "--task_",
                           kDriver = "_dylib_path=";

struct Settings {
  std::vector<std::string> flags, parameters;
  std::string device;
};

// Returns nothing if a flag would be lost.
std::optional<Settings> settings_for(const provider::ProgramCall& call) {
  constexpr std::string_view kDevice = "--device=";
  Settings settings;
  std::vector<std::string> flags = device_flags(call.device);
  flags.insert(flags.end(), call.runtime_flags.begin(), call.runtime_flags.end());
  for (const std::string& flag : flags) {
    if (flag.starts_with(kParameters))
      settings.parameters.push_back(flag.substr(kParameters.size()));
    else if (flag.starts_with(kTaskSystem) || flag.find(kDriver) != std::string::npos)
      settings.flags.push_back(flag);
    else if (flag.starts_with(kDevice) && settings.device.empty())
      settings.device = flag.substr(kDevice.size());
    else
      return std::nullopt;
  }
  return settings;
}

// Whether NumPy has its elements, in as many bits.
bool is_in_numpy(const problem::TensorType& type) {
  using enum problem::ElementType;
  constexpr std::array kTypes{kF16, kF32, kF64, kI8, kI16, kI32, kI64};
  return std::ranges::count(kTypes, type.element) > 0;
}

// <site-packages>/iree/_runtime_libs/iree-benchmark-module
std::filesystem::path runtime_packages_of(const Installation& installation) {
  return installation.benchmark_module.parent_path().parent_path().parent_path();
}

}  // namespace

class ResidentPrograms::Process {
 public:
  // A failure in the process's words where the runtime does not start.
  static Result<std::unique_ptr<Process>> start(const Installation& installation,
                                                const provider::ProgramCall& call,
                                                const Settings& settings) {
    const nlohmann::json said{{"device", settings.device},
                              {"flags", settings.flags},
                              {"parameters", settings.parameters}};
    Command command =
        python_of(runtime_packages_of(installation), "resident_programs.py", {said.dump()});
    // The synchronous device runs on whatever core the process is on.
    if (!call.device.index && !call.device.cores.empty())
      command.arguments.insert(
          command.arguments.begin(),
          {"taskset", "-c", fmt::format("{}", fmt::join(call.device.cores, ","))});
    HONE_ASSIGN(ChildProcess child, ChildProcess::start(command));
    auto process =
        std::unique_ptr<Process>(new Process(std::move(child), {call.device, call.runtime_flags}));
    HONE_TRY(process->answer(call));
    return process;
  }

  bool serves(const provider::ProgramCall& call) const {
    return serves_.first == call.device && serves_.second == call.runtime_flags;
  }

  Result<double> time(const provider::ProgramCall& call, double seconds) {
    HONE_ASSIGN(const nlohmann::json said, ask(call, "seconds", seconds));
    const auto found = said.find("seconds");
    if (found == said.end() || !found->is_number() || !(found->get<double>() > 0))
      return failure("IREE's runtime told no time: {}", said.dump());
    return found->get<double>();
  }

  Status write_results(const provider::ProgramCall& call,
                       const std::vector<std::filesystem::path>& files) {
    return ask(call, "results", mapped(files, &std::filesystem::path::native)).map([](const auto&) {
    });
  }

 private:
  Process(ChildProcess child, std::pair<device::Address, std::vector<std::string>> serves)
      : child_(std::move(child)), serves_(std::move(serves)) {}

  // Asks for the call's time, or its results.
  Result<nlohmann::json> ask(const provider::ProgramCall& call, const std::string& what,
                             const nlohmann::json& value) {
    const nlohmann::json request{{"module", call.module.native()},
                                 {"function", call.function.name},
                                 {"inputs", mapped(call.inputs, &std::filesystem::path::native)},
                                 {what, value}};
    HONE_TRY(send(request.dump() + "\n"));
    return answer(call);
  }

  Status send(std::string_view line) {
    while (!line.empty()) {
      const ssize_t sent = ::send(child_.socket(), line.data(), line.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return ended();
      line.remove_prefix(to_index(sent));
    }
    return {};
  }

  // The next line, as JSON. A failure in the words of an error that it tells, or of how the process
  // ended.
  Result<nlohmann::json> answer(const provider::ProgramCall& call) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(call.most_seconds);
    std::size_t length = 0;
    while ((length = received_.find('\n')) == std::string::npos) {
      const std::chrono::duration<double, std::milli> left = end - Clock::now();
      if (left.count() <= 0)
        return failure("no answer of IREE's runtime in {:.0f} s", call.most_seconds);
      // Read the process's stderr while waiting: a full pipe would block the process.
      pollfd entries[] = {{child_.socket(), POLLIN, 0},
                          {printing_ ? child_.error_pipe() : -1, POLLIN, 0},
                          {call.stop_fd, POLLIN, 0}};
      if (::poll(entries, std::size(entries), static_cast<int>(left.count()) + 1) < 0) continue;
      if (entries[2].revents != 0) return tl::unexpected(Error{ErrorKind::kInterrupted, "stopped"});
      if (entries[1].revents != 0)
        printing_ = read_available(child_.error_pipe(), printed_) == ReadState::kOpen;
      if (entries[0].revents == 0) continue;
      char bytes[4096];
      const ssize_t read = ::read(child_.socket(), bytes, sizeof bytes);
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) return tl::unexpected(ended().error());
      received_.append(bytes, to_index(read));
    }
    const nlohmann::json said =
        nlohmann::json::parse(received_.substr(0, length), nullptr, /*allow_exceptions=*/false);
    received_.erase(0, length + 1);
    if (!said.is_object()) return failure("IREE's runtime gave no answer that can be read");
    const auto wrong = said.find("error");
    if (wrong != said.end() && wrong->is_string())
      return failure("IREE's runtime: {}", wrong->get<std::string>());
    return said;
  }

  Status ended() {
    child_.wait(/*seconds=*/5);
    read_available(child_.error_pipe(), printed_);
    return failure("the process of IREE's runtime ended ({}): {}", child_.how_it_ended(),
                   printed_.text());
  }

  ChildProcess child_;
  std::pair<device::Address, std::vector<std::string>> serves_;
  std::string received_;  // behind the last answer
  Capture printed_;
  bool printing_ = true;
};

ResidentPrograms::ResidentPrograms(Installation installation)
    : installation_(std::move(installation)) {}
ResidentPrograms::ResidentPrograms(ResidentPrograms&&) noexcept = default;
ResidentPrograms::~ResidentPrograms() = default;

Result<ResidentPrograms::Process*> ResidentPrograms::process_for(
    const provider::ProgramCall& call) {
  const std::optional<Settings> settings = settings_for(call);
  // It passes NumPy's arrays, and warms up.
  if (!can_be_ || !settings || !call.function.input_forms.empty() || call.function.keeps_state)
    return nullptr;
  for (const std::unique_ptr<Process>& each : processes_)
    if (each->serves(call)) return each.get();
  // A copy of the tools without the wheel may meet a Python with another release of the runtime.
  std::error_code code;
  if (!std::filesystem::exists(runtime_packages_of(installation_) / "iree" / "runtime", code))
    return nullptr;
  Result<std::unique_ptr<Process>> started = Process::start(installation_, call, *settings);
  if (!started) {
    if (started.error().kind == ErrorKind::kInterrupted) return tl::unexpected(started.error());
    // Fall back to the tools, which report what they refuse in their own words.
    can_be_ = false;
    return nullptr;
  }
  return processes_.emplace_back(std::move(*started)).get();
}

Result<double> ResidentPrograms::time(const provider::ProgramCall& call, double seconds) {
  HONE_ASSIGN(Process* const process, process_for(call));
  resident_ = process != nullptr;
  if (!resident_) return benchmark_module(installation_, call, seconds);
  Result<double> took = process->time(call, seconds);
  if (!took) end(*process);
  return took;
}

Result<std::vector<problem::Array>> ResidentPrograms::run(const provider::ProgramCall& call,
                                                          std::size_t results) {
  Process* process = nullptr;
  if (std::ranges::all_of(call.function.outputs, is_in_numpy)) {
    HONE_ASSIGN(process, process_for(call));
  }
  resident_ = process != nullptr;
  if (!resident_) return run_module(installation_, call, results);
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-results-"));
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < results; ++i)
    files.push_back(folder.path() / fmt::format("result{}.npy", i));
  if (!process->write_results(call, files)) {
    end(*process);
    return run_module(installation_, call, results);  // or says what is wrong in its own words
  }
  std::vector<problem::Array> arrays;
  for (const std::filesystem::path& file : files) {
    HONE_ASSIGN(const std::string bytes, read_file(file));
    HONE_ASSIGN(arrays.emplace_back(), problem::from_npy(bytes));
  }
  return arrays;
}

// Whatever state a program that failed has left behind, the next one does not find it.
void ResidentPrograms::end(const Process& process) {
  std::erase_if(processes_, [&](const auto& each) { return each.get() == &process; });
}

}  // namespace hone::iree
