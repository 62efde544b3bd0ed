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

// `bytes` long, without a sign; nullopt beyond the table's end, and for all ones: the driver
// begins with them and leaves them where a GPU lacks the value.
std::optional<std::uint64_t> number_at(std::string_view table, std::size_t offset,
                                       std::size_t bytes) {
  std::uint64_t number = 0;
  if (table.size() < bytes || table.size() - bytes < offset) return std::nullopt;
  std::memcpy(&number, table.data() + offset, bytes);
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * bytes);
  return number == ones ? std::nullopt : std::optional(number);
}

// Version 1.3: indep_throttle_status.
ThrottleRecord present_reasons(std::uint64_t status) {
  constexpr std::pair<std::uint64_t, unsigned> kBits[] = {
      {0x0000'0000'0000'FFFF, kThrottlePowerCap},    // package power
      {0x0000'33C0'0000'0000, kThrottleRegulators},  // TEMP_VR, VRHOT
      {0x0000'0004'0000'0000, kThrottleMemoryHeat},  // TEMP_MEM
      {0x0000'0C3B'0000'0000, kThrottleHeat},        // other temperatures, liquids
      {0xFFFF'C000'FFFF'0000, kThrottleHardware}};   // current, PROCHOT, PPM, FIT
  ThrottleRecord record;
  for (const auto& [bits, reason] : kBits)
    if ((status & bits) != 0) record.reasons |= reason;
  return record;
}

// Versions 1.6 to 1.8: prochot, ppt, socket_thm, vr_thm and hbm_thm_residency_acc from `offset` on.
ThrottleRecord counted_reasons(std::string_view table, std::size_t offset) {
  const auto counter = [&](std::size_t i) { return number_at(table, offset + 4 * i, 4); };
  return {0, counter(0), counter(1), counter(2), counter(3), counter(4)};
}

// Version 1.9: a number of attributes, each a word (count in bits 0 to 9, id from 10, type from 20
// on) and its values. They are packed.
std::optional<ThrottleRecord> listed_reasons(std::string_view table) {
  constexpr std::size_t kBytesOfType[] = {1, 1, 2, 2, 4, 4, 8, 8};  // u8, s8, u16, ...
  constexpr std::uint64_t kProchotResidency = 10;
  constexpr std::optional<std::uint64_t> ThrottleRecord::*kCounters[] = {
      &ThrottleRecord::hardware, &ThrottleRecord::power_cap, &ThrottleRecord::heat,
      &ThrottleRecord::regulators, &ThrottleRecord::memory_heat};
  ThrottleRecord record;
  std::size_t at = 8;
  for (std::uint64_t left = number_at(table, 4, 4).value_or(0); left > 0; --left) {
    const auto word = number_at(table, at, 8);
    if (!word || (*word >> 20 & 15) >= std::size(kBytesOfType)) return std::nullopt;
    const std::size_t bytes = kBytesOfType[*word >> 20 & 15];
    const std::uint64_t counter = (*word >> 10 & 0x3FF) - kProchotResidency;
    at += 8;
    if (counter < std::size(kCounters)) record.*kCounters[counter] = number_at(table, at, bytes);
    at += bytes * (*word & 0x3FF);
    if (at > table.size()) return std::nullopt;
  }
  return record;
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
  const auto bytes = number_at(gpu_metrics, 0, 2), format = number_at(gpu_metrics, 2, 1);
  if (!bytes || *bytes > gpu_metrics.size() || format != 1) return std::nullopt;
  const std::string_view table = gpu_metrics.substr(0, *bytes);
  // A draft of 1.6 that was withdrawn had its counters elsewhere, in 352 bytes.
  constexpr std::size_t kStatus = 112, kBytes3 = 120, kBytes6 = 1664, kBytes7 = 2208;
  switch (number_at(table, 3, 1).value_or(0)) {
    case 3:
      if (table.size() < kBytes3) return std::nullopt;
      return present_reasons(number_at(table, kStatus, 8).value_or(0));
    case 6:
      if (table.size() < kBytes6) return std::nullopt;
      return counted_reasons(table, 36);
    case 7:
    case 8:
      if (table.size() < kBytes7) return std::nullopt;
      return counted_reasons(table, 44);
    case 9:
      return listed_reasons(table);
    default:
      return std::nullopt;
  }
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
    const auto grew = [&](std::optional<std::uint64_t> ThrottleRecord::*counter, unsigned reason) {
      const auto before = (*before_).*counter, after = (*now).*counter;
      if (before && after && *before != *after) reasons |= reason;
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
