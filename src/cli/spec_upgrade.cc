// hone spec upgrade: a spec of an older compiler in the syntax of today's.
#include <algorithm>

#include "base/file.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/spec_effects.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "provider/iree/compile_worker.h"
#include "session/input_program.h"
#include "session/toolchain.h"

namespace hone::cli {
namespace {

struct SpecUpgradeOptions {
  ToolchainOptions toolchain;
  std::string spec;
  std::string output;   // empty: nothing is written
  std::string program;  // empty: the entries' effect is not checked
  bool json = false;
};

const char* state_of(const iree::UpgradedEntry& entry) {
  if (!entry.problem.empty()) return "cannot";
  return entry.changes.empty() ? "as it was" : "upgraded";
}

// "tile_sizes -> workgroup, reduction (2024-09-27): 7 entries", oldest first, then the file's own.
std::vector<std::string> change_lines(const iree::UpgradedSpec& upgraded) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const iree::UpgradedEntry& entry : upgraded.entries)
    for (const std::string& change : entry.changes) {
      if (!entry.problem.empty()) continue;
      const auto found = std::ranges::find(counts, change, &decltype(counts)::value_type::first);
      if (found != counts.end())
        ++found->second;
      else
        counts.emplace_back(change, 1);
    }
  std::vector<std::string> lines;
  for (const auto& [change, count] : counts)
    lines.push_back(fmt::format("{}: {} {}", change, count, count == 1 ? "entry" : "entries"));
  for (const std::string& change : upgraded.changes) lines.push_back(change + ": the file");
  return lines;
}

struct UpgradeEffects {
  tune::CheckedSpec spec;
  std::vector<std::string> program_changes;  // of a program in an older syntax
};

Result<UpgradeEffects> effects_of(const SpecUpgradeOptions& options, const Toolchain& toolchain,
                                  const std::string& spec) {
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation()));
  HONE_ASSIGN(InputProgram program, read_program(options.program, toolchain));
  UpgradeEffects effects;
  if (std::filesystem::path(options.program).extension() == ".mlir") {
    HONE_ASSIGN(iree::UpgradedSpec upgraded,
                toolchain.compiler().ask(iree::kUpgradeSpec,
                                         {{options.program}, {std::move(program.bytes)}}));
    program.bytes = std::move(upgraded.text);
    effects.program_changes = std::move(upgraded.changes);
  }
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-upgrade-"));
  const std::filesystem::path file = folder.path() / "upgraded.mlir";
  HONE_TRY(write_file_atomically(file, spec));
  HONE_ASSIGN(effects.spec, tune::check_spec(toolchain.compiler(), provider->specs(),
                                             {.program_path = options.program,
                                              .program_bytes = program.bytes,
                                              .spec_path = file,
                                              .spec_bytes = spec,
                                              .flags = compile_flags(options.toolchain)}));
  return effects;
}

int finish_program(const SpecUpgradeOptions& options, const iree::UpgradedSpec& upgraded,
                   const std::string& compiler) {
  if (options.json) {
    output::print_document({{"program", options.spec},
                            {"output", options.output},
                            {"compiler", compiler},
                            {"changes", upgraded.changes}});
    return 0;
  }
  fmt::print("{}: a program, which IREE reads{}\n", options.spec,
             upgraded.changes.empty() ? "" : " after these changes");
  for (const std::string& change : upgraded.changes) fmt::print("  {}\n", change);
  if (options.output.empty())
    fmt::print("write it: hone spec upgrade {} -o upgraded.mlir\n", options.spec);
  else
    fmt::print("wrote {}\n", options.output);
  return 0;
}

