// Times as a noisy machine gives them, from fixed seeds.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "measure/inputs.h"

namespace hone::measure {

class NoisyMachine {
 public:
  struct Noise {
    double lognormal = 0.01;   // of each run
    double correlation = 0;    // of a run's noise with that of the run before
    double drift = 0.01;       // step of a random walk from round to round
    double spikes = 0.03;      // share of runs that something interrupts ...
    double spike_size = 0.5;   // ... which then take up to this share longer
    bool random_order = true;  // within a round
  };

  NoisyMachine(std::uint64_t seed, Noise noise) : seed_(seed), noise_(noise) {}

  double uniform() {
    return (static_cast<double>(random_bits(seed_, index_++) >> 11) + 0.5) / 9007199254740992.0;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

  // One round of candidates with the given true times, in random order; times by candidate.
  std::vector<double> round(const std::vector<double>& truth) {
    slowness_ += noise_.drift * normal();
    std::vector<std::size_t> order(truth.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (noise_.random_order)
      for (std::size_t i = order.size(); i-- > 1;)
        std::swap(order[i],
                  order[static_cast<std::size_t>(uniform() * static_cast<double>(i + 1))]);
    std::vector<double> times(truth.size());
    for (const std::size_t candidate : order) {
      state_ = noise_.correlation * state_ +
               std::sqrt(1 - noise_.correlation * noise_.correlation) * normal();
      double log_time = slowness_ + noise_.lognormal * state_;
      if (uniform() < noise_.spikes) log_time += std::log1p(noise_.spike_size * uniform());
      times[candidate] = truth[candidate] * std::exp(log_time);
    }
    return times;
  }

  std::vector<std::vector<double>> rounds(const std::vector<double>& truth, std::size_t count) {
    std::vector<std::vector<double>> all;
    for (std::size_t r = 0; r < count; ++r) all.push_back(round(truth));
    return all;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
  Noise noise_;
  double slowness_ = 0;
  double state_ = 0;
};

}  // namespace hone::measure
