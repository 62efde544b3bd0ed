#include "cli/tune_options.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/version.h"
#include "device/cpu/placement.h"
#include "device/cpu/target.h"
#include "tune/protocols.h"

namespace hone::cli {

// "90", "90s", "10m", "2h" in seconds.
Result<double> parse_duration(const std::string& text) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = text.substr(used);
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (used == 0 || scale == 0 || !(value > 0))
    return input_error("--budget '{}' is no duration; write 90s, 10m or 2h", text);
  return value * scale;
}

namespace {

// What all measurements of a device have in common.
nlohmann::json protocol_of(const tune::Options& options, const nlohmann::json& identity) {
  return {{"identity", identity},
          {"cache", options.cache == measure::CacheMode::kCold ? "cold" : "warm"},
          {"measuring", tune::protocols_in_use(options.cuda.has_value())}};
}

}  // namespace

store::Device cpu_row(const tune::Options& options) {
  const nlohmann::json identity = device::cpu::device_identity();
  store::Device row;
  row.name = identity.value("model", "unknown CPU");
  row.driver = identity.value("kernel", "");
  nlohmann::json protocol = protocol_of(options, identity);
  protocol["threads"] = options.cores.size();
  protocol["placement"] = device::cpu::placement(options.cores);
  row.protocol = protocol.dump();
  return row;
}

store::Device gpu_row(const tune::Options& options, const device::cuda::Facts& gpu) {
  store::Device row;
  row.name = gpu.name;
  row.driver = fmt::format("CUDA {}.{}", gpu.driver_version / 1000, gpu.driver_version % 1000 / 10);
  nlohmann::json protocol = protocol_of(options, device::cuda::device_identity(gpu));
  if (options.cache == measure::CacheMode::kCold && options.last_level_cache > gpu.l2_bytes)
    protocol["rotating_bytes"] = 2 * options.last_level_cache;
  row.protocol = protocol.dump();
  return row;
}

Status make_out(const TuneOptions& options) {
  std::error_code code;
  std::filesystem::create_directories(options.tuning.out, code);
  if (code)
    return environment_error("cannot make the folder '{}' of --out: {}",
                             options.tuning.out.string(), code.message());
  return {};
}

store::Run run_row(const TuneOptions& options) {
  store::Run run;
  run.command = options.command_line;
  run.version = version();
  run.seed = static_cast<std::int64_t>(options.tuning.seed);
  return run;
}

}  // namespace hone::cli
