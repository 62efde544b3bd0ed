// Entries of specs as hone spec merge and show print them.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "output/table.h"
#include "provider/iree/spec/merged_spec.h"

namespace hone::cli {

// "kept", "repeats 1" or "shadowed by 1": by the position of the entry, counted from 1.
inline std::string state_of(const iree::MergedEntry& entry) {
  if (!entry.behind) return "kept";
  return fmt::format("{} {}", entry.repeated ? "repeats" : "shadowed by", *entry.behind + 1);
}

// Returns a row for each entry: position, matched operation, state, origin, configuration.
inline output::Table entries_table(const std::vector<iree::MergedEntry>& entries) {
  output::Table table({{"entry", "entry", output::kRight},
                       {"matches", "matches"},
                       {"state", "state"},
                       {"origin", "from"},
                       {"lowering_config", "configuration"}});
  for (std::size_t i = 0; i < entries.size(); ++i)
    table.add({{i + 1, ""},
               {entries[i].matches, ""},
               {state_of(entries[i]), ""},
               {entries[i].origin, ""},
               {entries[i].lowering_config, entries[i].lowering_config.empty() ? "-" : ""}});
  return table;
}

// Returns an object for each entry, with the state in words.
inline nlohmann::json entries_json(const std::vector<iree::MergedEntry>& entries) {
  nlohmann::json rows = nlohmann::json::array();
  for (const iree::MergedEntry& entry : entries) {
    rows.push_back(entry);
    rows.back()["state"] = state_of(entry);
  }
  return rows;
}

}  // namespace hone::cli
