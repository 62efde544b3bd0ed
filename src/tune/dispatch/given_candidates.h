// Verifies and measures candidates given by hand, one per dispatch, without a search.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune/services/context.h"

namespace hone::tune {

struct GivenCandidate {
  problem::Dispatch dispatch;
  std::string configuration;  // JSON, for the store
  provider::Payload payload;
};

struct GivenList {
  std::string path;  // of the file that lists them, for the store
  std::string hash;  // of what it says
  std::vector<GivenCandidate> candidates;
};

struct CheckedCandidate {
  const GivenCandidate* given = nullptr;  // in the list
  store::Id candidate = 0;                // 0: its dispatch could not be set up
  std::string failure;                    // why it is wrong or does not run; empty: it is right
  bool is_wrong = false;                  // it runs, and computes something else
  std::string tolerance;                  // within which it is right, and why it is that
  std::optional<double> seconds;          // of one launch, median
  std::optional<double> speedup;          // over the default's, measured beside it
};

// Takes the candidates to their end one by one, in the list's order. Each is in the store when it
// ends; results in the store are reused. `run`: as tune_program's `run_row`. Errors as
// tune_program's, except kFailure.
Result<std::vector<CheckedCandidate>> check_candidates(Context& context, store::Run run,
                                                       const GivenList& list);

}  // namespace hone::tune
