// Results of a tuned list of dispatches, read from the store, and how they are shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
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
  std::optional<store::VerificationRow> verification;  // by which it is right
};

// Returns "exact" or "within absolute 0.01, relative 0.001", for tables; "-" for none, and for one
// whose tolerance the store does not have as numbers.
std::string checked_words(const std::optional<store::VerificationRow>& verification);

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
