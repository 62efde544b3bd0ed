// hone spec audit: whether each entry of a spec still helps, and the spec of those that do.
#include "tune/compare/spec_audit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "provider/iree/compile_worker.h"
#include "session/comparison_session.h"
#include "session/input_program.h"
#include "session/out_folder.h"
#include "session/places.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct SpecAuditOptions : ComparisonSessionOptions {
  std::string spec;  // or a folder of --out
  std::string program;
  std::string output;  // of the spec that is left; empty: it is not written
  bool times_same_code = false;
};

// The result, and what it is about.
struct Audit {
  tune::SpecCheckRequest request;
  tune::CheckedSpec checked;
  std::vector<tune::AuditedEntry> entries;
  std::string not_measured = {};  // why no speed is known; empty if it is
  std::vector<std::string> notes = {};
  bool is_written = false;

  bool all_help() const {
    return std::ranges::all_of(
        entries, [](const tune::AuditedEntry& entry) { return tune::is_kept(entry.state); });
  }
};

// Reads the spec, and of a folder of --out its flags and its target too. A spec among the flags is
// dropped: the default goes without it.
Status read_audited(SpecAuditOptions& options, Audit& audit) {
  HONE_TRY(read_flags(options.toolchain));
  std::error_code code;
  if (!fs::is_directory(options.spec, code)) {
    audit.request.spec_path = options.spec;
    HONE_ASSIGN(audit.request.spec_bytes, read_file(options.spec));
  } else {
    HONE_ASSIGN(OutFolder folder, read_out_folder(options.spec));
    if (folder.spec.empty() && !folder.kernels.empty())
      return input_error(
          "'{0}' has kernels and no tuning spec, and kernels are not audited: is it "
          "still faster? hone recheck {0}",
          options.spec);
    if (folder.spec.empty())
      return input_error("'{}' has no tuning spec: its {} names none", options.spec, kFlagsName);
    if (!folder.kernels.empty())
      audit.notes.push_back(
          fmt::format("kernels are not audited: hone spec check {}/{} --program {}", options.spec,
                      kKernelsName, options.program));
    audit.request.spec_path = folder.spec_path;
    audit.request.spec_bytes = folder.spec;
    ToolchainOptions& toolchain = options.toolchain;
    if (toolchain.target == "host" && !folder.target.empty()) toolchain.target = folder.target;
    std::vector<std::string> flags = folder.flags;
    for (std::string& flag : transform_flags(folder, fs::absolute(options.spec, code)))
      flags.push_back(std::move(flag));
    toolchain.flags.insert(toolchain.flags.begin(), flags.begin(), flags.end());
  }
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, {}));
  provider->specs().take_spec(options.toolchain.flags);
  return {};
}

// Chooses where to measure. If the target's device is missing, nothing is measured, unless the
// command line names one.
Status choose_device(SpecAuditOptions& options, Audit& audit) {
  Result<device::Place> place = choose_place(options.device, options.toolchain, options.cores);
  if (place) {
    options.compare.place = std::move(*place);
    return {};
  }
  const bool is_missing =
      place.error().kind == ErrorKind::kEnvironment ||
      (place.error().kind == ErrorKind::kInput && options.toolchain.target != "host");
  if (!options.device.empty() || !is_missing) return tl::unexpected(std::move(place).error());
  const Error& error = place.error();
  audit.not_measured = error.without_advice.empty() ? error.message : error.without_advice;
  return {};
}

Status time_entries(const SpecAuditOptions& options, ComparisonSession& session, Audit& audit) {
  HONE_TRY(session.check_machine());
  const Status timed =
      tune::time_entries(session.context(), session.compiler(),
                         {audit.checked, audit.request, options.times_same_code}, audit.entries);
  session.status().clear();
  return timed;
}

