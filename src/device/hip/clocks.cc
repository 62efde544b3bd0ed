#include "device/hip/clocks.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/file.h"

namespace hone::device::hip {
namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file) {
  const auto text = read_file(file);
  if (!text || text->empty()) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(text->c_str(), &end);
  return end == text->c_str() ? std::nullopt : std::optional(number);
}

template <class Number>
Number at(std::string_view bytes, std::size_t offset) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + offset, sizeof(number));
  return number;
}

// Processes other than this one that hold memory on the GPU.
std::optional<int> other_processes(const fs::path& root, std::uint64_t gpu_id) {
  std::error_code error;
  const fs::path processes = root / "sys/class/kfd/kfd/proc";
  if (gpu_id == 0 || !fs::is_directory(processes, error)) return std::nullopt;
  int others = 0;
  for (const auto& process : fs::directory_iterator(processes, error))
    if (process.path().filename() != std::to_string(getpid()) &&
        number_in(process.path() / ("vram_" + std::to_string(gpu_id))).value_or(0) > 0)
      ++others;
  return others;
}

}  // namespace

std::vector<std::string> throttle_words(unsigned reasons) {
  constexpr std::pair<unsigned, const char*> kWords[] = {{kThrottlePowerCap, "power cap"},
                                                         {kThrottleHeat, "heat"},
                                                         {kThrottleRegulators, "regulators' heat"},
                                                         {kThrottleMemoryHeat, "memory's heat"},
                                                         {kThrottleHardware, "hardware slowdown"}};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kWords)
    if ((reasons & bit) != 0) words.emplace_back(word);
  return words;
}

std::optional<ThrottleRecord> throttle_record(std::string_view gpu_metrics) {
  if (gpu_metrics.size() < 4 || gpu_metrics[2] != 1) return std::nullopt;
  const int revision = gpu_metrics[3];
  ThrottleRecord record;
  const auto reasons = [&](std::uint64_t power, std::uint64_t current, std::uint64_t heat,
                           std::uint64_t other) {
    if (power != 0) record.reasons |= kThrottlePowerCap;
    if (heat != 0) record.reasons |= kThrottleHeat;
    if (current != 0 || other != 0) record.reasons |= kThrottleHardware;
    return record;
  };
  if (revision == 3) {
    // indep_throttle_status: power in bits 0 to 15, current 16 to 31, temperature 32 to 55.
    constexpr std::size_t kStatus = 112;
    if (gpu_metrics.size() < kStatus + 8) return std::nullopt;
    const auto bits = at<std::uint64_t>(gpu_metrics, kStatus);
    return reasons(bits & 0xFFFF, bits >> 16 & 0xFFFF, bits >> 32 & 0xFFFFFF, bits >> 56);
  }
  if (revision < 6 || revision > 8) return std::nullopt;
  // accumulation_counter, then prochot, ppt, socket_thm, vr_thm and hbm_thm_residency_acc; from 1.7
  // on behind the memory's bandwidth.
  const std::size_t counters = revision == 6 ? 36 : 44;
  if (gpu_metrics.size() < counters + 20) return std::nullopt;
  record.hardware = at<std::uint32_t>(gpu_metrics, counters);
  record.power_cap = at<std::uint32_t>(gpu_metrics, counters + 4);
  record.heat = at<std::uint32_t>(gpu_metrics, counters + 8);
  record.regulators = at<std::uint32_t>(gpu_metrics, counters + 12);
  record.memory_heat = at<std::uint32_t>(gpu_metrics, counters + 16);
  return record;
}

ClockLevels clock_levels(std::string_view table) {
  ClockLevels levels;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const double megahertz = std::strtod(line.c_str() + colon + 1, nullptr);
    if (megahertz <= 0) continue;
    levels.most = std::max(levels.most.value_or(0), megahertz);
    if (line.find('*') != std::string::npos) levels.now = megahertz;
  }
  return levels;
}

Clocks::Clocks(fs::path folder, std::uint64_t gpu_id, fs::path root)
    : folder_(std::move(folder)), root_(std::move(root)), gpu_id_(gpu_id) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / "hwmon", error)) hwmon_ = entry.path();
  if (const auto table = read_file(folder_ / "gpu_metrics")) before_ = throttle_record(*table);
}

std::optional<double> Clocks::megahertz() const {
  if (const auto levels = clock_levels(read_file(folder_ / "pp_dpm_sclk").value_or("")); levels.now)
    return levels.now;
  const auto hertz = number_in(hwmon_ / "freq1_input");
  return hertz ? std::optional(*hertz * 1e-6) : std::nullopt;
}

std::optional<double> Clocks::most_megahertz() const {
  return clock_levels(read_file(folder_ / "pp_dpm_sclk").value_or("")).most;
}

unsigned Clocks::throttle_reasons() {
  const auto table = read_file(folder_ / "gpu_metrics");
  const auto now = table ? throttle_record(*table) : std::nullopt;
  if (!now) return 0;
  unsigned reasons = now->reasons;
  if (before_) {
    const auto grew = [&](std::uint32_t ThrottleRecord::*counter, unsigned reason) {
      if ((*now).*counter != (*before_).*counter) reasons |= reason;
    };
    grew(&ThrottleRecord::power_cap, kThrottlePowerCap);
    grew(&ThrottleRecord::heat, kThrottleHeat);
    grew(&ThrottleRecord::regulators, kThrottleRegulators);
    grew(&ThrottleRecord::memory_heat, kThrottleMemoryHeat);
    grew(&ThrottleRecord::hardware, kThrottleHardware);
  }
  before_ = now;
  since_state_ |= reasons;
  return reasons;
}

GpuState Clocks::state(int index) {
  GpuState state{.gpu = index};
  const auto scaled = [&](const char* file, double unit) {
    const auto number = number_in(hwmon_ / file);
    return number ? std::optional(*number * unit) : std::nullopt;
  };
  state.megahertz = megahertz();
  state.most_megahertz = most_megahertz();
  state.memory_megahertz = clock_levels(read_file(folder_ / "pp_dpm_mclk").value_or("")).now;
  state.watts = scaled("power1_average", 1e-6);
  if (!state.watts) state.watts = scaled("power1_input", 1e-6);
  state.watt_limit = scaled("power1_cap", 1e-6);
  state.celsius = scaled("temp1_input", 1e-3);
  if (!state.celsius) state.celsius = scaled("temp2_input", 1e-3);  // the junction, on MI300
  throttle_reasons();
  state.throttled = throttle_words(std::exchange(since_state_, 0));
  state.other_processes = other_processes(root_, gpu_id_);
  return state;
}

}  // namespace hone::device::hip
