// Spellings of ROCm's tune_gemm.py for hone's flags, so that its command lines keep working
// (docs/migration.md).
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

// Replaces tune_gemm's spellings of flags in `arguments`, the words behind "hone", if the command
// is tune: "-col_a" by "--col-a", "--gemm_size_file=a.yaml" by "--gemm-size-file=a.yaml". Words
// behind "--" stay.
std::vector<std::string> with_new_spellings(std::vector<std::string> arguments);

}  // namespace hone::cli
