// hone space: knobs, constraints, counts, samples of a dispatch's space.
#include <chrono>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input_program.h"
#include "cli/schema_version.h"
#include "cli/toolchain.h"
#include "output/json_text.h"
#include "provider/iree/gpu_space.h"
#include "space/configuration.h"
#include "tune/select_dispatches.h"

namespace hone::cli {
namespace {

struct SpaceOptions {
  ToolchainOptions toolchain;
  std::string input;
  std::vector<std::string> dispatches;
  std::vector<std::string> relax;
  std::string check;
  std::size_t samples = 3;
  std::uint64_t seed = 42;
  bool json = false;
};

std::string_view name_of(space::Hardness hardness) {
  return hardness == space::Hardness::kHard ? "hard" : "soft";
}

Result<nlohmann::ordered_json> to_json(const space::Space& space, const SpaceOptions& options) {
  nlohmann::ordered_json json;
  json["count"] = space.count().value;
  json["count_is_exact"] = space.count().exact;
  const std::vector<std::string> pipelines = iree::pipeline_names(space);
  for (std::size_t i = 0; i < space.parts().size() && i < pipelines.size(); ++i)
    json["pipelines"].push_back({{"value", i},
                                 {"name", pipelines[i]},
                                 {"count", space.parts()[i].count().value},
                                 {"count_is_exact", space.parts()[i].count().exact}});
  for (const space::Knob& knob : space.knobs())
    json["knobs"].push_back(
        {{"name", knob.name}, {"description", knob.description}, {"values", knob.values}});
  for (const space::Constraint& constraint : space.constraints())
    json["constraints"].push_back({{"name", constraint.name},
                                   {"hardness", name_of(constraint.hardness)},
                                   {"reason", constraint.reason}});
  HONE_ASSIGN(const auto samples, space.samples(options.samples, options.seed));
  json["samples"] = nlohmann::ordered_json::array();
  for (const space::Configuration& sample : samples)
    json["samples"].push_back(space::to_json(space, sample));
  return json;
}

Status print(const problem::Dispatch& dispatch, const space::Space& space,
             const SpaceOptions& options) {
  fmt::print("{}: {}\n", dispatch.name, problem::describe(dispatch.root));
  fmt::print("  {} configurations{}\n", format_count(space.count().value),
             space.count().exact ? "" : " at most (too many to count exactly)");
  const std::vector<std::string> pipelines = iree::pipeline_names(space);
  for (std::size_t i = 0; i < space.parts().size() && i < pipelines.size(); ++i)
    fmt::print("    pipeline={} {}: {}\n", i, pipelines[i],
               format_count(space.parts()[i].count().value));
  fmt::print("  knobs\n");
  for (const space::Knob& knob : space.knobs())
    fmt::print("    {:10} {{{}}}  {}\n", knob.name, fmt::join(knob.values, ", "), knob.description);
  fmt::print("  constraints\n");
  for (const space::Constraint& constraint : space.constraints())
    fmt::print("    {:4} {:28} {}\n", name_of(constraint.hardness), constraint.name,
               constraint.reason);
  HONE_ASSIGN(const auto samples, space.samples(options.samples, options.seed));
  if (!samples.empty()) fmt::print("  samples\n");
  for (const space::Configuration& sample : samples)
    fmt::print("    {}\n", space::to_string(space, sample));
  return {};
}

// What the configuration breaks, for people or as JSON; whether it is legal.
Result<bool> check(const space::Space& space, const SpaceOptions& options,
                   nlohmann::ordered_json& json) {
  HONE_ASSIGN(const space::Configuration configuration,
              space::parse_configuration(space, options.check));
  const std::vector<space::Violation> violations = space.check(configuration);
  json["check"] = {{"configuration", space::to_json(space, configuration)},
                   {"legal", violations.empty()},
                   {"violations", nlohmann::ordered_json::array()}};
  for (const space::Violation& violation : violations)
    json["check"]["violations"].push_back({{"constraint", violation.constraint},
                                           {"hardness", name_of(violation.hardness)},
                                           {"reason", violation.reason}});
  if (options.json) return violations.empty();
  if (violations.empty()) fmt::print("{} keeps every constraint.\n", options.check);
  for (const space::Violation& violation : violations)
    fmt::print("{} ({}): {}\n", violation.constraint, name_of(violation.hardness),
               violation.reason);
  return violations.empty();
}

// What --dispatch says, with the names of those given by number.
Result<std::vector<std::string>> names_of(const problem::Program& program,
                                          std::vector<std::string> wanted) {
  for (std::string& each : wanted) {
    if (each.find_first_not_of("0123456789") != std::string::npos) continue;
    HONE_ASSIGN(const problem::Dispatch* const dispatch, tune::find_dispatch(program, each));
    each = dispatch->name;
  }
  return wanted;
}

CommandResult show_space(const SpaceOptions& options) {
  HONE_ASSIGN(Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const InputProgram input, read_program(options.input, toolchain));
  print_notes_of(input);
  HONE_ASSIGN(const problem::Program program,
              load_for_target(toolchain.compiler(), options.toolchain, options.input, input.bytes));
  const std::string note = target_note(options.toolchain);
  if (!note.empty()) fmt::print(stderr, "{}\n", note);
  std::vector<tune::NotTuned> not_tuned;
  HONE_ASSIGN(const auto patterns, names_of(program, options.dispatches));
  HONE_ASSIGN(const auto chosen, tune::select_dispatches(program, patterns, not_tuned));
  HONE_ASSIGN(const iree::IreeProvider provider,
              make_provider(options.toolchain, toolchain.installation()));
  nlohmann::ordered_json document{{"schema_version", kSchemaVersion},
                                  {"program", options.input},
                                  {"target", target_json(options.toolchain)}};
  bool legal = true;
  for (const problem::Dispatch* dispatch : chosen) {
    HONE_ASSIGN(const space::Space stated, provider.space_of(*dispatch));
    HONE_ASSIGN(const space::Space space, stated.relax(options.relax));
    nlohmann::ordered_json json;
    if (options.json) {
      HONE_ASSIGN(json, to_json(space, options));
    }
    if (!options.check.empty()) {
      HONE_ASSIGN(const bool keeps, check(space, options, json));
      legal = legal && keeps;
    } else if (!options.json) {
      HONE_TRY(print(*dispatch, space, options));
    }
    json["dispatch"] = dispatch->name;
    json["operation"] = problem::describe(dispatch->root);
    document["spaces"].push_back(std::move(json));
  }
  if (options.json) fmt::print("{}\n", output::json_text(document));
  return legal ? 0 : 1;
}

}  // namespace

void add_space_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<SpaceOptions>();
  CLI::App* command = app.add_subcommand(
      "space", "Show the knobs, constraints and number of configurations of each dispatch");
  command->add_option("INPUT", options->input, kProgramFiles)->required();
  add_toolchain_options(*command, options->toolchain);
  command->add_option("--dispatch", options->dispatches,
                      "only those whose name matches; repeatable, or a number");
  command->add_option("--check", options->check,
                      "say which constraints a configuration breaks: dist_m=64,dist_n=64,...");
  command->add_option("--relax", options->relax, "soft constraint to drop, or 'all'; repeatable");
  command->add_option("--audit-rule", options->toolchain.audited_rule,
                      "the configurations that break this hard rule of hone's and no other");
  command->add_option("--samples", options->samples, "configurations to show")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the samples")->capture_default_str();
  command->add_flag("--json", options->json, "one JSON document on stdout");
  command->footer("Exit code 1 when --check finds a broken constraint.");
  command->callback([&run, options] {
    run = [options]() -> CommandResult {
      HONE_TRY(read_flags(options->toolchain));
      return show_space(*options);
    };
  });
}

}  // namespace hone::cli
