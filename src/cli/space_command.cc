// hone space: knobs, constraints, counts, samples of the space of a dispatch or a GEMM.
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "output/json_text.h"
#include "provider/iree/gpu/space.h"
#include "provider/triton/listed_gemms.h"
#include "session/input_program.h"
#include "session/toolchain.h"
#include "space/configuration.h"
#include "tune/services/select_dispatches.h"

namespace hone::cli {
namespace {

struct SpaceCommandOptions {
  ToolchainOptions toolchain;
  triton::GemmOptions gemms;
  std::string input;
  std::string rules = "all";  // or "compiler"
  std::vector<std::string> dispatches;
  std::vector<std::string> relax;
  std::string check;
  std::size_t samples = 3;
  std::uint64_t seed = 42;
  bool json = false;
};

// Dispatch to show, with its space.
struct ShownSpace {
  std::string name, operation;
  space::Space space;
};

std::string_view name_of(space::Hardness hardness) {
  return hardness == space::Hardness::kHard ? "hard" : "soft";
}

Result<nlohmann::ordered_json> to_json(const space::Space& space,
                                       const SpaceCommandOptions& options) {
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
                                   {"reason", space::reason_text(constraint)}});
  HONE_ASSIGN(const auto samples, space.samples(options.samples, options.seed));
  json["samples"] = nlohmann::ordered_json::array();
  for (const space::Configuration& sample : samples)
    json["samples"].push_back(space::to_json(space, sample));
  return json;
}

void print_knobs(const space::Space& space) {
  std::size_t width = 0;
  for (const space::Knob& knob : space.knobs()) width = std::max(width, knob.name.size());
  fmt::print("  knobs\n");
  for (const space::Knob& knob : space.knobs())
    fmt::print("    {:{}} {{{}}}{}{}\n", knob.name, width, space::domain_text(knob.values),
               knob.description.empty() ? "" : "  ", knob.description);
}

void print_rules(const space::Space& space, const std::vector<std::string>& pipelines) {
  constexpr std::size_t kWidest = 32;
  const std::vector<space::Rule> rules = space::rules_of(space);
  const auto says_its_name = [](const space::Rule& rule) {
    return rule.text.starts_with(rule.name);
  };
  std::size_t width = 0;
  for (const space::Rule& rule : rules)
    if (!says_its_name(rule)) width = std::max(width, std::min(rule.name.size(), kWidest));
  fmt::print("  constraints\n");
  for (const space::Rule& rule : rules) {
    std::vector<std::string> where;
    for (const std::size_t part : rule.parts)
      where.push_back(part < pipelines.size() ? pipelines[part] : std::to_string(part));
    fmt::print("    {} ", name_of(rule.hardness));
    if (!says_its_name(rule)) fmt::print("{:{}} ", rule.name, width);
    fmt::print("{}{}\n", rule.text,
               where.empty() ? std::string() : fmt::format(" [{}]", fmt::join(where, ", ")));
  }
}

Status print(const ShownSpace& shown, const SpaceCommandOptions& options) {
  const space::Space& space = shown.space;
  fmt::print("{}: {}\n", shown.name, shown.operation);
  fmt::print("  {} configurations{}{}\n", format_count(space.count().value),
             options.rules == "all" ? "" : " by what the compiler states alone",
             space.count().exact ? "" : " at most (too many to count exactly)");
  const std::vector<std::string> pipelines = iree::pipeline_names(space);
  for (std::size_t i = 0; i < space.parts().size() && i < pipelines.size(); ++i)
    fmt::print("    pipeline={} {}: {}\n", i, pipelines[i],
               format_count(space.parts()[i].count().value));
  print_knobs(space);
  print_rules(space, pipelines);
  HONE_ASSIGN(const auto samples, space.samples(options.samples, options.seed));
  if (!samples.empty()) fmt::print("  samples\n");
  for (const space::Configuration& sample : samples)
    fmt::print("    {}\n", space::to_string(space, sample));
  return {};
}

// Reports the constraints that the configuration breaks, in `json` and on the screen. Returns
// whether it is legal.
Result<bool> check(const space::Space& space, const SpaceCommandOptions& options,
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
    fmt::print("{}: {}\n", name_of(violation.hardness),
               space::named(violation.constraint, violation.reason));
  return violations.empty();
}

// Returns the patterns of --dispatch, with numbers replaced by the dispatches' names.
Result<std::vector<std::string>> names_of(const problem::Program& program,
                                          std::vector<std::string> wanted) {
  for (std::string& each : wanted) {
    if (each.find_first_not_of("0123456789") != std::string::npos) continue;
    HONE_ASSIGN(const problem::Dispatch* const dispatch, tune::find_dispatch(program, each));
    each = dispatch->name;
  }
  return wanted;
}

