#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <thread>

#include "cli/doctor.h"
#include "device/cpu/machine_state.h"
#include "device/cpu/target.h"
#include "store/host.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;
using device::cpu::system_number;
using device::cpu::system_text;
using device::cpu::value_of;

constexpr double kGigabyte = 1e9;
// Memory limit of a compile process (--compile-memory's default).
constexpr double kCompileGigabytes = 4;
// Least free space: a store of a thousand candidates is some hundred megabytes, its temporary files
// less.
constexpr double kLeastDiskGigabytes = 1;
// Largest share of the cores that other load may take. Measuring resolves 1 % (docs/measuring.md),
// so more load shows in the times.
constexpr double kQuietShare = 0.02;

Finding machine(std::string subject, Health health, std::string found, std::string fix = {}) {
  return {"machine", std::move(subject), health, std::move(found), std::move(fix)};
}

// Returns the text of `file` in this process's control group or the nearest one above it that has
// it (cgroups(7), version 2).
std::optional<std::string> control_group_text(const char* file) {
  const fs::path top = "/sys/fs/cgroup";
  std::string inside = value_of(system_text("/proc/self/cgroup").value_or(""), "0");
  inside.erase(0, inside.find_first_not_of(":/"));
  for (fs::path folder = top / inside;; folder = folder.parent_path()) {
    if (auto text = system_text(folder / file); text && !text->starts_with("max")) return text;
    if (folder == top || folder == folder.root_path()) return std::nullopt;
  }
}

Finding check_cores() {
  const std::vector<int> cores = device::cpu::available_cores();
  const auto online = static_cast<std::size_t>(std::thread::hardware_concurrency());
  const auto whole = system_text("/sys/devices/system/cpu/online").value_or("?");
  return machine("cores", kNote,
                 cores.size() < online || cores.empty()
                     ? fmt::format("{} of those online ({})", cores.size(), whole)
                     : fmt::format("{} ({})", cores.size(), whole));
}

void check_control_group(std::vector<Finding>& findings) {
  const auto limit = allowed_cores(control_group_text("cpu.max").value_or(""));
  if (limit && *limit < static_cast<double>(device::cpu::available_cores().size()))
    findings.push_back(machine(
        "processor limit", kWarning,
        fmt::format("the control group allows {:.1f} cores; what runs is paused in each period",
                    *limit),
        fmt::format("--threads {}, or give the container whole cores (docker run --cpuset-cpus)",
                    std::max(1, static_cast<int>(*limit)))));
}

void check_memory(std::vector<Finding>& findings) {
  double gigabytes = 0;
  const std::string available = value_of(system_text("/proc/meminfo").value_or(""), "MemAvailable");
  double kilobytes = 0;
  std::from_chars(available.data(), available.data() + available.size(), kilobytes);
  gigabytes = kilobytes * 1024 / kGigabyte;
  if (const auto limit = control_group_text("memory.max")) {
    double bytes = 0;
    std::from_chars(limit->data(), limit->data() + limit->size(), bytes);
    const auto used = system_number("/sys/fs/cgroup/memory.current").value_or(0);
    if (bytes > 0) gigabytes = std::min(gigabytes, (bytes - used) / kGigabyte);
  }
  const bool enough = gigabytes >= kCompileGigabytes;
  findings.push_back(machine("memory", enough ? kGood : kWarning,
                             fmt::format("{:.1f} GB free", gigabytes),
                             enough ? "" : "--jobs 1 compiles one candidate at a time"));
}

