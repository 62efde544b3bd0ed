#include "search/model_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hone::search {
namespace {

// A configuration that fails is to the model as slow as the slowest, and half as slow again.
const double kFailed = std::log(1.5);
// Measurements that expected_gain() speaks of.
constexpr std::size_t kAhead = 16;

// Probability that the predicted score is less than `value`.
double share_below(const RegressionForest::Prediction& at, double value) {
  if (at.deviation <= 0) return at.mean < value ? 1 : 0;
  return std::erfc((at.mean - value) / (at.deviation * std::numbers::sqrt2)) / 2;
}

// How far below `best` it is expected to lie: expected improvement (Jones, Schonlau, Welch 1998).
double improvement(const RegressionForest::Prediction& at, double best) {
  if (at.deviation <= 0) return std::max(0.0, best - at.mean);
  const double z = (best - at.mean) / at.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  return (best - at.mean) * share_below(at, best) + at.deviation * density;
}

}  // namespace

ModelSearch::ModelSearch(const space::Space& space, std::uint64_t seed, Prior prior)
    : space_(space), prior_(prior), sample_(space, seed, std::move(prior)), generator_(seed) {}

std::vector<space::Configuration> ModelSearch::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  if (proposed_.size() < kFirstSample || by_score_.empty())
    ask_sample(count, proposals);
  else
    ask_model(count, proposals);
  return proposals;
}

void ModelSearch::ask_sample(std::size_t count, std::vector<space::Configuration>& proposals) {
  while (proposals.size() < count) {
    std::optional<space::Configuration> drawn;
    if (proposed_.size() + kRandom < kFirstSample) drawn = sample_.by_prior();
    if (!drawn) drawn = sample_.at_random();
    if (!drawn) return;
    if (proposed_.insert(*drawn).second) proposals.push_back(std::move(*drawn));
    if (proposed_.size() >= kFirstSample && !by_score_.empty()) return;
  }
}

void ModelSearch::ask_model(std::size_t count, std::vector<space::Configuration>& proposals) {
  double slowest = -INFINITY;
  for (const auto& score : log_scores_)
    if (score) slowest = std::max(slowest, *score);
  std::vector<double> values;
  for (const auto& score : log_scores_) values.push_back(score.value_or(slowest + kFailed));
  const RegressionForest forest(places_, values, generator_);

  std::vector<Looked> looked;
  for (space::Configuration& each : pool()) {
    const RegressionForest::Prediction prediction = forest.predict(place(each));
    looked.push_back({std::move(each), prediction});
  }
  estimate_gain(looked);
  while (proposals.size() < count && !looked.empty()) {
    const double boldness = -std::log1p(-uniform(generator_));
    const auto bound = [&](const Looked& each) {
      return each.prediction.mean - boldness * each.prediction.deviation;
    };
    const auto best = std::ranges::min_element(
        looked, [&](const auto& a, const auto& b) { return bound(a) < bound(b); });
    proposed_.insert(best->configuration);
    proposals.push_back(std::move(best->configuration));
    looked.erase(best);
  }
}

std::vector<space::Configuration> ModelSearch::pool() {
  std::set<space::Configuration> pool;
  const space::Count count = space_.count();
  if (count.exact && count.value <= kWhole) {
    space::Enumerator all = space_.enumerate();
    while (auto each = all.next()) pool.insert(std::move(*each));
  } else {
    for (std::size_t i = 0; i < kDrawn; ++i)
      if (auto drawn = space_.sample(generator_)) pool.insert(std::move(*drawn));
    std::erase_if(prior_next_, [&](const auto& each) { return proposed_.contains(each); });
    while (prior_next_.size() < kByPrior) {
      std::optional<space::Configuration> next = sample_.by_prior();
      if (!next) break;
      prior_next_.push_back(std::move(*next));
    }
    pool.insert(prior_next_.begin(), prior_next_.end());
    std::size_t leaders = 0;
    for (auto each = by_score_.begin(); each != by_score_.end() && leaders < kLeaders;
         ++each, ++leaders)
      for (space::Configuration& neighbour : space_.neighbours(each->second))
        pool.insert(std::move(neighbour));
  }
  std::vector<space::Configuration> untried;
  for (const space::Configuration& each : pool)
    if (!proposed_.contains(each)) untried.push_back(each);
  return untried;
}

std::vector<double> ModelSearch::place(const space::Configuration& configuration) const {
  std::vector<double> place;
  place.reserve(configuration.values.size() + 1);
  // Tile sizes double: cuts between them are to be as likely between small ones as large ones.
  for (const space::Value value : configuration.values)
    place.push_back(std::copysign(std::log2(1 + std::abs(static_cast<double>(value))),
                                  static_cast<double>(value)));
  if (!prior_) return place;
  const double estimate = prior_(configuration);
  place.push_back(estimate > 0 ? std::log(estimate) : 0);
  return place;
}

void ModelSearch::estimate_gain(const std::vector<Looked>& looked) {
  // The lowest of many noisy scores is below its true value, so add the noise.
  const double best = std::log(by_score_.begin()->first) + noise_;
  std::vector<std::pair<double, const RegressionForest::Prediction*>> gains;
  for (const Looked& each : looked)
    gains.emplace_back(improvement(each.prediction, best), &each.prediction);
  std::ranges::sort(gains, std::greater<>());
  gains.resize(std::min(kAhead, gains.size()));
  // The gain of the best of them: the integral over g of the probability that it is more than g.
  constexpr double kMost = 0.5, kStep = 0.002;
  expected_gain_ = 0;
  for (double gain = kStep / 2; gain < kMost; gain += kStep) {
    double none = 1;
    for (const auto& [alone, prediction] : gains) none *= 1 - share_below(*prediction, best - gain);
    *expected_gain_ += (1 - none) * kStep;
  }
}

void ModelSearch::tell(const space::Configuration& configuration, const Outcome& outcome) {
  const std::optional<double>& score = outcome.score;
  if (score) by_score_.emplace(*score, configuration);
  places_.push_back(place(configuration));
  log_scores_.push_back(score ? std::optional(std::log(*score)) : std::nullopt);
}

}  // namespace hone::search
