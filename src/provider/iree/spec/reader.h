// Reads tuning specs from files: their entries, and a marking spec that shows the matches of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// A pair of the spec's transform.foreach_match: a matcher and the configuration of its matches.
struct ParsedSpecEntry {
  std::string matcher;  // symbol of its named sequence
  int line = 0;         // of the file, where that begins; 0 in bytecode
  // The compilation_info in the matcher or the action, as the compiler prints its parts; empty if
  // there is none.
  std::string lowering_config;
  std::string translation_info;
};

struct ParsedSpec {
  std::vector<ParsedSpecEntry> entries;  // in order; of those that match, the first is applied
  // A spec that configures nothing. Its entry i marks the function of each operation that entry i
  // of the file matches, whatever the others match. The mark is the attribute kMarkPrefix + i. The
  // compiler's own remarks about applied strategies prove neither.
  std::string marking;
};

inline constexpr char kMarkPrefix[] = "hone.entry.";

// Reads a spec (text or bytecode; `path` names it in messages). Input errors: the compiler's words
// ("spec.mlir:3:5: error: ...") when it does not parse or verify; no @__kernel_config, which is
// what the compiler runs, or no entry in it.
Result<ParsedSpec> read_spec_file(const Library& library, const std::string& path,
                                  std::string_view bytes);

// Two tuning specs as one. Links two specs into one text with the entries of both; matches in
// `first` take precedence over matches in `second`. The compiler's own pass
// (iree-codegen-link-tuning-specs) does it, as for a user's spec and the compiler's defaults.
// `first` is the text of one of hone's specs, which has no attribute aliases; the comments at its
// head are kept. `path` names the second in messages. Input errors: the compiler's words if it
// cannot read or link the specs.
Result<std::string> link_specs(const Library& library, const std::string& path,
                               std::string_view first, std::string_view second);

}  // namespace hone::iree
