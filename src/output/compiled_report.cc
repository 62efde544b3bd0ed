#include "output/compiled_report.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "output/json_text.h"
#include "output/table.h"

namespace hone::output {
namespace {

Table table_of(const tune::CompiledDispatch& dispatch) {
  Table table({{"candidate", "id", Align::kRight},
               {"provider", "provider"},
               {"occupancy", "occupancy", Align::kRight},
               {"registers", "registers", Align::kRight},
               {"spills", "spills", Align::kRight},
               {"shared_bytes", "shared", Align::kRight},
               {"configuration", "configuration"}});
  for (const tune::CompiledRow& row : dispatch.ranked) {
    // Every kernel has registers. A count of 0 means that there is no assembler to tell them.
    const bool known = row.resources.registers > 0;
    const auto if_known = [&](nlohmann::json value, std::string text) {
      return known ? Cell{std::move(value), std::move(text)} : Cell{nullptr, "?"};
    };
    table.add({{row.candidate, ""},
               {row.provider, ""},
               if_known(row.occupancy, fmt::format("{:.3f}", row.occupancy)),
               if_known(row.resources.registers, ""),
               if_known(row.resources.spills, ""),
               {row.resources.shared_bytes, ""},
               {row.configuration, ""}});
  }
  return table;
}

}  // namespace

Result<std::string> compiled_report(const nlohmann::json& target,
                                    const tune::CompiledProgram& compiled, bool json,
                                    const std::filesystem::path& file) {
  nlohmann::json document{{"schema_version", kSchemaVersion},
                          {"program", compiled.program.path},
                          {"target", target},
                          {"dispatches", nlohmann::json::array()},
                          {"not_tuned", nlohmann::json::array()}};
  std::string text;
  const auto fails = std::ranges::find_if(
      compiled.dispatches, [](const auto& each) { return !each.default_failure.empty(); });
  if (fails != compiled.dispatches.end())
    text += fmt::format("as it is, the program does not compile: {}: {}\n", fails->dispatch->name,
                        fails->default_failure);
  for (const tune::NotTuned& not_tuned : compiled.not_tuned) {
    document["not_tuned"].push_back(
        {{"dispatch", not_tuned.dispatch}, {"reason", not_tuned.reason}});
    text += fmt::format("not tuned: {}: {}\n", not_tuned.dispatch, not_tuned.reason);
  }
  const tune::RunVerdict verdict = tune::verdict_of(compiled);
  document["verdict"] = {{"outcome", name_of(verdict.outcome)}, {"reason", verdict.reason}};
  for (const tune::CompiledDispatch& dispatch : compiled.dispatches) {
    const Table table = table_of(dispatch);
    document["dispatches"].push_back({{"dispatch", dispatch.dispatch->name},
                                      {"space", dispatch.space},
                                      {"tried", dispatch.tried},
                                      {"compiled", dispatch.compiled},
                                      {"distinct", dispatch.distinct},
                                      {"failed", dispatch.failures.count()},
                                      {"failed_reason", dispatch.failures.words()},
                                      {"default_failure", dispatch.default_failure},
                                      {"candidates", table.to_json()}});
    const std::string reason = dispatch.failures.words();
    text += fmt::format("{}: {} of {} tried compile, {} differ; the space has {}\n{}{}{}\n",
                        dispatch.dispatch->name, dispatch.compiled, dispatch.tried,
                        dispatch.distinct, format_count(dispatch.space), reason,
                        reason.empty() ? "" : "\n", dispatch.ranked.empty() ? "" : table.to_text());
  }
  const std::string written = json_text(document) + "\n";
  HONE_TRY(write_file_atomically(file, written));
  if (json) return written;
  return text + fmt::format(
                    "Nothing was measured: the order is by spilled registers, occupancy and shared "
                    "memory.\ncandidates: {}\n{}",
                    file.string(), last_line(verdict));
}

}  // namespace hone::output
