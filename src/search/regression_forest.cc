#include "search/regression_forest.h"

#include <algorithm>
#include <cmath>
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

}  // namespace hone::search
