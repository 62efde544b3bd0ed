// Effect of a spec's entries on a program, for hone spec check and merge.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/program/spec_check.h"

namespace hone::cli {

std::size_t working_entries(const tune::CheckedSpec& checked);

// Keys "entries", "spec_classes" and "working" of a document. Each entry has every dispatch that it
// matches. An entry for one dispatch applies to its whole class.
nlohmann::json effects_json(const tune::CheckedSpec& checked);

// Names on the screen.
struct CheckedNames {
  std::string spec, program, target;
};

// Prints the verdict, then the flags, the entries, and dispatches that share one. `flags` apply the
// spec; empty: nothing is printed of them.
void print_effects(const CheckedNames& names, const tune::CheckedSpec& checked,
                   const std::vector<std::string>& flags);

}  // namespace hone::cli
