#include "search/auto_choice.h"

#include "base/text.h"
#include "search/model_search.h"

namespace hone::search {

Choice choose_strategy(const Situation& situation) {
  const auto [count, exact] = situation.count;
  const std::string size =
      fmt::format("{}{} configurations", exact ? "" : "at most ", format_count(count));
  if (exact && count <= kTryAll && count <= situation.candidates)
    return {"exhaustive", size + ": all of them"};
  if (situation.candidates < ModelSearch::kFirstSample) {
    const std::string few = fmt::format("{}, of which {} can be tried", size, situation.candidates);
    return situation.has_prior
               ? Choice{"prior", few + ": too few to learn from, the estimate decides"}
               : Choice{"random", few + ": too few to learn from"};
  }
  if (situation.compiles_ahead)
    return {"local", size + ", proposed before those ahead of them are measured"};
  return {"model", size + (situation.has_prior ? ", begun by the estimate" : ", no estimate")};
}

}  // namespace hone::search
