#include "search/strategy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
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

  void tell(const space::Configuration&, const Feedback&) override {}

 private:
  space::Enumerator enumerator_;
};

template <class Visit>
void each_pair(const space::Configuration& configuration, const Visit& visit) {
  const auto& values = configuration.values;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j)
      visit(std::array<space::Value, 4>{static_cast<space::Value>(i), values[i],
                                        static_cast<space::Value>(j), values[j]});
}

// Logarithms of each knob's value, of the products of two, and of the product of all.
std::vector<double> sizes_of(const space::Configuration& configuration) {
  std::vector<double> sizes;
  double all = 0;
  for (const space::Value value : configuration.values) {
    sizes.push_back(std::log2(static_cast<double>(std::max<space::Value>(1, value))));
    all += sizes.back();
  }
  const std::size_t knobs = sizes.size();
  for (std::size_t i = 0; i < knobs; ++i)
    for (std::size_t j = i + 1; j < knobs; ++j) sizes.push_back(sizes[i] + sizes[j]);
  sizes.push_back(all);
  return sizes;
}

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

void FailedFamilies::tell_worked(const space::Configuration& configuration) {
  ++worked_;
  for (std::size_t i = 0; i < configuration.values.size(); ++i)
    worked_values_.insert({i, configuration.values[i]});
  each_pair(configuration, [this](const Pair& pair) { worked_pairs_.insert(pair); });
  const std::vector<double> sizes = sizes_of(configuration);
  largest_sizes_.resize(sizes.size(), -1);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    largest_sizes_[i] = std::max(largest_sizes_[i], sizes[i]);
}

void FailedFamilies::tell_failed(const space::Configuration& configuration,
                                 std::string_view cause) {
  Cause& of = causes_[std::string(cause)];
  const auto& values = configuration.values;
  if (++of.failed == 1)
    for (std::size_t i = 0; i < values.size(); ++i) of.common.insert({i, values[i]});
  std::erase_if(of.common,
                [&](const KnobValue& each) { return values[each.first] != each.second; });
  each_pair(configuration, [&](const Pair& pair) { ++of.pairs[pair]; });
  const std::vector<double> sizes = sizes_of(configuration);
  of.least_sizes.resize(sizes.size(), INFINITY);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    of.least_sizes[i] = std::min(of.least_sizes[i], sizes[i]);
}

std::size_t FailedFamilies::count(const space::Configuration& configuration) const {
  std::size_t families = 0;
  for (const auto& [cause, of] : causes_) {
    if (of.failed < kFailures) continue;
    for (const KnobValue& each : of.common)
      if (configuration.values[each.first] == each.second && !worked_values_.contains(each))
        ++families;
    each_pair(configuration, [&](const Pair& pair) {
      const auto told = of.pairs.find(pair);
      if (told != of.pairs.end() && told->second >= kFailures && !worked_pairs_.contains(pair))
        ++families;
    });
    if (worked_ < kFailures) continue;
    const std::vector<double> sizes = sizes_of(configuration);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (largest_sizes_[i] < of.least_sizes[i] && sizes[i] >= of.least_sizes[i]) ++families;
  }
  return families;
}

std::vector<space::Configuration> FamilyFilter::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  if (is_over()) {
    proposals = strategy_->ask(count);
    if (proposals.empty()) take_put_off(count, SIZE_MAX, proposals);
    return proposals;
  }
  take_put_off(count, 0, proposals);
  bool ended = false;
  const std::size_t most = learns(name()) ? kLookedAtWhileLearning : kLookedAt;
  for (std::size_t looked = 0; looked < most && proposals.size() < count;) {
    std::vector<space::Configuration> more = strategy_->ask(count - proposals.size());
    ended = more.empty();
    if (ended) break;
    looked += more.size();
    for (space::Configuration& each : more) {
      if (failed_.count(each) > 0)
        put_off_.push_back(std::move(each));
      else
        proposals.push_back(std::move(each));
    }
  }
  if (!proposals.empty() || put_off_.empty()) return proposals;
  if (ended && worked_ && learns(name())) return proposals;
  std::size_t fewest = SIZE_MAX;
  for (std::size_t i = 0; i < std::min(kLookedAt, put_off_.size()); ++i)
    fewest = std::min(fewest, failed_.count(put_off_[i]));
  take_put_off(count, fewest, proposals);
  return proposals;
}

void FamilyFilter::take_put_off(std::size_t count, std::size_t families,
                                std::vector<space::Configuration>& proposals) {
  std::size_t looked = 0;
  for (auto each = put_off_.begin();
       each != put_off_.end() && looked < kLookedAt && proposals.size() < count; ++looked) {
    if (failed_.count(*each) > families) {
      ++each;
      continue;
    }
    proposals.push_back(std::move(*each));
    each = put_off_.erase(each);
  }
}

void FamilyFilter::tell(const space::Configuration& configuration, const Feedback& feedback) {
  if (feedback.score) {
    failed_.tell_worked(configuration);
    worked_ = true;
  } else {
    failed_.tell_failed(configuration, feedback.cause);
  }
  strategy_->tell(configuration, feedback);
}

}  // namespace hone::search
