// Compiles for a device that may be absent. Candidates are proposed, compiled, stored and, for a
// GPU, ranked by the resources that their code takes. Nothing is run, except on an emulator of the
// target where one is given: only verified candidates are ranked then. The store holds all that
// another machine needs to measure them (prepared_work.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "problem/target.h"
#include "provider/resources.h"
#include "tune/dispatch/dispatch_tuner.h"
#include "tune/dispatch/emulated_check.h"
#include "tune/dispatch/prepared_work.h"
#include "tune/services/context.h"
#include "tune/services/run_verdict.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {

struct CompiledRow {
  store::Id candidate = 0;
  std::string provider;
  std::string configuration;  // JSON, or "default"
  std::string configured;     // the compiler's lowering configuration
  std::string identity;       // of the code
  provider::Launch launch;
  // Read from an AMD code object; PTX says only how much shared memory is asked for.
  provider::KernelResources resources;
  double occupancy = 0;  // problem::occupancy: the share of a unit's subgroup slots it fills
};

// A candidate that compiles and is not ranked.
struct UnrankedRow {
  store::Id candidate = 0;
  std::string provider;
  std::string configuration;  // as CompiledRow's
  std::string kind;           // of the failure (provider::name_of); empty: it was not run
  std::string reason;         // in words
};

// Verdicts of an emulator. Candidates of equal code have a row each.
struct EmulatedVerdicts {
  std::size_t right = 0;
  std::vector<UnrankedRow> wrong, not_verified;
  std::string default_is_wrong = {};  // how; empty if it is right or has no verdict
  std::size_t verified_now = 0;       // candidates: no earlier run has
};

struct CompiledDispatch {
  const problem::Dispatch* dispatch = nullptr;
  std::uint64_t space = 0;  // configurations there are, of all providers
  std::size_t tried = 0, compiled = 0, distinct = 0;
  std::size_t untried = 0;           // candidates for which the time was over
  CommonReason failures = {};        // of those that do not compile
  std::string default_failure = {};  // why the compiler's own choice does not; empty where it does
  bool has_default = false;          // the compiler's own choice is compiled
  std::string reference = {};        // PreparedDispatch::reference
  std::vector<CompiledRow> ranked;   // best first, equal code once
  // None: nothing was verified, and `ranked` has all that compile.
  std::optional<EmulatedVerdicts> verdicts = {};
  double seconds = 0;  // that it took, with verification
};

struct CompiledProgram {
  problem::Program program;
  std::vector<CompiledDispatch> dispatches;  // point into `program`
  std::vector<NotTuned> not_tuned;
  bool is_ranked = false;  // by resources, which code for a CPU does not state
};

// Returns the verdict. A program is usable if each dispatch compiles somehow, a list if at least
// one does. A dispatch whose candidates an emulator all found wrong has no usable code.
RunVerdict verdict_of(const CompiledProgram& compiled);

// Whether `a` ranks before `b`: fits on the device, then fewer spilled registers, higher occupancy,
// less shared memory. A heuristic: only a device can tell.
bool ranks_before(const CompiledRow& a, const CompiledRow& b);

struct CompileOnlyRequest {
  trial::CompileService& compiler;
  const provider::Provider& provider;
  std::vector<const provider::Provider*> replacing;
  store::Store& store;
  const Options& options;
  std::optional<problem::GpuTarget> target;  // none: a CPU
  store::Id build;
  Observer& observer;
  // From an independent compile of the program with Options::reference_flags; empty for a list.
  std::vector<problem::Dispatch> references = {};
  // Completed by the dispatches, and logged at the end.
  PreparedWork prepared = {};
  // Runners that verify the candidates; null: nothing is run.
  const Emulator* emulator = nullptr;
  // Flags of the candidates beside Options::flags.
  std::vector<std::string> extra_flags = {};
};

// Compiles options.candidates (at least the default) of a dispatch into the store, for
// `share.seconds` at most, and its reference unless hone computes that. With an emulator, it
// verifies each as it compiles. `reference`: the same
// dispatch of an independent compile; null if there is none. Code in the store is not compiled
// again. Errors: a failure if the compiler refuses the dispatch; those of the store; kInterrupted.
Result<CompiledDispatch> compile_ahead(const CompileOnlyRequest& request,
                                       const problem::Dispatch& dispatch,
                                       const problem::Dispatch* reference, const Share& share);

// Compiles options.candidates (at least the default) of each chosen dispatch, for
// options.budget_seconds at most. Each of `replacing` whose kernels can replace the dispatch's gets
// as many; providers without any use are noted. Code in the store is not compiled again. A
// candidate that ships in another form is compiled in that form too, and so is the reference of
// each dispatch for which hone computes none. Errors as ProgramTuning's steps.
Result<CompiledProgram> compile_only(const CompileOnlyRequest& request, problem::Program program,
                                     store::Run run_row);

}  // namespace hone::tune
