// Tuning specs of older compilers in the form that today's compiler reads.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/spec/merged_spec.h"
#include "provider/message.h"

namespace hone::iree {

struct UpgradedEntry {
  std::string matcher;               // its symbol
  int line = 0;                      // of the old file
  std::vector<std::string> changes;  // "tile_sizes -> workgroup, reduction (2024-09-27)"
  std::string problem;               // why it is not in the upgraded spec; empty if it is

  static void fields(auto& entry, auto&& field) {
    field("matcher", entry.matcher);
    field("line", entry.line);
    field("changes", entry.changes);
    field("problem", entry.problem);
  }
};

struct UpgradedSpec {
  bool is_program = false;             // no spec: it has no entries
  std::vector<UpgradedEntry> entries;  // in order
  std::vector<std::string> changes;    // of the file: its entry point, its functions
  std::vector<std::string> left_out;   // sequences that no entry in the spec uses
  std::string text;                    // a blob; empty if no entry is left

  static void fields(auto& spec, auto&& field) {
    field("is_program", spec.is_program);
    field("entries", spec.entries);
    field("changes", spec.changes);
    field("left_out", spec.left_out);
  }
};
void give_blobs(UpgradedSpec& spec, provider::Message& message);
Status take_blobs(UpgradedSpec& spec, provider::Message& message);

// Upgrades the first of `sources`, which is text: a spec or a program. A rule changes an entry only
// if the commit that made the change says what the old form meant. An entry that no rule upgrades,
// or that today's compiler does not parse afterwards, is left out with the reason. Comments stay.
// Input errors: text that is no spec of any date; a spec of which the compiler reads nothing and
// that no rule applies to, such as one of a newer compiler; a program that it does not read after
// the changes.
Result<UpgradedSpec> upgrade_spec(const CompilerLibrary& library, const SpecSources& sources);

}  // namespace hone::iree
