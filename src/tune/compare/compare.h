// Is B slower than A? Two modules, two specs, two configurations of a dispatch, or the winners of
// two stores, measured in rounds in which both run once, in an order drawn at random, and compared
// in pairs (measure/comparison.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/place.h"
#include "measure/buffers.h"
#include "measure/comparison.h"
#include "provider/program_provider.h"
#include "store/store.h"
#include "trial/compile_service.h"
#include "trial/runner_service.h"
#include "tune/compare/output_errors.h"
#include "tune/services/given_arguments.h"
#include "tune/services/observer.h"

namespace hone::tune {

struct CompareOptions {
  measure::ComparisonOptions statistics;
  // Rounds are taken in stages of `rounds` until a slowdown of `find` is found in 95 of 100 cases,
  // or there are most_rounds of them (measure::needs_more_rounds).
  std::size_t rounds = measure::kDefaultRounds;
  std::size_t most_rounds = 4 * measure::kDefaultRounds;
  double find = 0.02;
  // Kernels only: each is loaded again, over buffers in other memory, this many times per stage,
  // since where both come to lie changes its time; the rounds of one load are one block of the
  // comparison. (A module is loaded again in every round, by a process of its own.)
  std::size_t loads = 10;
  double seconds = 0.1;  // of a program's sample

  std::vector<std::string> flags;            // of the compiler
  std::vector<std::string> own_flags;        // those among them that the user has given
  store::Trust trust = store::Trust::kOwn;   // whose code of a store is loaded
  std::vector<std::string> reference_flags;  // of a compile whose code A and B do not share
  std::string function;                      // of a program or module; empty: the only one
  std::vector<GivenArgument> inputs;         // of that function; none: generated
  std::vector<std::string> runtime_flags;
  device::Place place;  // to run on
  measure::CacheMode cache = measure::CacheMode::kWarm;
  std::uint64_t seed = 42;  // of inputs and orders
  int stop_fd = -1;         // once it is readable: kInterrupted
};

// One pair that was compared.
struct ComparedPair {
  std::string what;  // the function or dispatch
  std::string a;     // what stands on each side: a file, a configuration
  std::string b;
  std::vector<double> a_seconds;  // per call or launch, by round
  std::vector<double> b_seconds;
  measure::PairedComparison result;  // of B against A
  device::MachineState machine;      // meanwhile; of several looks the one with most background
  std::string note;                  // "both are the same code"
  // Why there is no result, or why it does not count: B does not load, results differ.
  std::string failure;
  std::optional<OutputErrors> errors;  // by compare_compiles

  // B is slower, or not to be used instead of A.
  bool regressed() const { return !failure.empty() || result.verdict == measure::Verdict::kSlower; }
};

struct CompareContext {
  const CompareOptions& options;
  const provider::ProgramProvider& provider;
  trial::RunnerService& runner;
  Observer& observer;
  // What the machine did since the call before, for what runs outside the runner.
  std::function<device::MachineState()> machine_state;
};

// All errors: kInput for the user's mistakes, kInterrupted when told to stop, kFailure when A or B
// cannot be run at all.

// Two compiled modules. Each gets arguments of its own function's types, equal ones where the types
// are equal; results are compared then, and a note says so otherwise. An input error when there is
// no function to call, or several and none is named.
Result<ComparedPair> compare_modules(const CompareContext& context, const std::filesystem::path& a,
                                     const std::filesystem::path& b);

// The program compiled with one spec and with the other; "none" stands for no spec.
Result<ComparedPair> compare_specs(const CompareContext& context, trial::CompileService& compiler,
                                   const std::string& program, const std::string& a,
                                   const std::string& b);

// One side: a program, of which hone may have written the text, and all that it is compiled with.
struct CompiledSide {
  std::string label;
  std::string path;  // of the program, for messages
  std::string bytes;
  std::vector<std::string> flags;  // in the place of CompareOptions::flags
};

// Two compiles, of programs that compute the same. Unlike compare_specs it says how far the results
// lie apart, and takes what is narrow by the program in f32 (output_errors.h). `converted`: the
// program with the conversions of B that A has not.
Result<ComparedPair> compare_compiles(const CompareContext& context,
                                      trial::CompileService& compiler, const CompiledSide& a,
                                      const CompiledSide& b,
                                      const std::optional<CompiledSide>& converted);
// Two compiles that do not compute the same: their times alone.
Result<ComparedPair> time_compiles(const CompareContext& context, trial::CompileService& compiler,
                                   const CompiledSide& a, const CompiledSide& b);

// Two configurations of the one dispatch of the program that matches `dispatch` (empty: the only
// one): "dist_m=64,..." or "default". Both are verified first. An input error when a configuration
// is not of the space's knobs; one that its constraints forbid is tried all the same.
Result<ComparedPair> compare_configurations(const CompareContext& context,
                                            trial::CompileService& compiler,
                                            const std::string& program, const std::string& dispatch,
                                            const std::string& a, const std::string& b);

// For each dispatch that both stores hold (equal sources, names that match one of `dispatches`;
// none: all), what each chose for it last, from the code they keep, verified against A's default
// configuration (or computed exactly). Code that somebody else compiled (store/seal.h) is not
// loaded unless options.trust says so: it is compiled again, with the flags that the store names,
// by `compiler`. With k dispatches each is compared at alpha / k, so that of
// pairs of equal stores at most a share alpha shows any difference. An input error when they share
// no dispatch or keep no code.
Result<std::vector<ComparedPair>> compare_stores(const CompareContext& context,
                                                 trial::CompileService* compiler,
                                                 const std::filesystem::path& a,
                                                 const std::filesystem::path& b,
                                                 const std::vector<std::string>& dispatches);
// The code that compare_stores() would load of the two.
struct StoredCode {
  bool is_own = true;             // all of it is this user's: no compiler is needed
  std::set<std::string> formats;  // provider::Artifact::format
};
Result<StoredCode> stored_code(const std::filesystem::path& a, const std::filesystem::path& b,
                               const std::vector<std::string>& dispatches);

}  // namespace hone::tune
