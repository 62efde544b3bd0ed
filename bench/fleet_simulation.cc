// Simulates a fleet: the wall time of a tuning over 1, 8, 64 and 512 tasks, from recorded times of
// dispatches, split by the code that real tasks are split by (plan/shards.h).
//
// usage: fleet_simulation RECORDED [--dispatches N] [--tasks 1,8,64,512] [--seed S] [--json]
// RECORDED is a file of bench/fleet_model.py: dispatches with the seconds that were expected and
// those that were taken, and the seconds of a task's start, of a merge, of the flags and the proof.
// --dispatches draws so many of them with replacement; without it they are taken as they are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "plan/shards.h"

namespace hone::bench {
namespace {

struct Dispatch {
  double expected = 0, seconds = 0;

  static void fields(auto& each, auto&& field) {
    field("expected_seconds", each.expected);
    field("seconds", each.seconds);
  }
};

struct Recorded {
  double start = 0;   // seconds until a task measures its first candidate, and to publish its store
  double serial = 0;  // of the flag search and the proof
  double merge = 0;   // of one shard's store
  std::vector<Dispatch> dispatches = {};

  static void fields(auto& recorded, auto&& field) {
    field("start_seconds", recorded.start);
    field("serial_seconds", recorded.serial);
    field("merge_seconds", recorded.merge);
    field("dispatches", recorded.dispatches);
  }
};

struct Simulated {
  std::size_t tasks = 0;
  double wall = 0, idle = 0;  // idle: share of the nodes' time until the last shard has ended
  double work = 0, imbalance = 0, start = 0, serial = 0;  // parts of the wall time
  double longest = 0;                                     // seconds of the longest dispatch

  std::string bound() const {
    const std::pair<double, const char*> parts[] = {{work, "the work"},
                                                    {imbalance, "one long shard"},
                                                    {start, "starting a task"},
                                                    {serial, "flags, merge and proof"}};
    return std::ranges::max_element(parts)->second;
  }
};

std::vector<Dispatch> drawn(const std::vector<Dispatch>& from, std::size_t count,
                            std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::size_t> place(0, from.size() - 1);
  std::vector<Dispatch> dispatches;
  for (std::size_t i = 0; i < count; ++i) dispatches.push_back(from[place(random)]);
  return dispatches;
}

Simulated simulate(const Recorded& recorded, const std::vector<Dispatch>& dispatches,
                   std::size_t tasks) {
  std::vector<plan::ShardItem> items;
  for (std::size_t i = 0; i < dispatches.size(); ++i)
    items.push_back({fmt::format("dispatch {:06}", i), dispatches[i].expected});
  const std::vector<std::size_t> shards = plan::shards_of(items, tasks);
  std::vector<double> loads(tasks);
  Simulated result{.tasks = tasks};
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    loads[shards[i]] += dispatches[i].seconds;
    result.longest = std::max(result.longest, dispatches[i].seconds);
  }
  const double sum = std::accumulate(loads.begin(), loads.end(), 0.0);
  const double last = *std::ranges::max_element(loads);
  result.work = sum / static_cast<double>(tasks);
  result.imbalance = last - result.work;
  result.start = recorded.start;
  result.serial = recorded.serial + recorded.merge * static_cast<double>(tasks);
  result.wall = result.work + result.imbalance + result.start + result.serial;
  result.idle = last + result.start > 0 ? 1 - result.work / (last + result.start) : 0;
  return result;
}

Result<Recorded> read_recorded(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  try {
    auto recorded = nlohmann::json::parse(text).get<Recorded>();
    if (recorded.dispatches.empty()) return input_error("{}: no dispatches", path);
    return recorded;
  } catch (const nlohmann::json::exception& error) {
    return input_error("{}: {}", path, error.what());
  }
}

int run(int argc, char** argv) {
  CLI::App app("Simulates a tuning over many tasks");
  std::string file;
  std::size_t count = 0;
  std::vector<std::size_t> tasks{1, 8, 64, 512};
  std::uint64_t seed = 42;
  bool json = false;
  app.add_option("RECORDED", file)->required();
  app.add_option("--dispatches", count);
  app.add_option("--tasks", tasks)->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--seed", seed);
  app.add_flag("--json", json);
  CLI11_PARSE(app, argc, argv);
  const Result<Recorded> recorded = read_recorded(file);
  if (!recorded) {
    say("fleet_simulation: {}\n", recorded.error().message);
    return 2;
  }
  const std::vector<Dispatch> dispatches =
      count > 0 ? drawn(recorded->dispatches, count, seed) : recorded->dispatches;
  nlohmann::json rows = nlohmann::json::array();
  if (!json)
    fmt::print("{:>6} {:>10} {:>6} {:>10} {:>10} {:>8} {:>8}  bound by\n", "tasks", "wall s",
               "idle", "work s", "imbalance", "start", "serial");
  for (const std::size_t each : tasks) {
    const Simulated s = simulate(*recorded, dispatches, each);
    if (json)
      rows.push_back({{"tasks", s.tasks},
                      {"wall_seconds", s.wall},
                      {"idle_share", s.idle},
                      {"work_seconds", s.work},
                      {"imbalance_seconds", s.imbalance},
                      {"start_seconds", s.start},
                      {"serial_seconds", s.serial},
                      {"longest_dispatch_seconds", s.longest},
                      {"bound_by", s.bound()}});
    else
      fmt::print("{:>6} {:>10.0f} {:>5.0f}% {:>10.0f} {:>10.0f} {:>8.0f} {:>8.0f}  {}\n", s.tasks,
                 s.wall, 100 * s.idle, s.work, s.imbalance, s.start, s.serial, s.bound());
  }
  if (json)
    fmt::print("{}\n", nlohmann::json{{"dispatches", dispatches.size()}, {"rows", rows}}.dump(1));
  return 0;
}

}  // namespace
}  // namespace hone::bench

int main(int argc, char** argv) {
  return hone::bench::run(argc, argv);
}
