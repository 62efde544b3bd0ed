// State of the machine around a measurement; recorded with every result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"

namespace hone::device {

struct CoreState {
  int core = 0;
  // Shares of the time since the previous sample, 0 to 1; nothing in a first sample.
  std::optional<double> busy{};    // by anyone, hone included
  std::optional<double> stolen{};  // a hypervisor ran something else
  std::optional<double> megahertz{};
  std::optional<long> throttles{};  // thermal throttle events since boot
  std::string governor{};           // empty where the kernel does not say

  bool operator==(const CoreState&) const = default;

  static void fields(auto& core, auto&& field) {
    field("core", core.core);
    field("governor", core.governor);
    field("busy", core.busy);
    field("stolen", core.stolen);
    field("megahertz", core.megahertz);
    field("throttles", core.throttles);
  }
};

// A process outside hone that used the processor.
struct BusyProcess {
  int pid = 0;
  std::string name;
  double share = 0;  // of one core's time since the previous sample; several threads: above 1
  int core = 0;      // that it was last seen on

  bool operator==(const BusyProcess&) const = default;

  static void fields(auto& process, auto&& field) {
    field("pid", process.pid);
    field("name", process.name);
    field("share", process.share);
    field("core", process.core);
  }
};

// State of a GPU as its management library (NVML) reports it; unknown fields are empty.
struct GpuState {
  int gpu = 0;                             // its index
  std::optional<double> megahertz{};       // of the multiprocessors
  std::optional<double> most_megahertz{};  // they may reach
  std::optional<double> memory_megahertz{};
  std::optional<double> watts{};
  std::optional<double> watt_limit{};  // the power cap
  std::optional<double> celsius{};
  std::vector<std::string> throttled{};  // why its clock is held down: "power cap", "heat"
  std::optional<int> other_processes{};  // that hold memory on it

  bool operator==(const GpuState&) const = default;

  static void fields(auto& gpu, auto&& field) {
    field("gpu", gpu.gpu);
    field("throttled", gpu.throttled);
    field("megahertz", gpu.megahertz);
    field("most_megahertz", gpu.most_megahertz);
    field("memory_megahertz", gpu.memory_megahertz);
    field("watts", gpu.watts);
    field("watt_limit", gpu.watt_limit);
    field("celsius", gpu.celsius);
    field("other_processes", gpu.other_processes);
  }
};

struct MachineState {
  double load_1min = 0;  // runnable tasks, one-minute average (/proc/loadavg)
  int runnable = 0;      // tasks that run or wait for a core now, this one included
  double seconds = 0;    // since the previous sample; 0 in a first one
  // Involuntary context switches of this process since the previous sample.
  long involuntary_switches = 0;
  // Share of the leased cores' time that other processes took since the previous sample, 0 to 1:
  // busy time less the processor time of this process and of its children that have ended.
  std::optional<double> background;
  std::vector<CoreState> cores;  // those asked for
  // Only in a detailed sample: other processes on these cores, busiest first.
  std::vector<BusyProcess> processes = {};
  std::vector<GpuState> gpus = {};  // those asked for

  bool operator==(const MachineState&) const = default;

  static void fields(auto& state, auto&& field) {
    field("load_1min", state.load_1min);
    field("runnable", state.runnable);
    field("seconds", state.seconds);
    field("involuntary_switches", state.involuntary_switches);
    field("background", state.background);
    field("cores", state.cores);
    field.when(!state.processes.empty(), "processes", state.processes);
    field.when(!state.gpus.empty(), "gpus", state.gpus);
  }
};

// Merges `more`, seen at another moment of the same work, into the state of the same GPUs: the
// lowest clock, the most power and heat, every reason for a lower clock.
void add_gpus(MachineState& state, const MachineState& more);

}  // namespace hone::device