void check_clocks(std::vector<Finding>& findings) {
  const auto boost = system_number("/sys/devices/system/cpu/cpufreq/boost");
  const auto no_turbo = system_number("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if ((boost && *boost == 1) || (no_turbo && *no_turbo == 0))
    findings.push_back(machine("turbo", kNote,
                               "on: clocks depend on heat and on what other cores do",
                               boost ? "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
                                     : "echo 1 | sudo tee "
                                       "/sys/devices/system/cpu/intel_pstate/no_turbo"));
  if (system_number("/sys/devices/system/cpu/smt/active").value_or(0) == 1) {
    // Collect a single thread of each core, as the kernel lists them.
    std::set<std::string> seen;
    std::vector<int> first;
    for (const int core : device::cpu::available_cores())
      if (seen.insert(system_text(fmt::format("/sys/devices/system/cpu/cpu{}/topology/"
                                              "thread_siblings_list",
                                              core))
                          .value_or(std::to_string(core)))
              .second)
        first.push_back(core);
    if (first.size() < device::cpu::available_cores().size())
      findings.push_back(machine("hyper-threads", kNote,
                                 "two threads share a core's units, and slow each other down",
                                 fmt::format("--cores {}", fmt::join(first, ","))));
  }
}

Finding check_space(const std::string& subject, const fs::path& folder) {
  std::error_code code;
  const fs::space_info space = fs::space(folder, code);
  if (code)
    return {"storage", subject, kMissing, fmt::format("'{}': {}", folder.string(), code.message()),
            "mkdir -p '" + folder.string() + "'"};
  const double gigabytes = static_cast<double>(space.available) / kGigabyte;
  const bool enough = gigabytes >= kLeastDiskGigabytes;
  return {"storage", subject, enough ? kGood : kWarning,
          fmt::format("{:.1f} GB free in '{}'", gigabytes, folder.string()),
          enough ? "" : "free some space, or choose another folder"};
}

}  // namespace

std::optional<double> allowed_cores(std::string_view cpu_max) {
  double quota = 0, period = 0;
  const char* end = cpu_max.data() + cpu_max.size();
  const auto first = std::from_chars(cpu_max.data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc() || !(period > 0) || !(quota > 0)) return std::nullopt;
  return quota / period;
}

std::vector<Finding> findings_of(const device::MachineState& state) {
  std::vector<Finding> findings;
  std::set<std::string> governors;
  double stolen = 0;
  for (const device::CoreState& core : state.cores) {
    if (!core.governor.empty()) governors.insert(core.governor);
    stolen = std::max(stolen, core.stolen.value_or(0));
  }
  const bool steady = governors.empty() || governors == std::set<std::string>{"performance"};
  findings.push_back(machine("frequency governor", steady ? kGood : kWarning,
                             governors.empty() ? "none to be seen (a virtual machine as a rule)"
                                               : fmt::format("{}", fmt::join(governors, ", ")),
                             steady ? "" : "sudo cpupower frequency-set -g performance"));
  const double background = state.background.value_or(0);
  std::vector<std::string> busiest;
  for (const device::BusyProcess& process : state.processes)
    if (busiest.size() < 3)
      busiest.push_back(fmt::format("{} ({}, {:.0f} % of a core)", process.name, process.pid,
                                    100 * process.share));
  if (background > kQuietShare)
    findings.push_back(
        machine("background load", kWarning,
                fmt::format("others take {:.0f} % of the cores{}{}", 100 * background,
                            busiest.empty() ? "" : ": ", fmt::join(busiest, ", ")),
                "stop them, or measure on cores that they do not use (--cores)"));
  else
    findings.push_back(
        machine("background load", kGood, fmt::format("{:.0f} % of the cores", 100 * background)));
  if (stolen > kQuietShare)
    findings.push_back(machine("stolen time", kWarning,
                               fmt::format("the hypervisor takes {:.0f} % of a core", 100 * stolen),
                               "a virtual machine with cores of its own"));
  return findings;
}

std::vector<Finding> check_machine_for_measuring() {
  const std::vector<int> cores = device::cpu::available_cores();
  device::cpu::MachineSampler sampler(cores);
  sampler.sample_in_detail();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::vector<Finding> findings{check_cores()};
  for (Finding& finding : findings_of(sampler.sample_in_detail()))
    findings.push_back(std::move(finding));
  check_clocks(findings);
  check_control_group(findings);
  check_memory(findings);
  return findings;
}

std::vector<Finding> check_storage(const fs::path& store) {
  std::error_code code;
  const fs::path folder = fs::absolute(store, code).parent_path();
  std::vector<Finding> findings{check_space("store's folder", folder)};
  if (findings.front().health != kMissing && store::is_on_shared_file_system(folder))
    findings.push_back({"storage", "store", kWarning,
                        fmt::format("'{}' is on a file system of the network: slower, and locks "
                                    "are the server's",
                                    store.string()),
                        "--store on a local disk; hone store merge brings stores together"});
  findings.push_back(check_space("temporary files", fs::temp_directory_path(code)));
  return findings;
}

}  // namespace hone::cli