// Writes the spec without the entries that do not help; with none left, nothing is written.
Status write_rest(const SpecAuditOptions& options, const Toolchain& toolchain, Audit& audit) {
  if (options.output.empty()) return {};
  iree::SpecSources sources{{audit.request.spec_path.string()}, {audit.request.spec_bytes}};
  for (std::size_t i = 0; i < audit.entries.size(); ++i)
    if (!tune::is_kept(audit.entries[i].state)) sources.left_out.push_back(static_cast<int>(i));
  if (sources.left_out.size() == audit.entries.size()) {
    audit.notes.push_back(fmt::format(
        "'{}' is not written: no entry is left, so compile without a spec", options.output));
    return {};
  }
  HONE_ASSIGN(const iree::MergedSpec rest,
              toolchain.compiler().ask(iree::kMergeSpecs, std::move(sources)));
  HONE_TRY(write_file_atomically(options.output, rest.text));
  audit.is_written = true;
  for (const std::string& use : tune::revived_uses(audit.checked, audit.entries))
    audit.notes.push_back(fmt::format("in '{0}' {1}: hone spec audit {0} --program {2}",
                                      options.output, use, options.program));
  return {};
}

output::Cell speedup_cell(const std::optional<measure::PairedComparison>& timed) {
  if (!timed) return {nullptr, "-"};
  return {1 / timed->ratio, fmt::format("{:.2f}x [{:.2f}, {:.2f}]", 1 / timed->ratio,
                                        1 / timed->interval.high, 1 / timed->interval.low)};
}

// "main_dispatch_0", "main_dispatch_0 and 2 more".
std::string matches_of(const tune::CheckedSpec& checked, const tune::CheckedEntry& entry) {
  if (entry.uses.empty()) return "-";
  const std::string& first = checked.program.dispatches[entry.uses.front().dispatch].name;
  return entry.uses.size() == 1 ? first
                                : fmt::format("{} and {} more", first, entry.uses.size() - 1);
}

output::Table audit_table(const Audit& audit) {
  output::Table table({{"matcher", "entry"},
                       {"state", "state"},
                       {"speedup", "speedup", output::kRight},
                       {"rounds", "rounds", output::kRight},
                       {"matches", "matches"},
                       {"note", "why"},
                       {"line", "line", output::kRight}});
  for (std::size_t i = 0; i < audit.entries.size(); ++i) {
    const tune::AuditedEntry& entry = audit.entries[i];
    const tune::CheckedEntry& checked = audit.checked.entries[i];
    table.add({{checked.entry.matcher, ""},
               {tune::name_of(entry.state), ""},
               speedup_cell(entry.timed),
               entry.timed ? output::Cell{entry.timed->rounds, ""} : output::Cell{nullptr, "-"},
               {matches_of(audit.checked, checked), ""},
               {entry.note, entry.note.empty() ? "-" : output::in_one_line(entry.note)},
               {checked.entry.line, ""}});
  }
  return table;
}

nlohmann::json audited_json(const Audit& audit) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < audit.entries.size(); ++i) {
    const tune::AuditedEntry& entry = audit.entries[i];
    const tune::CheckedEntry& checked = audit.checked.entries[i];
    nlohmann::json dispatches = nlohmann::json::array();
    for (const tune::ComparedPair& pair : entry.dispatches)
      dispatches.push_back({{"dispatch", pair.what},
                            {"rounds", pair.a_seconds.size()},
                            {"ratio", number(pair.result.ratio)},
                            {"same_code", pair.same_code},
                            {"failure", pair.failure}});
    nlohmann::json& row = rows.emplace_back(nlohmann::json{{"matcher", checked.entry.matcher},
                                                           {"line", checked.entry.line},
                                                           {"state", tune::name_of(entry.state)},
                                                           {"kept", tune::is_kept(entry.state)},
                                                           {"note", entry.note},
                                                           {"matches", nlohmann::json::array()},
                                                           {"timed", nlohmann::json()},
                                                           {"dispatches", dispatches}});
    for (const tune::SpecUse& use : checked.uses)
      row["matches"].push_back({{"dispatch", audit.checked.program.dispatches[use.dispatch].name},
                                {"effect", tune::name_of(use.effect)},
                                {"changed", use.changed}});
    if (entry.timed)
      row["timed"] = {{"verdict", measure::name_of(entry.timed->verdict)},
                      {"rounds", entry.timed->rounds},
                      {"speedup", number(1 / entry.timed->ratio)},
                      {"speedup_low", number(1 / entry.timed->interval.high)},
                      {"speedup_high", number(1 / entry.timed->interval.low)},
                      {"p_value", entry.timed->p_value}};
  }
  return rows;
}

