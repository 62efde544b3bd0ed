// The files of ROCm's tune_gemm.py: a list of GEMM sizes in, the same list with the best
// configurations out; a result is a valid input.
//
//   - {'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N', 'BLOCK_SIZE_M': 128,
//   ...} # TFLOPS: 1.0 time(us): 2.0
//
// hone's files say besides what tune_gemm's leave to the command line, where it is not fp16 alone:
// dtype_a, dtype_b, dtype_c, bias (its type), batch, tf32 (1); and what configuration_keys.h says.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "provider/triton/gemm.h"

namespace hone::triton {

struct GemmEntry {
  Gemm gemm;
  // Further keys of a result file: those of configuration_keys(), or the knobs' names for a user's
  // kernel. Empty for a size that was not tuned.
  std::map<std::string, std::int64_t> configuration;
  int line = 0;  // in the file, from 1
};

// Reads `text`. Properties that an entry does not state (types, bias) are those of `defaults`. An
// input error names `path`, the line, the key and what is allowed. Causes: no list of mappings; a
// missing size; a size that is no positive number; rowMajorA or rowMajorB other than T and N; an
// unknown key (with the nearest). `knobs`: those of a user's kernel, which are keys of its
// configurations.
Result<std::vector<GemmEntry>> read_gemms(std::string_view path, const std::string& text,
                                          const Gemm& defaults,
                                          const std::vector<std::string>& knobs = {});

// Makes a line of a result file. `seconds`: of one launch; NaN: not measured.
std::string result_line(const GemmEntry& entry, double seconds);

}  // namespace hone::triton
