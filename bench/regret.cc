// Regret of search strategies over recorded dispatches: how far from the best there is they are
// after so many measurements. Files are made by bench/regret_data.py; docs/search.md says how to
// read the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "bench/replay.h"
#include "space/configuration.h"

namespace hone::bench {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> strategies = {"random", "local", "prior", "model", "auto"};
  std::vector<std::size_t> after = {8, 16, 32, 64};
  std::size_t seeds = 50;
  std::size_t round = 8;
  bool each = false;
  bool no_prior = false;
  std::size_t list = 0;
};

// Where the prior puts the best: its place in the prior's order, and of the `most` best a line
// each.
void print_order(const Recorded& recorded, std::size_t most) {
  std::vector<std::pair<double, space::Configuration>> by_score, by_prior;
  for (const auto& [configuration, score] : recorded.scores)
    if (score) {
      by_score.emplace_back(*score, configuration);
      by_prior.emplace_back(recorded.prior(configuration), configuration);
    }
  std::sort(by_score.begin(), by_score.end());
  std::sort(by_prior.begin(), by_prior.end());
  std::map<space::Configuration, std::size_t> place;
  for (std::size_t i = 0; i < by_prior.size(); ++i) place[by_prior[i].second] = i + 1;
  double squares = 0;
  const double n = static_cast<double>(by_score.size());
  for (std::size_t i = 0; i < by_score.size(); ++i) {
    const double apart =
        static_cast<double>(place[by_score[i].second]) - static_cast<double>(i + 1);
    squares += apart * apart;
  }
  fmt::print("  the prior puts the best at {} of {}; rank correlation {:.2f}\n",
             place[by_score.front().second], by_score.size(), 1 - 6 * squares / (n * (n * n - 1)));
  for (std::size_t i = 0; i < std::min(most, by_score.size()); ++i)
    fmt::print("  {:6.3f} {:5}  {}\n", by_score[i].first, place[by_score[i].second],
               space::to_string(recorded.space, by_score[i].second));
  for (std::size_t i = 0; i < std::min(most, by_prior.size()); ++i)
    fmt::print("  {:6.3f} {:5}  {}\n", *recorded.scores.at(by_prior[i].second), i + 1,
               space::to_string(recorded.space, by_prior[i].second));
}

struct Row {
  std::string of, strategy;
  std::vector<std::vector<double>> regret;  // [place in `after`][seed, dispatch]
  std::vector<double> measured;
};

void print(const Arguments& arguments, const Row& row) {
  std::string line = fmt::format("{:32} {:14}", row.of, row.strategy);
  for (std::size_t i = 0; i < arguments.after.size(); ++i) {
    const Spread of = spread(row.regret[i]);
    line += fmt::format(" {:6.1f} {:6.1f}", 100 * of.median, 100 * of.worst);
  }
  const Spread measured = spread(row.measured);
  fmt::print("{} {:6.0f} {:6.0f}\n", line, measured.median, measured.worst);
}

Status run(const Arguments& arguments) {
  std::vector<Recorded> all;
  for (const std::string& file : arguments.files) {
    HONE_ASSIGN(Recorded recorded, read_recorded(file));
    if (arguments.no_prior) recorded.prior = {};
    fmt::print("{}: {} configurations{}, best {:.3f} of the default\n", recorded.name,
               recorded.scores.size(), recorded.whole ? "" : " of a larger space", recorded.best);
    if (recorded.prior) print_order(recorded, arguments.list);
    all.push_back(std::move(recorded));
  }
  std::string heading = fmt::format("{:32} {:14}", "regret in %: median, worst", "strategy");
  for (const std::size_t n : arguments.after)
    heading += fmt::format(" {:>13}", fmt::format("after {}", n));
  fmt::print("{} {:>13}\n", heading, "measured");
  for (const std::string& strategy : arguments.strategies) {
    Row total{"all", strategy, std::vector<std::vector<double>>(arguments.after.size()), {}};
    for (const Recorded& recorded : all) {
      if (strategy == "prior" && !recorded.prior) continue;
      Row row{
          recorded.name, strategy, std::vector<std::vector<double>>(arguments.after.size()), {}};
      for (std::size_t seed = 1; seed <= arguments.seeds; ++seed) {
        HONE_ASSIGN(const Replay replayed,
                    replay(recorded, {strategy, seed, arguments.round, arguments.after.back()}));
        for (std::size_t i = 0; i < arguments.after.size(); ++i)
          row.regret[i].push_back(replayed.regret[arguments.after[i] - 1]);
        row.measured.push_back(static_cast<double>(replayed.measured));
      }
      if (arguments.each) print(arguments, row);
      for (std::size_t i = 0; i < arguments.after.size(); ++i)
        total.regret[i].insert(total.regret[i].end(), row.regret[i].begin(), row.regret[i].end());
      total.measured.insert(total.measured.end(), row.measured.begin(), row.measured.end());
    }
    if (!total.measured.empty()) print(arguments, total);
  }
  return {};
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  hone::bench::Arguments arguments;
  CLI::App app("Regret of search strategies over recorded dispatches");
  app.add_option("FILE", arguments.files, "made by bench/regret_data.py")->required();
  app.add_option("--strategy", arguments.strategies, "repeatable")
      ->capture_default_str()
      ->allow_extra_args(false);
  app.add_option("--after", arguments.after, "measurements, ascending")
      ->capture_default_str()
      ->allow_extra_args(false);
  app.add_option("--seeds", arguments.seeds, "searches of each")->capture_default_str();
  app.add_option("--round", arguments.round, "asked for at a time")->capture_default_str();
  app.add_flag("--each", arguments.each, "a line for each dispatch too");
  app.add_option("--list", arguments.list, "show so many of the best, and of the prior's first");
  app.add_flag("--no-prior", arguments.no_prior, "as if the provider had no estimate");
  CLI11_PARSE(app, argc, argv);
  if (const hone::Status status = hone::bench::run(arguments); !status) {
    fmt::print(stderr, "{}\n", status.error().message);
    return 2;
  }
  return 0;
}
