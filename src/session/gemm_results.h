// What tuning GEMMs came to, read from the store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "output/table.h"
#include "provider/triton/gemm_file.h"
#include "store/store.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::session {

struct GemmResult {
  triton::GemmEntry entry;  // with the configuration to use
  // As the compile workers take it, and what it is of.
  std::map<std::string, std::int64_t> knobs;
  store::Id candidate = 0;
  std::optional<double> seconds;  // of one launch, median of the finalists' rounds
  std::optional<double> speedup;  // over the default; none where the default is kept
  std::string tolerance;          // within which every element was right, and why it is that
  double tflops() const;          // 1e12 multiplies and adds a second; 0 where there is no time
};

// "right, exact" or "right within absolute 0.01, relative 0.001", for tables. `tolerance`: the
// store's words, which go on with why it is that.
std::string checked_words(const std::string& tolerance);

// One for each tuned GEMM: the winner, or the default where nothing beats it. `entries`: by
// dispatch name.
Result<std::vector<GemmResult>> gemm_results(
    store::Store& store, const std::map<std::string, triton::GemmEntry>& entries,
    const std::vector<tune::TunedDispatch>& tuned, store::Id build, store::Id device);

// The result file of tune_gemm.py.
std::string results_yaml(const std::vector<GemmResult>& results);

// One row per GEMM.
output::Table gemm_table(const std::vector<GemmResult>& results);

}  // namespace hone::session
