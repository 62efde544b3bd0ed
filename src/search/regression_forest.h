// A regression forest: predicts a function at unseen places, and how certain the prediction is.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace hone::search {

// In [0, 1), of the 53 bits that a double holds: the same on every machine, as
// std::uniform_real_distribution's need not be.
inline double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1.0p-53;
}

// Trees that cut at random places (Geurts, Ernst, Wehenkel, "Extremely randomized trees", 2006). As
// the model of a search: Hutter, Hoos, Leyton-Brown, "Sequential model-based optimization for
// general algorithm configuration", 2011.
class RegressionForest {
 public:
  static constexpr int kTrees = 32;

  struct Prediction {
    double mean = 0;
    double deviation = 0;  // of the trees' answers and of what lies in their leaves
  };

  // places[i] are the coordinates of a sample, values[i] is its value; at least one sample.
  RegressionForest(const std::vector<std::vector<double>>& places,
                   const std::vector<double>& values, std::mt19937_64& generator);

  Prediction predict(const std::vector<double>& place) const;

 private:
  struct Node {
    std::size_t coordinate = 0;
    double cut = 0;  // not above: the first child
    int first = -1;  // node; its second child is the next. -1: a leaf
    double mean = 0, variance = 0;
  };
  using Tree = std::vector<Node>;

  std::vector<Tree> trees_;
};

}  // namespace hone::search
