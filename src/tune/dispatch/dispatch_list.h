// Tunes dispatches without a program, such as a list of GEMMs.
#pragma once

#include <functional>
#include <vector>

#include "tune/dispatch/dispatch_tuner.h"
#include "tune/services/machine_check.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {

struct DispatchList {
  std::string path;  // of the file that lists them, for the store
  std::string hash;  // of what it says
  std::vector<problem::Dispatch> dispatches;
};

struct TunedList {
  store::Id list = 0;  // as a store::Program
  store::Id run = 0;
  std::vector<TunedDispatch> tuned;  // in the list's order; `dispatch` points into the list
  std::vector<NotTuned> not_tuned;
  MachineCheck machine;
};

// Tunes the dispatches in order. Each is in the store when it ends, and `after_each` then gets the
// results so far. Dispatches that an unfinished run of the same command line completed are taken
// from the store. `run`: as tune_program's `run_row`. Errors: tune_program's and those of
// `after_each`.
Result<TunedList> tune_list(Context& context, store::Run run, const DispatchList& list,
                            const std::function<Status(const TunedList&)>& after_each);

}  // namespace hone::tune
