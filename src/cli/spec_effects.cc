#include "cli/spec_effects.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "output/screen.h"
#include "output/table.h"

namespace hone::cli {
namespace {

// Rows of the screen; --json has all.
constexpr std::size_t kMostEntries = 30;

const problem::Dispatch& dispatch_of(const tune::CheckedSpec& checked, const tune::SpecUse& use) {
  return checked.program.dispatches[use.dispatch];
}

// "applied 3, shadowed 1".
std::string effects_of(const tune::CheckedEntry& entry) {
  std::map<tune::SpecEffect, std::size_t> counts;
  for (const tune::SpecUse& use : entry.uses) ++counts[use.effect];
  std::string text;
  for (const auto& [effect, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tune::name_of(effect), count);
  return text.empty() ? "does nothing" : text;
}

// Why an entry does not work, or what is different for an applied one.
std::string why_of(const tune::CheckedEntry& entry) {
  if (entry.uses.empty()) return "no dispatch matches";
  const auto worst = std::ranges::max_element(entry.uses, {}, &tune::SpecUse::effect);
  return worst->note.empty() ? "-" : output::in_one_line(worst->note);
}

// Returns a row for each entry; --json has each dispatch that it matches. Of many entries those
// that do not work come first.
output::Table table_of(const tune::CheckedSpec& checked) {
  output::Table table({{"matcher", "entry"},
                       {"effect", "effect on dispatches"},
                       {"matches", "first match"},
                       {"note", "why"},
                       {"line", "line", output::kRight}});
  std::vector<const tune::CheckedEntry*> entries;
  for (const tune::CheckedEntry& entry : checked.entries) entries.push_back(&entry);
  if (entries.size() > kMostEntries)
    std::ranges::stable_partition(entries, [](const auto* entry) { return !entry->works(); });
  for (const tune::CheckedEntry* entry : entries)
    table.add({{entry->entry.matcher, ""},
               {effects_of(*entry), ""},
               {entry->uses.empty() ? "-" : dispatch_of(checked, entry->uses.front()).name, ""},
               {why_of(*entry), ""},
               {entry->entry.line, ""}});
  return table;
}

nlohmann::json json_of(const tune::CheckedSpec& checked) {
  nlohmann::json entries = nlohmann::json::array();
  for (const tune::CheckedEntry& entry : checked.entries) {
    nlohmann::json uses = nlohmann::json::array();
    for (const tune::SpecUse& use : entry.uses)
      uses.push_back({{"dispatch", dispatch_of(checked, use).name},
                      {"spec_class", checked.spec_class[use.dispatch]},
                      {"effect", tune::name_of(use.effect)},
                      {"applied", use.effect == tune::SpecEffect::kApplied},
                      {"legal", use.effect != tune::SpecEffect::kIllegal},
                      {"note", use.note}});
    entries.push_back({{"matcher", entry.entry.matcher},
                       {"line", entry.entry.line},
                       {"parses", true},
                       {"matches", uses},
                       {"works", entry.works()}});
    for (const provider::NamedText& part : entry.says) entries.back()[part.name] = part.text;
  }
  return entries;
}

// Returns the classes of dispatches: an entry for one dispatch applies to its whole class.
nlohmann::json classes_of(const tune::CheckedSpec& checked) {
  nlohmann::json classes = nlohmann::json::array();
  for (std::size_t first = 0; first < checked.spec_class.size(); ++first) {
    nlohmann::json members = nlohmann::json::array();
    for (std::size_t d = first; d < checked.spec_class.size(); ++d)
      if (checked.spec_class[d] == first) members.push_back(checked.program.dispatches[d].name);
    if (checked.spec_class[first] == first)
      classes.push_back({{"spec_class", first}, {"dispatches", members}});
  }
  return classes;
}

}  // namespace

std::size_t working_entries(const tune::CheckedSpec& checked) {
  return static_cast<std::size_t>(
      std::ranges::count_if(checked.entries, &tune::CheckedEntry::works));
}

nlohmann::json effects_json(const tune::CheckedSpec& checked) {
  return {{"entries", json_of(checked)},
          {"spec_classes", classes_of(checked)},
          {"working", working_entries(checked)}};
}

void print_effects(const CheckedNames& names, const tune::CheckedSpec& checked,
                   const std::vector<std::string>& flags) {
  constexpr std::size_t kMostClasses = 3, kMostIllegal = 3;
  const std::size_t width = output::screen_width();
  fmt::print("{}\n", output::wrapped(
                         fmt::format("{} of {} entries work for {} on {}", working_entries(checked),
                                     checked.entries.size(), names.program, names.target),
                         width));
  std::string words = "use it: iree-compile";
  for (const std::string& flag : flags) words += " " + shell_word(flag);
  if (!flags.empty()) fmt::print("{}\n", output::wrapped(words, width, "    ", " \\"));
  fmt::print("\n{}", table_of(checked).first_text(kMostEntries, width, " (--json)"));
  std::size_t illegal = 0;
  for (const tune::CheckedEntry& entry : checked.entries)
    for (const tune::SpecUse& use : entry.uses)
      if (use.effect == tune::SpecEffect::kIllegal && ++illegal <= kMostIllegal)
        fmt::print("\n{}:{}: @{} on {}: {}\n", names.spec, entry.entry.line, entry.entry.matcher,
                   dispatch_of(checked, use).name, use.note);
  if (illegal > kMostIllegal)
    fmt::print("{} more do not compile (--json)\n", illegal - kMostIllegal);
  std::size_t classes = 0;
  for (const auto& each : classes_of(checked)) {
    const auto sharing = each.at("dispatches").get<std::vector<std::string>>();
    if (sharing.size() < 2 || ++classes > kMostClasses) continue;
    fmt::print("{}\n", output::cut_at_end(fmt::format("{} dispatches share an entry: {}",
                                                      sharing.size(), fmt::join(sharing, ", ")),
                                          width));
  }
  if (classes > kMostClasses)
    fmt::print("{} more classes of dispatches that share an entry (--json)\n",
               classes - kMostClasses);
}

}  // namespace hone::cli
