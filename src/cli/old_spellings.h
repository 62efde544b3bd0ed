// The flags of ROCm's tune_gemm.py as hone spells them, so that its command lines keep working
// (docs/migration.md).
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

// `arguments`, the words behind "hone", with tune_gemm's spellings of flags replaced where the
// command is tune: "-col_a" by "--col-a", "--gemm_size_file=a.yaml" by "--gemm-size-file=a.yaml".
// Words behind "--" stay.
std::vector<std::string> with_new_spellings(std::vector<std::string> arguments);

}  // namespace hone::cli
