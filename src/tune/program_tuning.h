// The way of a program from its file to a proven spec, step by step, at one set of sizes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plan/work_plan.h"
#include "tune/dispatch/finished_work.h"
#include "tune/program/program_proof.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {

struct ProgramTuningResult {
  problem::SizeSet sizes;  // what the user gave to what the program leaves open
  problem::Program program;
  store::Id program_id = 0;
  std::vector<TunedDispatch> tuned;  // their `dispatch` points into `program`
  std::vector<NotTuned> not_tuned;
  ProvenProgram proven;
};

// Its steps, in their order. Errors: kInput for the user's mistakes (file, pattern, configuration),
// kInterrupted when told to stop, kFailure when nothing of the program can be tuned.
class ProgramTuning {
 public:
  // The context's build and device are set. `label`: tells its measurements of the whole program
  // from those of the others of the run; empty where there is none.
  ProgramTuning(Context& context, problem::SizeSet sizes, std::string label)
      : context_(context),
        label_(std::move(label)),
        plan_(/*everything=*/!context.options.dispatches.empty()) {
    result_.sizes = std::move(sizes);
  }

  // `bytes`: of the program's file. Without references, which take the compiler's front half once
  // more, nothing can be verified.
  enum class References { kLoaded, kNone };
  Status load(std::shared_ptr<const std::string> bytes,
              References references = References::kLoaded);
  // What each dispatch takes and may gain, by a part of so many seconds. What runs of the
  // task of `run` have finished is taken from them.
  Status weigh(double seconds, const store::Run& run);
  // What is to be tuned, in seconds of a call, as weigh() found it.
  const plan::WorkPlan& plan() const { return plan_; }
  // After weigh(): each dispatch's winner, within about so many seconds: those first that may gain
  // most, and the more of them (plan/work_plan.h). `part`: of the user's budget that the seconds
  // are.
  Status search(double seconds, double part);
  // Instead of search(): what is not finished keeps its default, for this reason.
  Status leave_out(const std::string& reason);
  // What the winners do in the whole program, beside `rivals` (prove_program).
  Status prove(const std::vector<VerifiedBuild>& rivals);
  // Keeps what became of each dispatch, and the last proof. `best`: what is recommended at this
  // size; none where the program could not be run, and what was verified ships.
  Status record(const VerifiedBuild* best);

  // Those that are tuned.
  const std::vector<const problem::Dispatch*>& chosen() const { return chosen_; }
  // An independent compile of a dispatch of the program; none where there is no such.
  const problem::Dispatch* reference_of(const problem::Dispatch& dispatch) const;
  const std::string& bytes() const { return *bytes_; }  // of the program's file
  const std::string& label() const { return label_; }
  ProgramTuningResult& result() { return result_; }
  const ProgramTuningResult& result() const { return result_; }

 private:
  Status split(References references);
  Status choose_function();
  Status count_launches();
  problem::GivenSizes given() const;
  Result<bool> take_finished(std::size_t place);
  void take_found();
  const TunedDispatch* found(std::size_t place) const;
  void weigh_anew(std::size_t place, const plan::Weight& weight);
  // Why nothing that a search finds for the dispatch can be in the program; empty where it can.
  std::string why_of_no_use(const problem::Dispatch& dispatch) const;
  Status measure_defaults(double seconds);
  Status tune(std::size_t place, const Share& share);
  // What the one after it is verified by, where the runners may prepare that meanwhile.
  Result<std::optional<measure::ProblemRequest>> problem_after(std::size_t place) const;
  bool has_more_to_do(double seconds);
  double share_now(std::size_t place) const;  // of a dispatch that is finished
  Status repair_others();
  // Verifies each dispatch that no search has, where outputs of the whole program say nothing.
  Status verify_instead_of_outputs();
  std::vector<const problem::Dispatch*> not_verified() const;
  // The names of those that could not be verified.
  Result<std::vector<std::string>> verify_defaults(
      const std::vector<const problem::Dispatch*>& dispatches);

  Context& context_;
  std::string label_;
  std::shared_ptr<const std::string> bytes_;
  std::vector<problem::Dispatch> references_;  // of the independent compile
  std::vector<const problem::Dispatch*> chosen_;
  std::vector<store::Id> ids_;  // of each of chosen_, since weigh()
  bool is_callable_ = false;    // a function of the program is
  EarlierWork earlier_;
  plan::WorkPlan plan_;                   // an item for each of chosen_
  std::size_t verified_ = 0;              // dispatches, once verify_defaults() has taken all
  std::vector<std::string> passed_over_;  // and those that could not be
  ProgramTuningResult result_;
};

}  // namespace hone::tune
