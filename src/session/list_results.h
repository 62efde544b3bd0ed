// Results of tuning listed dispatches, read from the store.
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

// Returns "exact" or "within absolute 0.01, relative 0.001", for tables. `tolerance`:
// the store's text, without the reason that follows it there.
std::string checked_words(const std::string& tolerance);

// Returns a result for each tuned dispatch: the winner, or the default of `provider` if nothing
// beats it.
Result<std::vector<ListResult>> list_results(store::Store& store, std::string_view provider,
                                             const std::vector<tune::TunedDispatch>& tuned,
                                             store::Id build, store::Id device);

// Returns the text of the results file, a ListProvider::result_line for each dispatch.
std::string results_text(const provider::ListProvider& listed,
                         const std::vector<ListResult>& results);

// Returns a table with a row per dispatch.
output::Table results_table(const provider::ListProvider& listed,
                            const std::vector<ListResult>& results);

}  // namespace hone::session
