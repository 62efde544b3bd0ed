#include "session/session_options.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/ranges.h"
#include "device/cpu/target.h"
#include "trial/protocols.h"

namespace hone::session {
namespace {

struct NumberWithUnit {
  double value = 0;
  std::string unit;
};

// Returns nullopt if the text does not begin with a number.
std::optional<NumberWithUnit> number_with_unit(const std::string& text) {
  std::size_t used = 0;
  try {
    const double value = std::stod(text, &used);
    return NumberWithUnit{value, text.substr(used)};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Parses "90", "90s", "10m" or "2h" into seconds; an input error for anything else.
Result<double> parse_duration(const std::string& text) {
  const auto number = number_with_unit(text);
  const std::string unit = number ? number->unit : "?";
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (scale == 0 || !(number->value > 0))
    return input_error("--budget '{}' is no duration; write 90s, 10m or 2h", text);
  return number->value * scale;
}

// Parses "95", "95%" or "95 %" into 0.95. An input error unless it is above 0 and at most 100.
Result<double> parse_coverage(const std::string& text) {
  constexpr double kPercent = 100;
  const auto number = number_with_unit(text);
  const bool is_percent =
      number && (number->unit.empty() || number->unit == "%" || number->unit == " %");
  if (!is_percent || !(number->value > 0) || number->value > kPercent)
    return input_error("--coverage '{}' is no share of the time; write 80% or 100%", text);
  return number->value / kPercent;
}

// Returns the effort that the options name; "default" for an unknown name, which the command line
// refuses.
const Effort& effort_of(const SessionOptions& options) {
  const auto* const named = find_by(kEfforts, options.effort, &Effort::name);
  return named != nullptr ? *named : kEfforts[1];
}

}  // namespace

Status take_effort(SessionOptions& options, std::optional<std::size_t> dispatches) {
  tune::Options& tuning = options.tuning;
  const Effort& effort = effort_of(options);
  const auto text = [](const std::string& given, std::string_view otherwise) {
    return given.empty() ? std::string(otherwise) : given;
  };
  const bool is_each = dispatches && options.budget.empty();
  HONE_ASSIGN(
      tuning.budget_seconds,
      parse_duration(text(options.budget, is_each ? effort.dispatch_budget : effort.budget)));
  if (is_each) tuning.budget_seconds *= static_cast<double>(*dispatches);
  if (!tuning.candidates && effort.candidates > 0) tuning.candidates = effort.candidates;
  if (options.top > 0) tuning.most_dispatches = options.top;
  if (options.coverage.empty() && options.top > 0) return {};
  HONE_ASSIGN(tuning.coverage, parse_coverage(text(options.coverage, effort.coverage)));
  return {};
}

output::StatusStyle status_style(const SessionOptions& options) {
  return output::status_style(options.quiet, options.verbose, options.plain, options.json);
}

store::DeviceRow device_row(const tune::Options& options) {
  const device::Facts& facts = options.place().facts;
  store::DeviceRow row;
  row.name = facts.name;
  row.driver = facts.driver;
  nlohmann::json protocol = nlohmann::json::parse(facts.identity);
  protocol["cache"] = options.cache == measure::CacheMode::kCold ? "cold" : "warm";
  protocol["measuring"] = trial::protocols_in_use(options.traits());
  if (options.cache == measure::CacheMode::kCold &&
      options.last_level_cache() > facts.last_level_cache_bytes)
    protocol["rotating_bytes"] = 2 * options.last_level_cache();
  row.protocol = protocol.dump();
  return row;
}

void leave_cores_to_runners(SessionOptions& options) {
  if (options.toolchain.jobs > 0) return;
  const std::vector<device::Place>& places = options.tuning.places;
  const auto runners =
      options.compile_only
          ? 0
          : std::ranges::count(places, std::string(),
                               [](const device::Place& each) { return each.address.host; });
  options.toolchain.jobs = std::max(
      1, static_cast<int>(device::cpu::available_cores().size()) - static_cast<int>(runners));
}

void take_reuse(SessionOptions& options) {
  tune::Options& tuning = options.tuning;
  tuning.cache = options.cache == "cold" ? measure::CacheMode::kCold : measure::CacheMode::kWarm;
  tuning.reuse = options.reuse == "any" ? store::Reuse::kAny : store::Reuse::kEqualIdentities;
  tuning.trust = options.trust ? store::Trust::kAnyone : store::Trust::kOwn;
}

Status make_out(const SessionOptions& options) {
  std::error_code code;
  std::filesystem::create_directories(options.tuning.out, code);
  if (code)
    return environment_error("cannot make the folder '{}' of --out: {}",
                             options.tuning.out.string(), code.message());
  return {};
}

store::Run run_row(const SessionOptions& options) {
  store::Run run;
  run.command = options.command_line;
  run.task = options.task.empty() ? options.command_line : options.task;
  run.version = version();
  run.seed = static_cast<std::int64_t>(options.tuning.seed);
  return run;
}

std::string_view version() {
  return HONE_VERSION;
}

}  // namespace hone::session