void print_text(const SpecUpgradeOptions& options, const iree::UpgradedSpec& upgraded,
                std::size_t left) {
  const std::size_t width = output::screen_width();
  output::Table table({{"matcher", "entry"},
                       {"state", "state"},
                       {"changes", "changes", output::kRight},
                       {"problem", "why"},
                       {"line", "line", output::kRight}});
  for (const iree::UpgradedEntry& entry : upgraded.entries) {
    const bool is_left = entry.problem.empty();
    table.add({{entry.matcher, ""},
               {state_of(entry), ""},
               {is_left ? entry.changes.size() : 0, is_left ? "" : "-"},
               {entry.problem, is_left ? "-" : ""},
               {entry.line, ""}});
  }
  fmt::print("{}: {} of {} entries are in today's syntax\n\n{}", options.spec, left,
             upgraded.entries.size(), table.to_text(width));
  const std::vector<std::string> lines = change_lines(upgraded);
  if (!lines.empty()) fmt::print("\nchanges, by the date of IREE's commit (docs/migration.md)\n");
  for (const std::string& line : lines) fmt::print("  {}\n", line);
  for (const iree::UpgradedEntry& entry : upgraded.entries)
    if (!entry.problem.empty())
      fmt::print("{}\n", output::wrapped(fmt::format("{}:{}: @{}: {}", options.spec, entry.line,
                                                     entry.matcher, entry.problem),
                                         width, "    "));
  if (!upgraded.left_out.empty())
    fmt::print("{}\n", output::wrapped(fmt::format("left out, used by no entry: {}",
                                                   fmt::join(upgraded.left_out, ", ")),
                                       width, "    "));
  if (!options.output.empty() && left > 0) fmt::print("wrote {}\n", options.output);
  if (options.output.empty() && left > 0)
    fmt::print("write it: hone spec upgrade {} -o upgraded.mlir\n", options.spec);
}

CommandResult upgrade_given(SpecUpgradeOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  std::error_code code;
  if (std::filesystem::is_directory(options.output, code))
    return input_error("'{}' is a folder; name a file: -o upgraded.mlir", options.output);
  HONE_ASSIGN(std::string bytes, read_file(options.spec));
  HONE_ASSIGN(const Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const iree::UpgradedSpec upgraded,
              toolchain.compiler().ask(iree::kUpgradeSpec, {{options.spec}, {std::move(bytes)}}));
  if (upgraded.is_program) {
    if (!options.output.empty()) HONE_TRY(write_file_atomically(options.output, upgraded.text));
    return finish_program(options, upgraded, toolchain.revision());
  }
  const auto left = static_cast<std::size_t>(std::ranges::count_if(
      upgraded.entries, [](const auto& entry) { return entry.problem.empty(); }));
  std::optional<UpgradeEffects> effects;
  if (!options.program.empty() && left > 0) {
    HONE_ASSIGN(effects, effects_of(options, toolchain, upgraded.text));
  }
  if (!options.output.empty() && left > 0)
    HONE_TRY(write_file_atomically(options.output, upgraded.text));

  if (options.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const iree::UpgradedEntry& entry : upgraded.entries) {
      rows.push_back(entry);
      rows.back()["state"] = state_of(entry);
    }
    nlohmann::json document{{"spec", options.spec},
                            {"output", left > 0 ? options.output : ""},
                            {"compiler", toolchain.revision()},
                            {"upgraded", rows},
                            {"changes", upgraded.changes},
                            {"left_out", upgraded.left_out}};
    if (effects) {
      document.update(effects_json(effects->spec));
      document.update({{"program", options.program},
                       {"program_changes", effects->program_changes},
                       {"target", target_json(options.toolchain)}});
    }
    output::print_document(std::move(document));
  } else {
    print_text(options, upgraded, left);
    if (effects) {
      for (const std::string& change : effects->program_changes)
        fmt::print("{}: {}\n", options.program, change);
      fmt::print("\n");
      print_effects({options.output.empty() ? options.spec : options.output, options.program,
                     options.toolchain.target},
                    effects->spec, {});
    }
  }
  const bool all_work = !effects || working_entries(effects->spec) == effects->spec.entries.size();
  return left == upgraded.entries.size() && all_work ? 0 : 1;
}

}  // namespace

void add_spec_upgrade_command(CLI::App& spec, Action& run) {
  const auto [command, options] = add_command<SpecUpgradeOptions>(
      spec, run, "upgrade",
      "Write a spec or program of an older compiler (since 2024) in today's syntax", upgrade_given);
  command.add_option("OLD", options.spec, "tuning spec or program of an older compiler (.mlir)")
      ->required();
  command.add_option("-o,--output", options.output, "file to write [none: print the table only]");
  command.add_option("--program", options.program,
                     "check each entry's effect on this program (.mlir, .mlirbc, .onnx)");
  add_toolchain_options(command, options.toolchain);
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer(
      "An entry that cannot be upgraded is left out, and the table says why. Nothing\n"
      "is guessed: docs/migration.md lists the rules. Exit code 1: an entry is left\n"
      "out, or with --program does not work. Exit code 2: no spec, or one of a newer\n"
      "compiler; nothing is written.");
  command.allow_extras();
}

}  // namespace hone::cli
