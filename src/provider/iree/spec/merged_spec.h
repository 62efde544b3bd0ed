// Several tuning specs as one with one entry point: the entries of each in order, without those
// that never have their turn.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/message.h"

namespace hone::iree {

// Files of specs, text or bytecode.
struct SpecSources {
  std::vector<std::string> paths;  // for messages and origins
  std::vector<std::string> bytes;  // blobs, one for each path
  // Entries that the merged spec is to lack: positions, counted over all files.
  std::vector<int> left_out = {};

  static void fields(auto& sources, auto&& field) {
    field("paths", sources.paths);
    field.or_default("left_out", sources.left_out);
  }
};
void give_blobs(SpecSources& sources, provider::Message& message);
Status take_blobs(SpecSources& sources, provider::Message& message);

struct MergedEntry {
  std::string path;     // of its file
  std::string matcher;  // its symbol there: "match_mm", in a linked spec "spec_b::@match_mm"
  int line = 0;         // where that begins; 0 in bytecode
  // Where an earlier merge found it, "a.mlir:12 @match_mm"; else the same of this file.
  std::string origin;
  std::string matches;  // the operation, as far as the matcher states it: for people
  // Configuration as the compiler prints it; empty where the entry has none.
  std::string lowering_config, translation_info;
  // An entry before it, by index, that matches by the same conditions: this one never has its turn.
  std::optional<int> behind;
  bool repeated = false;  // and does the same, too
  std::string symbol;     // of the matcher in the merged spec; empty for one that is not in it

  static void fields(auto& entry, auto&& field) {
    field("path", entry.path);
    field("matcher", entry.matcher);
    field("line", entry.line);
    field("origin", entry.origin);
    field("matches", entry.matches);
    field("lowering_config", entry.lowering_config);
    field("translation_info", entry.translation_info);
    field("behind", entry.behind);
    field("repeated", entry.repeated);
    field("symbol", entry.symbol);
  }
};

struct MergedSpec {
  std::vector<MergedEntry> entries;  // of all files, in order
  // Files whose specs restore the batch loop of convolutions first (kBatchRestoringPass). If any
  // does, the merged spec does.
  std::vector<std::string> restore_batch;
  std::string text;  // a blob

  static void fields(auto& merged, auto&& field) {
    field("entries", merged.entries);
    field("restore_batch", merged.restore_batch);
  }
};
void give_blobs(MergedSpec& merged, provider::Message& message);
Status take_blobs(MergedSpec& merged, provider::Message& message);

// Merges specs, or puts one into the same form. The first file's entries come first; of a linked
// spec, which runs others in turn, those of the last one (spec_modules). The spec has
// the compiler's default entry point, behind which it links its own default specs, unless a batch
// loop is restored. The compiler's own pass links and renames. Each matcher keeps its origin as an
// attribute. Entries behind another of the same conditions are left out, and so are
// SpecSources::left_out. Different conditions may overlap too; only a program shows that. Input
// errors: those of read_spec_file and spec_modules; an entry point that does more than one
// foreach_match; no entry is left.
Result<MergedSpec> merge_specs(const CompilerLibrary& library, const SpecSources& sources);

}  // namespace hone::iree
