#include "search/learning_search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace hone::search {
namespace {

constexpr std::size_t kFewestToCut = 3;

struct Moments {
  double count = 0, sum = 0, squares = 0;
  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / count; }
  // Sum of the squared distances from the mean.
  double scatter() const { return std::max(0.0, squares - sum * sum / count); }
};

}  // namespace

std::vector<space::Configuration> LocalSearch::ask(std::size_t count) {
  std::vector<space::Configuration> proposals;
  do {
    ask_sample(count, proposals);
    if (sample_left_ == 0) ask_neighbours(count, proposals);
  } while (proposals.empty() && count > 0 && start_another_pass());
  return proposals;
}

void LocalSearch::ask_sample(std::size_t count, std::vector<space::Configuration>& proposals) {
  while (sample_left_ > 0 && proposals.size() < count) {
    std::optional<space::Configuration> drawn = draw();
    if (!drawn) {
      exhausted_ = true;
      sample_left_ = 0;
      return;
    }
    if (!proposed_.insert(*drawn).second) continue;
    proposals.push_back(std::move(*drawn));
    --sample_left_;
  }
}

std::optional<space::Configuration> LocalSearch::draw() {
  if (sample_left_ > kRandom)
    if (std::optional<space::Configuration> drawn = sample_.by_prior()) return drawn;
  return sample_.at_random();
}

void LocalSearch::ask_neighbours(std::size_t count, std::vector<space::Configuration>& proposals) {
  // Neighbours of a sample that is not told yet would be neighbours of any configuration.
  if (!proposals.empty()) return;
  std::size_t leaders = 0;
  for (auto leader = by_score_.begin(); leader != by_score_.end() && leaders < kLeaders;
       ++leader, ++leaders)
    for (space::Configuration& neighbour : space_.neighbours(leader->second)) {
      if (proposals.size() == count) return;
      if (proposed_.insert(neighbour).second) proposals.push_back(std::move(neighbour));
    }
}

bool LocalSearch::start_another_pass() {
  // Only another random sample can help while no candidate has worked.
  const bool worthwhile = by_score_.empty() || !best_of_last_pass_ ||
                          by_score_.begin()->first < *best_of_last_pass_ * (1 - kWorthwhile);
  if (exhausted_ || !worthwhile) return false;
  if (!by_score_.empty()) best_of_last_pass_ = by_score_.begin()->first;
  sample_left_ = kNextSample;
  return true;
}

void LocalSearch::tell(const space::Configuration& configuration, const Feedback& feedback) {
  if (feedback.score) by_score_.emplace(*feedback.score, configuration);
}

RegressionForest::RegressionForest(const std::vector<std::vector<double>>& places,
                                   const std::vector<double>& values, std::mt19937_64& generator) {
  struct Part {
    int node;
    std::size_t begin, end;  // of `order`
  };
  std::vector<std::size_t> order(values.size());
  for (int t = 0; t < kTrees; ++t) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    Tree tree(1);
    std::vector<Part> parts{{0, 0, order.size()}};
    while (!parts.empty()) {
      const Part part = parts.back();
      parts.pop_back();
      Moments all;
      for (std::size_t i = part.begin; i < part.end; ++i) all.add(values[order[i]]);
      Node node;
      node.mean = all.mean();
      node.variance = all.scatter() / all.count;
      double best = all.scatter();
      bool cuts = false;
      if (part.end - part.begin >= kFewestToCut)
        for (std::size_t c = 0; c < places.front().size(); ++c) {
          const auto [low, high] =
              std::minmax_element(order.begin() + static_cast<std::ptrdiff_t>(part.begin),
                                  order.begin() + static_cast<std::ptrdiff_t>(part.end),
                                  [&](auto a, auto b) { return places[a][c] < places[b][c]; });
          const double from = places[*low][c], to = places[*high][c];
          if (from == to) continue;
          const double cut = from + uniform(generator) * (to - from);
          Moments first, second;
          for (std::size_t i = part.begin; i < part.end; ++i)
            (places[order[i]][c] <= cut ? first : second).add(values[order[i]]);
          const double scatter = first.scatter() + second.scatter();
          if (cuts && scatter >= best) continue;
          cuts = true;
          best = scatter;
          node.coordinate = c;
          node.cut = cut;
        }
      if (cuts) {
        const auto middle =
            std::partition(order.begin() + static_cast<std::ptrdiff_t>(part.begin),
                           order.begin() + static_cast<std::ptrdiff_t>(part.end),
                           [&](auto i) { return places[i][node.coordinate] <= node.cut; }) -
            order.begin();
        node.first = static_cast<int>(tree.size());
        tree.resize(tree.size() + 2);
        parts.push_back({node.first, part.begin, static_cast<std::size_t>(middle)});
        parts.push_back({node.first + 1, static_cast<std::size_t>(middle), part.end});
      }
      tree[static_cast<std::size_t>(part.node)] = node;
    }
    trees_.push_back(std::move(tree));
  }
}

RegressionForest::Prediction RegressionForest::predict(const std::vector<double>& place) const {
  Moments means;
  double within = 0;
  for (const Tree& tree : trees_) {
    const Node* node = &tree.front();
    while (node->first >= 0)
      node = &tree[static_cast<std::size_t>(node->first) +
                   (place[node->coordinate] <= node->cut ? 0 : 1)];
    means.add(node->mean);
    within += node->variance;
  }
  return {means.mean(), std::sqrt((means.scatter() + within) / means.count)};
}

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

void ModelSearch::tell(const space::Configuration& configuration, const Feedback& feedback) {
  const std::optional<double>& score = feedback.score;
  if (score) by_score_.emplace(*score, configuration);
  places_.push_back(place(configuration));
  log_scores_.push_back(score ? std::optional(std::log(*score)) : std::nullopt);
}

}  // namespace hone::search