void print_audit(const SpecAuditOptions& options, const Toolchain& toolchain, const Audit& audit) {
  std::map<std::string, std::size_t> counts;
  for (const tune::AuditedEntry& entry : audit.entries)
    ++counts[std::string(tune::name_of(entry.state))];
  if (options.json) {
    output::print_document(
        {{"spec", audit.request.spec_path.string()},
         {"program", options.program},
         {"compiler", toolchain.revision()},
         {"target", target_json(options.toolchain)},
         {"alpha", options.compare.statistics.alpha},
         {"threshold", options.compare.statistics.threshold},
         {"not_measured", output::text_or_null(audit.not_measured)},
         {"states", counts},
         {"entries", audited_json(audit)},
         {"written", audit.is_written ? nlohmann::json(options.output) : nlohmann::json()},
         {"notes", audit.notes}});
    return;
  }
  const std::size_t width = output::screen_width();
  std::string states;
  for (const auto& [state, count] : counts)
    states += fmt::format("{}{} {}", states.empty() ? "" : ", ", count, state);
  fmt::print("{}\n\n{}",
             output::wrapped(fmt::format("{} entries for {} on {}: {}", audit.entries.size(),
                                         options.program, options.toolchain.target, states),
                             width),
             audit_table(audit).to_text(width));
  std::string rest;
  if (!audit.not_measured.empty())
    rest += fmt::format("speed is not measured: {}\n", audit.not_measured);
  else
    rest += fmt::format(
        "speedup: over today's default, kernels alone; false-positive rate of all entries: at most "
        "{:g} %\n",
        100 * options.compare.statistics.alpha);
  for (const std::string& note : audit.notes) rest += note + "\n";
  if (audit.is_written) rest += fmt::format("written: {}\n", options.output);
  fmt::print("{}", output::wrapped(rest, width));
}

CommandResult audit_spec(SpecAuditOptions& options) {
  Audit audit;
  HONE_TRY(read_audited(options, audit));
  std::error_code code;
  if (fs::is_directory(options.output, code))
    return input_error("'{}' is a folder; name a file: -o rest.mlir", options.output);
  HONE_TRY(choose_device(options, audit));
  HONE_ASSIGN(const auto session,
              ComparisonSession::open(options, ComparisonSession::Needs::kCompiler,
                                      audit.not_measured.empty()));
  const Toolchain& toolchain = session->toolchain();
  HONE_ASSIGN(InputProgram input, read_program(options.program, toolchain));
  if (!options.json) print_notes_of(input);
  print_target_note(options.toolchain);
  audit.request.flags = options.compare.flags;
  audit.request.program_path = options.program;
  audit.request.program_bytes = std::move(input.bytes);
  HONE_ASSIGN(audit.checked,
              tune::check_spec(session->compiler(), session->provider().specs(), audit.request));
  audit.entries = tune::entry_states(audit.checked);
  if (audit.not_measured.empty()) HONE_TRY(time_entries(options, *session, audit));
  HONE_TRY(write_rest(options, toolchain, audit));
  print_audit(options, toolchain, audit);
  return audit.all_help() ? 0 : 1;
}

}  // namespace

void add_spec_audit_command(CLI::App& spec, Action& run) {
  const auto [command, options] = add_command<SpecAuditOptions>(
      spec, run, "audit", "Say of each entry of a spec whether it still helps; write those that do",
      audit_spec);
  command.add_option("SPEC", options.spec, "tuning spec (.mlir, .mlirbc) or folder of --out")
      ->required();
  command.add_option("--program", options.program, "program of the spec (.mlir, .mlirbc, .onnx)")
      ->required();
  command.add_option("-o,--output", options.output, "write the entries that help to FILE");
  add_comparison_options(command, options, "kernels",
                         "significance level: allowed false-positive rate of all entries together");
  add_default_option(command, "--seed", options.compare.seed,
                     "seed of generated inputs and of the order");
  command.add_flag("--time-equal", options.times_same_code,
                   "time entries that equal the default too; their verdicts are false alarms");
  command.footer(
      "Exit code 1: an entry is dead, shadowed, ignored, illegal or wrong, equals the\n"
      "default, or is slower. Without the target's device, speed is not measured.");
  command.allow_extras();
}

}  // namespace hone::cli
