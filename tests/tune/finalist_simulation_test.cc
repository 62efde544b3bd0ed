// The way from first measurements to the winner, on simulated machines with fixed seeds: how often
// the truly fastest is lost, and where.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/race.h"
#include "measure/sampling.h"
#include "measure/statistics.h"
#include "tests/measure/noise.h"
#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

using measure::NoisyMachine;

// The default takes 1; candidates less. What a code loses or wins by where it comes to lie is drawn
// when it is loaded: for the first measurement once, in the finalists' rounds each time.
constexpr double kPlacement = 0.01;
// Of the finalists' time: one of them in one round takes about 0.03 s, of 20 s (`--budget` of 80 s
// for the dispatch or more) or of the least, 3 s.
constexpr double kFinalistInRound = 0.03;

struct Machine {
  Machine(std::uint64_t seed, const NoisyMachine::Noise& noise) : machine(seed, noise) {}
  std::vector<double> load(const std::vector<double>& truth) {
    std::vector<double> placed;
    for (const double time : truth)
      placed.push_back(time * std::exp(kPlacement * machine.normal()));
    return placed;
  }
  NoisyMachine machine;
};

// As the search measures, the default beside them: rounds, until each one's samples are enough.
std::vector<double> first_ratios(Machine& machine, const std::vector<double>& truth) {
  measure::Protocol protocol;
  protocol.target_width = 0.01;
  protocol.max_samples = 20;
  std::vector<double> placed = machine.load(truth);
  placed.push_back(1);
  std::vector<measure::StoppingRule> rules(truth.size(), measure::StoppingRule(protocol));
  std::vector<std::vector<double>> ratios(truth.size());
  for (std::size_t round = 0; round < protocol.max_samples; ++round) {
    const std::vector<double> times = machine.machine.round(placed);
    for (std::size_t c = 0; c < truth.size(); ++c) {
      if (rules[c].stop() != measure::Stop::kNo) continue;
      rules[c].add(times[c], 0.004);
      ratios[c].push_back(times[c] / times.back());
    }
  }
  std::vector<double> medians;
  for (const auto& each : ratios) medians.push_back(measure::median(each));
  return medians;
}

struct Outcome {
  bool best_was_a_finalist = false;
  bool best_of_finalists_tied = false;
  double loss = 0;  // of the winner against the best of all, as a share
  std::size_t rounds = 0, tied = 0;
};

Outcome tune_once(Machine& machine, const std::vector<double>& truth, double seconds) {
  std::vector<Measured> measured;
  const std::vector<double> ratios = first_ratios(machine, truth);
  for (std::size_t c = 0; c < truth.size(); ++c)
    measured.push_back({ratios[c], static_cast<store::Id>(c)});
  const std::vector<store::Id> finalists = choose_finalists(measured, {seconds, 1e-4, false});
  std::vector<double> true_times;
  std::vector<std::string> names;
  for (const store::Id id : finalists) {
    true_times.push_back(truth[static_cast<std::size_t>(id)]);
    // The slowest come first by name: a name must not decide.
    names.push_back(std::string(1, static_cast<char>('z' - id % 26)));
  }
  measure::Race race(finalists.size());
  for (double spent = 0; !race.is_over();) {
    if (spent >= seconds && race.rounds() >= race.fewest_rounds()) {
      EXPECT_TRUE(race.end());
      break;
    }
    std::vector<double> running;
    for (const std::size_t c : race.running()) running.push_back(true_times[c]);
    running.push_back(1);
    const std::vector<double> placed = machine.load(running);
    std::vector<std::vector<double>> samples(placed.size());
    for (int i = 0; i < 3; ++i) {
      const std::vector<double> times = machine.machine.round(placed);
      for (std::size_t c = 0; c < times.size(); ++c) samples[c].push_back(times[c]);
    }
    std::vector<double> row;
    for (const auto& each : samples) row.push_back(measure::median(each));
    EXPECT_TRUE(race.add(row));
    spent += kFinalistInRound * static_cast<double>(running.size());
  }
  const double best = *std::ranges::min_element(truth);
  const double best_finalist = *std::ranges::min_element(true_times);
  Outcome outcome;
  outcome.best_was_a_finalist = best_finalist == best;
  for (const std::size_t member : race.tied())
    outcome.best_of_finalists_tied |= true_times[member] == best_finalist;
  outcome.loss = true_times[race.winner(names)->candidate] / best - 1;
  outcome.rounds = race.rounds();
  outcome.tied = race.tied().size();
  return outcome;
}

