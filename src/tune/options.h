// What a tuning session is asked to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/buffers.h"
#include "store/store.h"
#include "tune/given_arguments.h"

namespace hone::tune {

// Compiler flags that compete with tuning: each is tried on the whole program, alone and with the
// spec, so that hone never claims a gain that a flag alone gives.
struct FlagSet {
  std::string name;                // "data tiling"
  std::vector<std::string> flags;  // {"--iree-opt-data-tiling"}
};

struct Options {
  std::string input;                         // path of the program
  std::vector<std::string> flags;            // of the compiler: target and the user's own
  std::vector<std::string> reference_flags;  // of a compile whose code the candidates do not share
  std::vector<FlagSet> flag_sets;
  // With these the compiler may reorder sums of floating-point numbers, which their vectorised form
  // takes. Programs that have some are tuned with them (sums.h); empty: nothing is added.
  FlagSet sums;

  std::vector<std::string> dispatches;  // patterns of names; empty: all
  std::string strategy = "auto";
  std::vector<std::string> relax;           // soft constraints to drop; "all"
  std::optional<std::size_t> candidates;    // per dispatch
  double budget_seconds = 600;              // of search and finalists, over all dispatches
  std::vector<std::string> configurations;  // given by hand, instead of a search
  std::uint64_t seed = 42;

  std::vector<int> cores;  // that candidates run on, one thread each
  // The GPU, by the driver's number, that they run on instead; the cores then compute references.
  std::optional<int> cuda;
  // Further ones of the same kind, which candidates are shared out over; finalists run on `cuda`.
  std::vector<int> more_gpus;
  // PTX is assembled for it ("sm_90") where it is compiled; empty: left to the driver.
  std::string assemble_for;
  // Candidates that compile while others are measured, where that does not disturb: a GPU's kernels
  // run on no core. 0: compiling and measuring take turns.
  std::size_t compile_ahead = 0;
  measure::CacheMode cache = measure::CacheMode::kWarm;
  std::int64_t last_level_cache = 0;  // bytes
  store::Reuse reuse = store::Reuse::kEqualIdentities;
  store::Trust trust = store::Trust::kOwn;  // whose code of the store is loaded
  // Candidates that another run gave up for what may come out otherwise are tried again
  // (provider::may_differ_next_time); those that met an accident are in any case.
  bool retry_failed = false;

  bool baselines = true;              // libraries beside the winner
  bool prove = true;                  // in the whole program
  std::string function;               // of the program to prove on; empty: the first
  std::vector<GivenArgument> inputs;  // of that function; none: made up
  std::vector<std::string> runtime_flags;
  std::filesystem::path out = "out";
};

}  // namespace hone::tune
