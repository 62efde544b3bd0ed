// A tuning session: the way of a program from its file to a proven spec.
#pragma once

#include <string>
#include <vector>

#include "tune/dispatch_tuner.h"
#include "tune/machine_check.h"
#include "tune/program_proof.h"
#include "tune/select_dispatches.h"

namespace hone::tune {

struct SessionResult {
  problem::Program program;
  store::Id program_id = 0;
  store::Id run = 0;
  std::vector<TunedDispatch> tuned;  // their `dispatch` points into `program`
  std::vector<NotTuned> not_tuned;
  ProvenProgram proven;
  MachineCheck machine;  // before the first measurement
};

class Session {
 public:
  // `run_row`: command line, version and seed of the run, for the store. The context's build and
  // device are set.
  Session(Context& context, store::Run run_row) : context_(context), run_row_(std::move(run_row)) {}

  // The recipe. Errors: kInput for the user's mistakes (file, pattern, configuration),
  // kInterrupted when told to stop (everything done is in the store; the same command continues),
  // kFailure when nothing of the program can be tuned.
  Result<SessionResult> run();

 private:
  Status load_program();
  Status tune_dispatches();
  Status prove();
  Status emit() const;

  Context& context_;
  store::Run run_row_;
  std::string bytes_;
  std::vector<problem::Dispatch> references_;  // of the independent compile
  std::vector<const problem::Dispatch*> chosen_;
  SessionResult result_;
};

}  // namespace hone::tune
