// Regret of search strategies over recorded dispatches: how far from the best there is they are
// after so many measurements. Files are made by bench/regret_data.py; docs/search.md says how to
// read the table.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "bench/replay.h"

namespace hone::bench {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> strategies = {"random", "local", "prior"};
  std::vector<std::size_t> after = {8, 16, 32, 64};
  std::size_t seeds = 50;
  std::size_t round = 8;
  bool each = false;
  bool no_prior = false;
};

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
  app.add_option("--strategy", arguments.strategies, "repeatable")->capture_default_str();
  app.add_option("--after", arguments.after, "measurements, ascending")->capture_default_str();
  app.add_option("--seeds", arguments.seeds, "searches of each")->capture_default_str();
  app.add_option("--round", arguments.round, "asked for at a time")->capture_default_str();
  app.add_flag("--each", arguments.each, "a line for each dispatch too");
  app.add_flag("--no-prior", arguments.no_prior, "as if the provider had no estimate");
  CLI11_PARSE(app, argc, argv);
  if (const hone::Status status = hone::bench::run(arguments); !status) {
    fmt::print(stderr, "{}\n", status.error().message);
    return 2;
  }
  return 0;
}
