// hone doctor: problems of this machine that hinder tuning, and their fixes.
#include <algorithm>
#include <iterator>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/doctor.h"
#include "cli/help_command.h"
#include "output/json_text.h"

namespace hone::cli {
namespace {

constexpr int kEnvironmentExit = 3;

std::vector<Finding> find(const DoctorPlaces& places) {
  // Check the machine first: opening a compiler would count as load. Check the environment before
  // OpenBLAS, for which hone sets a variable.
  std::vector<Finding> machine = check_machine_for_measuring();
  std::vector<Finding> environment = check_environment();
  std::vector<Finding> findings = check_compilers(places);
  std::ranges::move(check_gpus(), std::back_inserter(findings));
  std::ranges::move(check_amd_gpus(), std::back_inserter(findings));
  std::ranges::move(machine, std::back_inserter(findings));
  std::ranges::move(check_storage(places.store), std::back_inserter(findings));
  std::ranges::move(environment, std::back_inserter(findings));
  return findings;
}

void print(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:8}{:20}  {}\n", name_of(finding.health), finding.subject,
               wrapped(finding.found, 30, 30, 100));
    if (!finding.fix.empty()) fmt::print("{:30}-> {}\n", "", wrapped(finding.fix, 33, 33, 100));
  }
}

struct DoctorOptions {
  DoctorPlaces places;
  bool json = false;
};

CommandResult examine(DoctorOptions& options) {
  const std::vector<Finding> findings = find(options.places);
  const auto count = [&](Health health) {
    return std::ranges::count(findings, health, &Finding::health);
  };
  const bool ready = count(kMissing) == 0;
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Finding& finding : findings)
      list.push_back({{"group", finding.group},
                      {"subject", finding.subject},
                      {"health", name_of(finding.health)},
                      {"found", finding.found},
                      {"fix", output::text_or_null(finding.fix)}});
    output::print_document({{"ready", ready}, {"findings", list}});
    return ready ? 0 : kEnvironmentExit;
  }
  print(findings);
  fmt::print("\n{} (missing: {}, warnings: {})\n",
             ready ? "This machine can tune." : "This machine cannot tune yet.", count(kMissing),
             count(kWarning));
  return ready ? 0 : kEnvironmentExit;
}

}  // namespace

void add_doctor_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<DoctorOptions>(
      app, run, "doctor", "Find problems of this machine, with their fixes", examine);
  command.add_option("--iree", options.places.iree, kIreeHelp);
  add_hip_option(command);
  command.add_option("--triton", options.places.triton,
                     "Python or virtual environment with Triton");
  add_default_option(command, "--store", options.places.store, "check the folder of this store");
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer("Exit code 3: something that tuning needs is missing.");
}

}  // namespace hone::cli
