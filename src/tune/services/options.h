// Options of a tuning session.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "device/place.h"
#include "measure/buffers.h"
#include "plan/shards.h"
#include "store/store.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

// Compiler flags that compete with tuning. Each set is tried on the whole program, alone and with
// the spec, so that hone never claims a gain that a flag alone gives.
struct FlagSet {
  std::string name;                // "data tiling"
  std::vector<std::string> flags;  // {"--iree-opt-data-tiling"}
  // Tried alone, never with tuned dispatches: the flags were found as a whole.
  bool is_whole = false;
};

struct Options {
  std::string input;                         // path of the program
  std::vector<std::string> flags;            // of the compiler: target and the user's own
  std::vector<std::string> reference_flags;  // of a compile whose code the candidates do not share
  // "NAME=VALUE": the user's environment for the compiler, the runners and the drivers.
  std::vector<std::string> environment;
  std::vector<FlagSet> flag_sets;
  // Searches for flags that make the whole program faster first (flag_search.h), and tunes the
  // dispatches under them.
  bool search_flags = false;
  // Flags that let the compiler reorder floating-point sums, which vectorising them requires.
  // Programs that have such sums are tuned with them (flag_baseline.h). Empty: no flags are added.
  FlagSet sums;

  std::vector<std::string> dispatches;  // patterns of names; empty: all
  // Without named dispatches, the hottest ones are tuned: those that cover this share (0 to 1) of
  // the dispatches' time, and at most most_dispatches.
  double coverage = 1;
  std::size_t most_dispatches = std::numeric_limits<std::size_t>::max();
  std::string strategy = "auto";
  std::vector<std::string> relax;         // soft constraints to drop; "all"
  std::optional<std::size_t> candidates;  // per dispatch
  double budget_seconds = 600;            // of search and finalists, over all dispatches
  // Part of the run that this process does. A shard has a share of budget_seconds.
  plan::Part part;
  std::vector<std::string> configurations;  // given by hand, instead of a search
  std::uint64_t seed = 42;

  // Devices to spread candidates over; never empty, and alike in all but their address. Finalists
  // run on the first.
  std::vector<device::Place> places{device::Place()};
  const device::Place& place() const { return places.front(); }
  const device::Traits& traits() const { return place().traits; }
  // Candidates that compile while others are measured, where compiling does not disturb; at least
  // 1.
  std::size_t compile_ahead = 8;
  std::size_t compile_jobs = 1;  // compiles of the whole program at once
  measure::CacheMode cache = measure::CacheMode::kWarm;
  std::int64_t rotating_bytes = 0;  // of cold operands at least; 0: twice the last-level cache
  // Bytes. Cold operands take more than twice as much.
  std::int64_t last_level_cache() const {
    return std::max(place().facts.last_level_cache_bytes, rotating_bytes / 2);
  }
  store::Reuse reuse = store::Reuse::kEqualIdentities;
  store::Trust trust = store::Trust::kOwn;  // whose code of the store is loaded
  // Retries failures of earlier runs that may not recur (provider::may_differ_next_time).
  // Candidates that met an accident are always retried.
  bool retry_failed = false;
  // Only compiles the candidates of a shard, for a device that may be absent: nothing is run.
  bool compiles_only = false;
  // Takes the candidates of a dispatch and a provider from those that the store has compiled
  // (dispatch/prepared_work.h). Where it has none, they are searched as usual.
  bool takes_stored = false;
  // Compiles nothing at all: dispatches without stored code have no candidates. Implies
  // takes_stored.
  bool measures_only = false;
  // Run that measured the dispatches for this one, perhaps on another machine: they are not
  // searched again.
  std::optional<store::Id> measured_by = {};

  bool baselines = true;  // libraries beside the winner
  bool prove = true;      // in the whole program
  bool near_ties = true;  // tries near ties of winners in the program (tie_choice.h)
  // Tuning spec of the user; empty: none. No entry of it is applied while tuning. The emitted spec
  // has its entries behind the new ones.
  std::filesystem::path starter_spec;
  // Rejects every build that changes a bit of the program's outputs.
  bool bit_equal = false;
  std::string function;               // of the program to prove on; empty: the first
  std::vector<GivenArgument> inputs;  // of that function; none: made up
  std::vector<std::string> runtime_flags;
  std::filesystem::path out = "out";
};

}  // namespace hone::tune
