// Dispatches without a program, such as a list of GEMMs: tunes them, or verifies and measures
// candidates given by hand, one per dispatch.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"
#include "tune/dispatch/prepared_work.h"
#include "tune/services/context.h"
#include "tune/services/select_dispatches.h"
#include "tune/services/session_steps.h"

namespace hone::tune {

struct DispatchList {
  std::string path;  // of the file that lists them, for the store
  std::string hash;  // of what it says
  std::vector<problem::Dispatch> dispatches;
  // For a program: the same dispatch of an independent compile, for each; none where there is none.
  // Its dispatches share the time by their estimated times.
  std::vector<std::optional<problem::Dispatch>> references = {};
  // Logged when all of a prepared list is measured (prepared_work.h).
  std::optional<MeasuredWork> measured = {};

  bool is_program() const { return !references.empty(); }
};

struct TunedList {
  store::Id list = 0;  // as a store::ProgramRow
  store::Id run = 0;
  std::vector<TunedDispatch> tuned;  // in the list's order; `dispatch` points into the list
  std::vector<NotTuned> not_tuned;
  MachineCheck machine;
};

// Tunes the dispatches in order. Each is in the store when it ends, and `after_each` then gets the
// results so far. Dispatches that an unfinished run of the same command line completed are taken
// from the store. With Options::measured_by nothing is measured here: dispatches that this run has
// no result of are not tuned. `run`: as tune_program's `run_row`. Errors: tune_program's and those
// of `after_each`.
Result<TunedList> tune_list(Context& context, store::Run run, const DispatchList& list,
                            const std::function<Status(const TunedList&)>& after_each);

struct GivenCandidate {
  problem::Dispatch dispatch;
  std::string configuration;  // JSON, for the store
  provider::Payload payload;
};

struct GivenList {
  std::string path;  // of the file that lists them, for the store
  std::string hash;  // of what it says
  std::vector<GivenCandidate> candidates;
};

struct CheckedCandidate {
  const GivenCandidate* given = nullptr;  // in the list
  store::Id candidate = 0;                // 0: its dispatch could not be set up
  std::string failure;                    // why it is wrong or does not run; empty: it is right
  bool is_wrong = false;                  // it runs, and computes something else
  std::optional<store::VerificationRow> verification;  // newest; none where it failed
  std::optional<double> seconds;                       // of one launch, median
  std::optional<double> speedup;                       // over the default's, measured beside it
};

// Takes the candidates to their end one by one, in the list's order. Each is in the store when it
// ends; results in the store are reused. `run`: as tune_program's `run_row`. Errors as
// tune_program's, except kFailure.
Result<std::vector<CheckedCandidate>> check_candidates(Context& context, store::Run run,
                                                       const GivenList& list);

}  // namespace hone::tune
