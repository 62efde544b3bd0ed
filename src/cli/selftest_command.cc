// hone selftest: checks this machine, a device and hone on it, and writes the results to send back.
#include <algorithm>

#include "base/process.h"
#include "base/stopwatch.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/doctor.h"
#include "output/json_text.h"
#include "selftest/selftest.h"
#include "session/places.h"
#include "tune/services/run_verdict.h"

namespace hone::cli {
namespace {

using selftest::Check;
using selftest::Outcome;

// A call that takes longer is taken for endless. The slowest kernel takes a second on the emulator.
constexpr double kKernelSeconds = 6;
// Time limit of the tuning, whatever its budget.
constexpr double kTuningSeconds = 1800;

struct SelftestOptions {
  ToolchainOptions toolchain;
  std::string device;
  std::string recorded;  // empty: the binary's
  std::string output = "selftest.json";
  std::string budget = "40s";     // of the tuning
  std::vector<std::string> only;  // names of checks; empty: all
  bool json = false;

  bool wants(std::string_view check) const {
    return only.empty() || std::ranges::find(only, check) != only.end();
  }
};

// Counts what doctor finds missing; warnings do not hinder tuning.
Check check_machine(const SelftestOptions& options) {
  std::vector<Finding> findings =
      check_compilers({.iree = options.toolchain.iree, .store = "hone.db"});
  for (auto more : {check_gpus(), check_amd_gpus(), check_machine_for_measuring()})
    std::ranges::move(more, std::back_inserter(findings));
  Check check{.name = "doctor", .found = "nothing that tuning needs is missing"};
  std::size_t warnings = 0;
  for (const Finding& finding : findings) {
    check.data[finding.subject] = {{"health", name_of(finding.health)}, {"found", finding.found}};
    warnings += finding.health == kWarning ? 1 : 0;
    if (finding.health != kMissing || check.outcome == Outcome::kFailed) continue;
    check.outcome = Outcome::kFailed;
    check.found = finding.subject + ": " + finding.found;
    check.expected = finding.fix;
  }
  if (warnings > 0 && check.outcome != Outcome::kFailed) {
    check.outcome = Outcome::kNote;
    check.found += fmt::format("; warnings: {} (hone doctor shows them)", warnings);
  }
  return check;
}

// Tunes a product from start to the proof, as a user would.
Result<Check> check_tuning(const SelftestOptions& options, const device::Place& place,
                           int stop_fd) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-selftest-"));
  const std::string program = (folder.path() / "product.mlir").string();
  for (const EmbeddedFile& file : selftest::programs())
    if (file.name == "product.mlir")
      HONE_TRY(write_file_atomically(program, std::string(file.text)));
  Command tune{.arguments = {own_executable(), "tune", program, "--device",
                             device::name_of(place.address), "--budget", options.budget,
                             "--no-flags", "--out", (folder.path() / "out").string(), "--store",
                             (folder.path() / "hone.db").string(), "--json", "--quiet"}};
  if (!options.toolchain.iree.empty())
    tune.arguments.insert(tune.arguments.end(), {"--iree", options.toolchain.iree});
  const ProcessLimits limits{.seconds = kTuningSeconds};
  HONE_ASSIGN(const ProcessResult ran, run_process(tune, limits, stop_fd));
  const auto document =
      nlohmann::json::parse(ran.standard_output.text(), nullptr, /*allow_exceptions=*/false);
  Check check{.name = "tuning", .outcome = Outcome::kFailed, .expected = "a proved program"};
  if (document.is_discarded() || !document.is_object() || !document.contains("verdict")) {
    check.found =
        fmt::format("hone tune: {}: {}", describe(ran, limits), ran.standard_error.text());
    return check;
  }
  const nlohmann::json verdict = document.at("verdict");
  const std::string outcome = verdict.value("outcome", "");
  using enum tune::RunOutcome;
  const auto is_one_of = [&](std::initializer_list<tune::RunOutcome> outcomes) {
    return std::ranges::any_of(outcomes, [&](auto each) { return tune::name_of(each) == outcome; });
  };
  check.data = verdict;
  check.found = fmt::format("a product is tuned: {}", outcome);
  if (is_one_of({kFaster, kNothingFaster}) || (place.facts.emulated && is_one_of({kNotProved}))) {
    check.outcome = Outcome::kPassed;
    check.expected.clear();
  }
  if (const nlohmann::json reason = verdict.value("reason", nlohmann::json());
      reason.is_string() && !reason.get_ref<const std::string&>().empty())
    check.found += ": " + reason.get<std::string>();
  return check;
}

void print(const Check& check) {
  fmt::print("{:7} {:9} {:5.1f} s  {}\n", selftest::name_of(check.outcome), check.name,
             check.seconds, check.found);
  if (!check.expected.empty()) fmt::print("{:26}  expected: {}\n", "", check.expected);
}

nlohmann::ordered_json document_of(const device::Place& place, const std::vector<Check>& checks,
                                   bool passed) {
  nlohmann::ordered_json document{{"schema_version", output::kSchemaVersion},
                                  {"hone", version()},
                                  {"device", place.facts.name},
                                  {"driver", place.facts.driver},
                                  {"passed", passed},
                                  {"checks", nlohmann::ordered_json::array()},
                                  {"kernels", nlohmann::ordered_json::object()},
                                  {"devices", nlohmann::ordered_json::object()}};
  nlohmann::ordered_json& facts = document["devices"][place.facts.name];
  facts = nlohmann::ordered_json::object();
  for (const Check& check : checks) {
    document["checks"].push_back({{"name", check.name},
                                  {"outcome", selftest::name_of(check.outcome)},
                                  {"found", check.found},
                                  {"expected", output::text_or_null(check.expected)},
                                  {"seconds", check.seconds},
                                  {"data", check.data}});
    if (check.name == "kernels") document["kernels"] = check.data;
    if (check.name == "facts") facts.update(nlohmann::ordered_json(check.data));
    if (check.name == "clock") facts["clock_megahertz"] = check.data.value("clock_megahertz", 0.0);
  }
  return document;
}

Status run_checks(const SelftestOptions& options, const device::Place& place,
                  const selftest::Recorded& recorded,
                  const std::function<void(const Check&)>& done) {
  const auto timed = [&](const char* name, const std::function<Result<Check>()>& run) -> Status {
    if (!options.wants(name)) return {};
    const Stopwatch watch;
    HONE_ASSIGN(Check check, run());
    check.seconds = watch.seconds();
    done(check);
    return {};
  };
  HONE_TRY(timed("doctor", [&] { return check_machine(options); }));
  {
    HONE_ASSIGN(const auto held, lease_here({&place, 1}));
    HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
    selftest::Bench bench(place, options.toolchain, toolchain, kKernelSeconds);
    HONE_TRY(selftest::check_device(bench, recorded, options.only, done));
  }
  return timed("tuning", [&]() -> Result<Check> {
    if (!place.facts.no_programs.empty())
      return Check{.name = "tuning", .outcome = Outcome::kNote, .found = place.facts.no_programs};
    HONE_ASSIGN(StopSignal stop, StopSignal::install());
    return check_tuning(options, place, stop.fd());
  });
}

CommandResult test(SelftestOptions& options) {
  const std::vector<std::string>& names = selftest::check_names();
  for (const std::string& name : options.only)
    if (std::ranges::find(names, name) == names.end())
      return input_error("--only '{}': no check has this name; checks are {}", name,
                         fmt::join(names, ", "));
  HONE_ASSIGN(const selftest::Recorded recorded, selftest::read_recorded(options.recorded));
  if (options.device.empty()) options.device = gpu_or_cores();
  HONE_ASSIGN(const device::Place place,
              choose_place(options.device, options.toolchain, CoreOptions()));
  std::vector<Check> checks;
  const Status ran = run_checks(options, place, recorded, [&](const Check& check) {
    if (!options.json) print(check);
    checks.push_back(check);
  });
  // Write what was found before something was missing, too: it is worth sending.
  const auto failures = std::ranges::count(checks, Outcome::kFailed, &Check::outcome);
  const nlohmann::ordered_json document = document_of(place, checks, ran && failures == 0);
  HONE_TRY(output::write_json(options.output, document));
  HONE_TRY(ran);
  if (options.json)
    output::print_json(document);
  else
    fmt::print("\n{}: {} of {} checks passed. {} holds the results.\n", place.facts.name,
               checks.size() - static_cast<std::size_t>(failures), checks.size(), options.output);
  return failures == 0 ? 0 : 1;
}

}  // namespace

void add_selftest_command(CLI::App& app, Action& run) {
  const auto [command, options] =
      add_command<SelftestOptions>(app, run, "selftest", "Check a device, and hone on it", test);
  add_device_option(command, options.device);
  command.add_option("--iree", options.toolchain.iree, kIreeHelp);
  command.add_option("--only", options.only, "run these checks alone: kernels,clock")
      ->delimiter(',')
      ->type_name("CHECKS");
  command.add_option("--recorded", options.recorded,
                     "compare with this report of another self-test [hone's own records]");
  add_default_option(command, "--budget", options.budget, "time to tune a product");
  add_default_option(command, "-o,--output", options.output, "write the results to this file");
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer(
      "Checks: doctor, facts, copies, kernels, guards, faults, events, clock, noise,\n"
      "rotation, library, tuning. They take about a minute.\n\n"
      "Exit code 1: a check failed.");
}

}  // namespace hone::cli
