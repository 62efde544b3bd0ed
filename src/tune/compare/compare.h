// Tests whether B is slower than A: two modules, two specs, two configurations of a dispatch, or
// the winners of two stores. Each round runs both once, in random order; rounds are compared in
// pairs (measure/comparison.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/place.h"
#include "measure/buffers.h"
#include "measure/comparison.h"
#include "problem/npy.h"
#include "provider/program_provider.h"
#include "store/store.h"
#include "trial/compile_service.h"
#include "trial/kernel_runner.h"
#include "tune/services/context.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

// Errors of one compile's results against another's, and whether they are wrong: root mean squares,
// as shares of the exact result's.
struct OutputErrors {
  struct OfResult {
    double a = 0, b = 0;
    std::optional<double> converted;
  };
  std::string exact;              // by what they are errors: "the program computed in f32", "A"
  std::vector<OfResult> results;  // in the function's order
  std::string failure;            // why B's are wrong; empty where they are right
  std::string note;
};

struct CompareOptions {
  measure::ComparisonOptions statistics;
  // Rounds run in stages of `rounds`, until a slowdown of `find` would be found in 95 of 100 cases,
  // or up to most_rounds (measure::needs_more_rounds).
  std::size_t rounds = measure::kDefaultRounds;
  std::size_t most_rounds = 4 * measure::kDefaultRounds;
  double find = 0.02;
  // Kernels only: loads per stage, each over buffers in other memory, since the addresses of code
  // and buffers change the time. The rounds of one load are one block of the comparison. (A module
  // is loaded in every round, by a process of its own.)
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

// The compiler's own choice, among configurations.
inline constexpr std::string_view kDefaultWord = "default";

// A compared pair.
struct ComparedPair {
  std::string what;  // the function or dispatch
  std::string a;     // what stands on each side: a file, a configuration
  std::string b;
  std::vector<double> a_seconds;  // per call or launch, by round
  std::vector<double> b_seconds;
  measure::PairedComparison result;  // of B against A
  device::MachineState machine;      // meanwhile; of several looks the one with most background
  std::string note;                  // "both are the same code"
  // Reason why there is no result, or why it does not count: B does not load, results differ.
  std::string failure;
  std::optional<provider::FailureKind> a_failure, b_failure;  // of kernels: the side's own
  bool same_code = false;                                     // of kernels
  std::optional<OutputErrors> errors;                         // by compare_compiles

  // Whether B is slower than A, or must not replace it.
  bool regressed() const { return !failure.empty() || result.verdict == measure::Verdict::kSlower; }
};

struct CompareContext {
  const CompareOptions& options;
  const provider::ProgramProvider& provider;
  trial::RunnerService& runner;
  Observer& observer;
  // Returns the machine's state since the previous call, for what runs outside the runner.
  std::function<device::MachineState()> machine_state;
  // Another provider whose kernels the same compiler makes; null: none.
  const provider::Provider* beside = nullptr;

