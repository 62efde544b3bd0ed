// Flags as other tools spell them, so that their command lines keep working (docs/migration.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct Spelling {
  std::string_view tool;      // tool::kTuneGemm
  std::string_view commands;  // of hone, with blanks between
  std::string_view old;
  std::string_view spelling;  // hone's
};

// Returns the spellings of one tool that a command of hone accepts.
std::vector<Spelling> old_spellings(std::string_view tool, std::string_view command);

// Replaces old spellings in `arguments`, the words behind "hone": "tune -col_a" becomes
// "tune --col-a". Spellings of other commands and words behind "--" stay.
std::vector<std::string> with_new_spellings(std::vector<std::string> arguments);

}  // namespace hone::cli
