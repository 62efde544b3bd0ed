// Simulates a fleet: the wall time of a tuning over 1, 8, 64 and 512 tasks, from recorded times of
// dispatches, split by the code that real tasks are split by (plan/shards.h).
//
// usage: fleet_simulation RECORDED [--dispatches N] [--tasks 1,8,64,512] [--nodes N] [--seed S]
//        [--json]
// RECORDED is a file of bench/fleet_model.py: dispatches with the seconds that were expected and
// those that were taken, and the seconds of a task's start, of a merge, of the flags and the proof.
// --dispatches draws so many of them with replacement; without it they are taken as they are.
// --nodes runs the tasks in turn on so many nodes; without it all run at once.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
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
  double wall = 0, idle = 0;  // idle: share of the nodes' time that is not budgeted work
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

// Seconds of each shard. Every shard has the time of the longest one (tune/dispatch/own_shard.h),
// so a lighter one searches its dispatches for longer.
std::vector<double> shard_seconds(const std::vector<Dispatch>& dispatches, std::size_t tasks) {
  std::vector<plan::ShardItem> items;
  for (std::size_t i = 0; i < dispatches.size(); ++i)
    items.push_back({fmt::format("dispatch {:06}", i), dispatches[i].expected});
  const std::vector<std::size_t> shards = plan::shards_of(items, tasks);
  std::vector<double> expected(tasks), seconds(tasks);
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    expected[shards[i]] += dispatches[i].expected;
    seconds[shards[i]] += dispatches[i].seconds;
  }
  const double longest = *std::ranges::max_element(expected);
  for (std::size_t k = 0; k < tasks; ++k)
    if (expected[k] > 0) seconds[k] *= longest / expected[k];
  return seconds;
}

// Seconds until the last of the tasks ends, which begin in order as nodes become free.
double end_of(const std::vector<double>& tasks, std::size_t nodes) {
  std::vector<double> free_at(nodes);
  for (const double each : tasks) *std::ranges::min_element(free_at) += each;
  return *std::ranges::max_element(free_at);
}

Simulated simulate(const Recorded& recorded, const std::vector<Dispatch>& dispatches,
                   std::size_t tasks, std::size_t nodes) {
  Simulated result{.tasks = tasks};
  double work = 0;
  for (const Dispatch& each : dispatches) {
    work += each.seconds;
    result.longest = std::max(result.longest, each.seconds);
  }
  std::vector<double> seconds = shard_seconds(dispatches, tasks);
  for (double& each : seconds) each += recorded.start;
  const double last = end_of(seconds, nodes);
  const double turns = std::ceil(static_cast<double>(tasks) / static_cast<double>(nodes));
  result.work = work / static_cast<double>(nodes);
  result.start = recorded.start * turns;
  result.imbalance = std::max(0.0, last - result.work - result.start);
  result.serial = recorded.serial + recorded.merge * static_cast<double>(tasks);
  result.wall = last + result.serial;
  result.idle = 1 - result.work / last;
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
  std::size_t count = 0, nodes = 0;
  std::vector<std::size_t> tasks{1, 8, 64, 512};
  std::uint64_t seed = 42;
  bool json = false;
  app.add_option("RECORDED", file)->required();
  app.add_option("--dispatches", count);
  app.add_option("--tasks", tasks)->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--nodes", nodes);
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
    const Simulated s =
        simulate(*recorded, dispatches, each, nodes > 0 ? std::min(nodes, each) : each);
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