struct Rates {
  double not_a_finalist = 0, not_tied = 0, nine_percent = 0;  // shares
  double mean_loss = 0, rounds = 0, tied = 0;
};

Rates tune_often(const char* what, const std::vector<double>& truth,
                 const NoisyMachine::Noise& noise, double seconds, int repetitions) {
  Rates rates;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    Machine machine(static_cast<std::uint64_t>(repetition), noise);
    const Outcome outcome = tune_once(machine, truth, seconds);
    rates.not_a_finalist += outcome.best_was_a_finalist ? 0 : 1;
    rates.not_tied += outcome.best_of_finalists_tied ? 0 : 1;
    rates.nine_percent += outcome.loss >= 0.0899 ? 1 : 0;
    rates.mean_loss += outcome.loss;
    rates.rounds += static_cast<double>(outcome.rounds);
    rates.tied += static_cast<double>(outcome.tied);
  }
  for (double* rate : {&rates.not_a_finalist, &rates.not_tied, &rates.nine_percent,
                       &rates.mean_loss, &rates.rounds, &rates.tied})
    *rate /= repetitions;
  std::printf(
      "%-24s %3.0f %% noise%s, %2.0f s: rounds %5.1f, tied %4.1f, best no finalist %4.1f %%, "
      "best not tied %4.1f %%, winner 9 %% slower %4.1f %%, mean loss %.2f %%\n",
      what, 100 * noise.lognormal, noise.spikes > 0.05 ? " and spikes" : "", seconds, rates.rounds,
      rates.tied, 100 * rates.not_a_finalist, 100 * rates.not_tied, 100 * rates.nine_percent,
      100 * rates.mean_loss);
  return rates;
}

std::vector<double> equal() {
  return std::vector<double>(12, 0.5);
}
std::vector<double> one_better() {
  std::vector<double> truth(12, 0.5 * 1.09);
  truth[7] = 0.5;
  return truth;
}
std::vector<double> ladder() {
  std::vector<double> truth;
  for (int i = 0; i < 24; ++i) truth.push_back(0.5 * (1 + 0.02 * i));
  std::rotate(truth.begin(), truth.begin() + 9, truth.end());
  return truth;
}

std::vector<double> many() {
  std::vector<double> truth;
  for (int i = 0; i < 60; ++i) truth.push_back(0.5 * (1 + 0.005 * i));
  return truth;
}

// The rates in docs/measuring.md are from here.
TEST(FinalistSimulation, TheFastestIsTiedAndOneNinePercentSlowerDoesNotWin) {
  const NoisyMachine::Noise heavy{.lognormal = 0.03, .spikes = 0.15, .spike_size = 3};
  for (const NoisyMachine::Noise& noise :
       {NoisyMachine::Noise{.lognormal = 0.01}, NoisyMachine::Noise{.lognormal = 0.03},
        NoisyMachine::Noise{.lognormal = 0.06}, heavy})
    for (const double seconds : {3.0, 20.0}) {
      for (const auto& [what, truth] : {std::pair{"12, all equal", equal()},
                                        {"12, one 9 % better", one_better()},
                                        {"24, each 2 % slower", ladder()},
                                        {"60, each 0.5 % slower", many()}}) {
        const Rates rates = tune_often(what, truth, noise, seconds, 60);
        EXPECT_LE(rates.not_tied, 0.05) << what;
        EXPECT_LE(rates.nine_percent, 0.02) << what;
        EXPECT_LE(rates.mean_loss, 0.02) << what;
        // With time, nobody who is 9 % slower is left.
        if (truth == one_better() && seconds > 3) {
          EXPECT_LE(rates.tied, 1.05);
        }
      }
    }
}

}  // namespace
}  // namespace hone::tune
