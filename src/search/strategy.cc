#include "search/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "base/text.h"
#include "search/family_filter.h"
#include "search/fixed_order.h"
#include "search/learning_search.h"

namespace hone::search {
namespace {

class ExhaustiveSearch final : public Strategy {
 public:
  explicit ExhaustiveSearch(const space::Space& space) : enumerator_(space.enumerate()) {}

  std::string_view name() const override { return "exhaustive"; }

  std::vector<space::Configuration> ask(std::size_t count) override {
    std::vector<space::Configuration> proposals;
    while (proposals.size() < count) {
      std::optional<space::Configuration> next = enumerator_.next();
      if (!next) break;
      proposals.push_back(std::move(*next));
    }
    return proposals;
  }

  void tell(const space::Configuration&, const Outcome&) override {}

 private:
  space::Enumerator enumerator_;
};

}  // namespace

Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const space::Space& space,
                                                std::uint64_t seed, Prior prior) {
  if (name == "exhaustive") return std::make_unique<ExhaustiveSearch>(space);
  const auto filtered = [](auto strategy) {
    return std::make_unique<FamilyFilter>(std::move(strategy));
  };
  if (name == "random") return filtered(std::make_unique<RandomSearch>(space, seed));
  if (name == "local")
    return filtered(std::make_unique<LocalSearch>(space, seed, std::move(prior)));
  if (name == "model")
    return std::make_unique<FamilyFilter>(
        std::make_unique<ModelSearch>(space, seed, std::move(prior)),
        FamilyFilter::Until::kFirstSuccess);
  if (name == "prior") {
    if (prior) return filtered(std::make_unique<PriorSearch>(space, seed, std::move(prior)));
    return input_error(
        "the strategy 'prior' needs an estimate of each configuration's time, which there is for "
        "contractions on a CPU and for GEMMs of the provider's own kernels; use auto");
  }
  if (name == "evolutionary")
    return input_error(
        "the strategy 'evolutionary' is gone: on all recorded data the model or local was ahead of "
        "it; use auto");
  const std::vector<std::string> names(std::begin(kStrategyNames), std::end(kStrategyNames));
  return input_error("'{}' is no strategy{}; known: {}", name, did_you_mean(name, names),
                     fmt::join(names, ", "));
}

bool learns(std::string_view name) {
  return name == "local" || name == "model";
}

StrategyChoice choose_strategy(const Situation& situation) {
  const auto [count, exact] = situation.count;
  const std::string size =
      fmt::format("{}{} configurations", exact ? "" : "at most ", format_count(count));
  if (exact && count <= kTryAll && count <= situation.candidates)
    return {"exhaustive", size + ": all of them"};
  if (situation.candidates < ModelSearch::kFirstSample) {
    const std::string few = fmt::format("{}, of which {} can be tried", size, situation.candidates);
    return situation.has_prior
               ? StrategyChoice{"prior", few + ": too few to learn from, the estimate decides"}
               : StrategyChoice{"random", few + ": too few to learn from"};
  }
  if (situation.compiles_ahead)
    return {"local", size + ", proposed before those ahead of them are measured"};
  return {"model", size + (situation.has_prior ? ", begun by the estimate" : ", no estimate")};
}

bool StopRule::stops(std::size_t tried, std::optional<double> expected_gain) {
  rounds_ = expected_gain && *expected_gain < noise_ ? rounds_ + 1 : 0;
  gain_ = expected_gain.value_or(0);
  return rounds_ >= kPatience && tried >= kFewest;
}

std::string StopRule::reason() const {
  return fmt::format("expected gain {:.1f} % below noise {:.1f} %", 100 * gain_, 100 * noise_);
}

}  // namespace hone::search
