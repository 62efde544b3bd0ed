// What tuning listed dispatches came to, read from the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/table.h"
#include "provider/list_provider.h"
#include "store/store.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::session {

struct ListResult {
  const problem::Dispatch* dispatch = nullptr;
  std::string configured;         // what it is of, as its compiler says: Artifact::configured
  std::optional<double> seconds;  // of one launch, median of the finalists' rounds
  std::optional<double> speedup;  // over the default; none where the default is kept
  std::string tolerance;          // within which every element was right, and why it is that
};

// "right, exact" or "right within absolute 0.01, relative 0.001", for tables. `tolerance`: the
// store's words, which go on with why it is that.
std::string checked_words(const std::string& tolerance);

// One for each tuned dispatch: the winner, or the default of `provider` where nothing beats it.
Result<std::vector<ListResult>> list_results(store::Store& store, std::string_view provider,
                                             const std::vector<tune::TunedDispatch>& tuned,
                                             store::Id build, store::Id device);

// The file of ListProvider::result_line.
std::string results_text(const provider::ListProvider& listed,
                         const std::vector<ListResult>& results);

// One row per dispatch.
output::Table results_table(const provider::ListProvider& listed,
                            const std::vector<ListResult>& results);

}  // namespace hone::session