Result<std::vector<ShownSpace>> spaces_of_program(const SpaceCommandOptions& options) {
  HONE_ASSIGN(const OpenedProgram opened, open_program(options.toolchain, options.input));
  HONE_ASSIGN(const problem::Program program, load(opened, options.toolchain, options.input));
  std::vector<tune::NotTuned> not_tuned;
  HONE_ASSIGN(const auto patterns, names_of(program, options.dispatches));
  HONE_ASSIGN(const auto chosen, tune::select_dispatches(program, patterns, not_tuned));
  HONE_ASSIGN(const auto provider,
              make_provider(options.toolchain, opened.toolchain.installation()));
  std::vector<ShownSpace> shown;
  for (const problem::Dispatch* dispatch : chosen) {
    HONE_ASSIGN(space::Space space, options.rules == "compiler" ? iree::compiler_space(*dispatch)
                                                                : provider->space_of(*dispatch));
    shown.push_back({dispatch->name, problem::describe(dispatch->root), std::move(space)});
  }
  return shown;
}

Result<std::vector<ShownSpace>> spaces_of_gemms(const SpaceCommandOptions& options) {
  if (options.rules != "all" || !options.toolchain.audited_rule.empty())
    return input_error("{} is for programs: no compiler states constraints for Triton's GEMMs",
                       options.rules != "all" ? "--rules compiler" : "--audit-rule");
  const auto target = gpu_of(options.toolchain);
  if (!target)
    return input_error("the space of a GEMM is a GPU's: --target sm_90, gfx942, ... names it");
  device::Facts facts;
  facts.target = target->arch;
  HONE_ASSIGN(const auto listed, triton::listed_gemms(options.gemms, options.input));
  HONE_ASSIGN(const auto provider, listed->provider_for(facts));
  std::vector<ShownSpace> shown;
  for (const problem::Dispatch& dispatch : listed->dispatches()) {
    Result<space::Space> space = provider->space_of(dispatch);
    if (!space)
      return tl::unexpected(Error{space.error().kind, listed->place_of(dispatch) + dispatch.name +
                                                          ": " + space.error().message});
    shown.push_back({dispatch.name, problem::describe(dispatch.root), *std::move(space)});
  }
  return shown;
}

CommandResult show_spaces(const SpaceCommandOptions& options, std::vector<ShownSpace> spaces) {
  nlohmann::ordered_json document{
      {"schema_version", output::kSchemaVersion},
      {"program",
       options.input.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(options.input)},
      {"target", target_json(options.toolchain)},
      {"rules", options.rules}};
  bool legal = true;
  for (ShownSpace& shown : spaces) {
    HONE_ASSIGN(shown.space, shown.space.relax(options.relax));
    nlohmann::ordered_json json;
    if (options.json) {
      HONE_ASSIGN(json, to_json(shown.space, options));
    }
    if (!options.check.empty()) {
      HONE_ASSIGN(const bool keeps, check(shown.space, options, json));
      legal = legal && keeps;
    } else if (!options.json) {
      HONE_TRY(print(shown, options));
    }
    json["dispatch"] = shown.name;
    json["operation"] = shown.operation;
    document["spaces"].push_back(std::move(json));
  }
  if (options.json) output::print_json(document);
  return legal ? 0 : 1;
}

}  // namespace

void add_space_command(CLI::App& app, Action& run) {
  auto options = std::make_shared<SpaceCommandOptions>();
  CLI::App* command =
      app.add_subcommand("space", "Show knobs, constraints and configuration counts");
  command->add_option("INPUT", options->input,
                      std::string(kProgramFiles) + ", or a list of GEMMs (.yaml)");
  add_toolchain_options(*command, options->toolchain);
  add_gemm_list_options(*command, options->gemms);
  command->add_option("--dispatch", options->dispatches,
                      "show only dispatches with NAME, pattern or number; repeatable");
  command->add_option("--check", options->check,
                      "print the constraints that dist_m=64,dist_n=64,... breaks");
  command->add_option("--relax", options->relax, "drop a soft constraint, or 'all'; repeatable");
  add_default_option(*command, "--rules", options->rules,
                     "all rules, or only the compiler's own (GPU programs)")
      ->check(CLI::IsMember({"all", "compiler"}));
  command->add_option("--audit-rule", options->toolchain.audited_rule,
                      "show configurations that break only this hard rule");
  add_default_option(*command, "--samples", options->samples, "show N configurations");
  add_default_option(*command, "--seed", options->seed, "seed of the samples");
  command->add_flag("--json", options->json, "print one JSON document");
  command->footer("Exit code 1: --check finds a broken constraint.");
  command->callback([&run, options, command] {
    // Refuse flags only: a configuration file may hold options for all GEMMs.
    run = [options, flags = refuse_gemm_options(*command)]() -> CommandResult {
      HONE_TRY(read_flags(options->toolchain));
      if (triton::names_gemms(options->gemms, options->input)) {
        HONE_ASSIGN(auto spaces, spaces_of_gemms(*options));
        return show_spaces(*options, std::move(spaces));
      }
      if (options->input.empty())
        return input_error(
            "INPUT is missing: a program (.mlir, .mlirbc, .onnx), a list of GEMMs (.yaml), or -m, "
            "-n and -k");
      HONE_TRY(flags);
      if (options->rules != "all" && !options->toolchain.audited_rule.empty())
        return input_error(
            "--audit-rule names a rule of hone's, and --rules compiler drops all of them");
      HONE_ASSIGN(auto spaces, spaces_of_program(*options));
      return show_spaces(*options, std::move(spaces));
    };
  });
}

}  // namespace hone::cli