  // The provider of this name, where this compiler makes its kernels; else null.
  const provider::Provider* maker(std::string_view name) const {
    if (name == provider.name()) return &provider;
    return beside != nullptr && name == beside->name() ? beside : nullptr;
  }
};

// Errors of the functions below: kInput for the user's mistakes, kInterrupted when told to stop,
// kFailure if A or B cannot be run at all.

// Compares two compiled modules. Each gets arguments of its own function's types. If the types are
// equal, so are the arguments, and results are compared; otherwise a note says so. Input error: no
// function to call, or several and none is named.
Result<ComparedPair> compare_modules(const CompareContext& context, const std::filesystem::path& a,
                                     const std::filesystem::path& b);

// Compares the program compiled with either spec; "none" stands for no spec.
Result<ComparedPair> compare_specs(const CompareContext& context, trial::CompileService& compiler,
                                   const std::string& program, const std::string& a,
                                   const std::string& b);

// A side of the comparison: a program, whose text may be written by hone, and all that it is
// compiled with.
struct CompiledSide {
  std::string label;
  std::string path;  // of the program, for messages
  std::string bytes;
  std::vector<std::string> flags;  // in the place of CompareOptions::flags
};

// Compares two compiles of programs that compute the same. Unlike compare_specs it reports how far
// the results lie apart, and judges f16 and bf16 by the program in f32.
// `converted`: the program with the conversions that B has and A has not.
Result<ComparedPair> compare_compiles(const CompareContext& context,
                                      trial::CompileService& compiler, const CompiledSide& a,
                                      const CompiledSide& b,
                                      const std::optional<CompiledSide>& converted);
// Times two compiles that do not compute the same; results are not compared.
Result<ComparedPair> time_compiles(const CompareContext& context, trial::CompileService& compiler,
                                   const CompiledSide& a, const CompiledSide& b);

// Compares two configurations of the one dispatch that matches `dispatch` (empty: the program's
// only one): "dist_m=64,..." or "default". Both are verified first. Input error: a configuration
// does not fit the space's knobs. A configuration that the constraints forbid is tried all the
// same.
Result<ComparedPair> compare_configurations(const CompareContext& context,
                                            trial::CompileService& compiler,
                                            const std::string& program, const std::string& dispatch,
                                            const std::string& a, const std::string& b);

// A dispatch that is compiled in two ways.
struct DispatchSides {
  const problem::Dispatch& dispatch;
  std::vector<std::string> a_flags, b_flags;  // in the place of CompareOptions::flags
  // The program compiled with CompareOptions::reference_flags, whose code verifies a dispatch that
  // has no exact reference (measure/reference.h).
  const problem::Program& reference;
  measure::ComparisonOptions statistics;  // in the place of CompareOptions::statistics
  bool times_same_code = false;           // else equal code counts as equally fast
};
// Compares the dispatch compiled with either flags. Both sides are verified first. A side that does
// not run or is wrong is no error: ComparedPair says so.
Result<ComparedPair> compare_sides_of_dispatch(const CompareContext& context,
                                               trial::CompileService& compiler,
                                               const DispatchSides& sides);

// Compares the last choices of two stores for each dispatch that both hold: equal sources, and
// names that match one of `dispatches` (none: all). Runs the code in the stores, verified against
// A's default configuration or computed exactly. Code that another user compiled (store/seal.h) is
// not loaded unless options.trust says so. Instead, `compiler` compiles it again with the flags in
// the store. Each of k dispatches is compared at alpha / k, so at most a share alpha of pairs of
// equal stores shows any difference. Input error: the stores share no dispatch, keep no code, or
// one's times are of an emulator.
Result<std::vector<ComparedPair>> compare_stores(const CompareContext& context,
                                                 trial::CompileService* compiler,
                                                 const std::filesystem::path& a,
                                                 const std::filesystem::path& b,
                                                 const std::vector<std::string>& dispatches);
// Stored code that compare_stores() would load. Input errors as there, but that no code is kept.
struct StoredCode {
  bool is_own = true;             // all of it is this user's: no compiler is needed
  std::set<std::string> formats;  // provider::Artifact::format
};
Result<StoredCode> stored_code(const std::filesystem::path& a, const std::filesystem::path& b,
                               const std::vector<std::string>& dispatches);

// `wide`: results of the program computed in f32, or none. They are exact if they are given and A's
// are f16 or bf16; else A's are. `converted`: results of A's code with the conversions that B has
// and A has not, or none. A result beyond the tolerance of its type (program_outputs.h) is still
// right if its error is at most twice that of `converted`: the conversions alone bring that much.
// Input error: numbers or types of results differ.
Result<OutputErrors> output_errors(const std::vector<problem::Array>& a,
                                   const std::vector<problem::Array>& b,
                                   const std::vector<problem::Array>& wide,
                                   const std::vector<problem::Array>& converted);

}  // namespace hone::tune
