// Steps of a program from its file to a proven spec, at one set of sizes.
#pragma once

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/policy.h"
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

// Reason for a dispatch that keeps its default because others took the time.
inline constexpr std::string_view kNoBudgetLeft = "no budget left";
// Reason for a dispatch that keeps its default because no shard has tuned it.
inline constexpr std::string_view kNotInStore = "no shard in the store has tuned it";

// The steps, called in this order. Errors: kInput for the user's mistakes (file, pattern,
// configuration), kInterrupted when told to stop, kFailure if nothing of the program can be tuned.
class ProgramTuning {
 public:
  // Requires that the context's build and device are set. `label` tells this size's measurements of
  // the whole program from those of the run's other sizes; empty if there are none.
  ProgramTuning(Context& context, problem::SizeSet sizes, std::string label)
      : context_(context),
        label_(std::move(label)),
        plan_(/*everything=*/!context.options.dispatches.empty(),
              context.options.traits().compiling_disturbs ? 0 : plan::kFirstTriesShare) {
    result_.sizes = std::move(sizes);
  }

  // `bytes`: content of the program's file. References take a second frontend compile; without them
  // nothing can be verified.
  enum class References { kLoaded, kNone };
  Status load(std::shared_ptr<const std::string> bytes,
              References references = References::kLoaded);
  // Measures or estimates each dispatch's time and possible gain, in a fraction of `seconds`. Takes
  // over dispatches that earlier runs of the task of `run` finished.
  Status weigh(double seconds, const store::Run& run);
  // Share (0 to 1) of the budget that this process has (OwnShard); 1 unless it is a shard. Known
  // after weigh().
  double shard_share() const { return shard_share_; }
  // The plan that weigh() made, in seconds of a call.
  const plan::WorkPlan& plan() const { return plan_; }
  // After weigh(): searches the dispatches within about `seconds`. The largest possible gain comes
  // first and gets the most time (plan/work_plan.h). `part`: share of the user's budget that
  // `seconds` is.
  Status search(double seconds, double part);
  // Instead of search(): unfinished dispatches keep their default, for `reason`.
  Status leave_out(const std::string& reason);
  // Proves the winners in the whole program, beside `rivals` (prove_program).
  Status prove(const std::vector<VerifiedBuild>& rivals);
  // Stores the outcome of each dispatch and the last proof. `best`: the recommended build at this
  // size. Null if the program could not be run; the verified configurations ship then.
  Status record(const VerifiedBuild* best);

  // The dispatches to tune.
  const std::vector<const problem::Dispatch*>& chosen() const { return chosen_; }
  // Returns the independent compile of `dispatch`; null if there is none.
  const problem::Dispatch* reference_of(const problem::Dispatch& dispatch) const;
  const std::string& bytes() const { return *bytes_; }  // of the program's file
  problem::GivenSizes given() const;                    // that the program is loaded with
  const std::string& label() const { return label_; }
  ProgramTuningResult& result() { return result_; }
  const ProgramTuningResult& result() const { return result_; }

 private:
  Status split(References references);
  Status choose_function();
  Status count_launches();
  Status keep_own_shard();
  Result<bool> take_finished(std::size_t place);
  void take_found();
  const TunedDispatch* found(std::size_t place) const;
  void weigh_anew(std::size_t place, const plan::Weight& weight);
  // Reason why no configuration of the dispatch can be used in the program; empty if one can.
  std::string why_of_no_use(const problem::Dispatch& dispatch) const;
  Status measure_defaults(double seconds);
  // `next`: the places that probably come next. Where compiling disturbs nothing, those dispatches
  // are prepared meanwhile: their spaces are made and their problems prefetched at first, their
  // compiles begun after the search.
  Status tune(std::size_t place, const Share& share, const std::vector<std::size_t>& next);
  // Only compiles the candidates of the dispatch (Options::compiles_only).
  Status compile(std::size_t place, const Share& share);
  struct Next {
    std::size_t place = 0;
    measure::ProblemRequest problem;
    std::future<Result<std::deque<Contender>>> contenders;
  };
  // Leaves out those that cannot be verified, or need not be prepared.
  Result<std::vector<Next>> prepare(const std::vector<std::size_t>& next, std::size_t after);
  Status begin(Next next, const Share& share);
  // Ends what was begun and is not tuned after all.
  Status abandon_begun();
  std::optional<std::size_t> next_to_search() const;
  bool has_more_to_do(double seconds);
  double share_now(std::size_t place) const;  // of a dispatch that is finished
  Status repair_others();
  double seconds_of_others() const;
  void prefetch_witnesses_once();
  // Verifies each dispatch that no search verified, if the program's outputs cannot tell right from
  // wrong.
  Status verify_instead_of_outputs();
  std::vector<const problem::Dispatch*> not_verified() const;
  Status compile_references(std::span<const problem::Dispatch* const> dispatches);
  Status compile_references_from(std::size_t place);
  // Prefetches the problem of a dispatch that is verified soon.
  Status expect(const problem::Dispatch& dispatch);
  // Returns the names of the dispatches that could not be verified.
  Result<std::vector<std::string>> verify_defaults(
      const std::vector<const problem::Dispatch*>& dispatches);

  Context& context_;
  std::string label_;
  std::shared_ptr<const std::string> bytes_;
  std::vector<problem::Dispatch> references_;  // of the independent compile
  std::vector<const problem::Dispatch*> chosen_;
  std::vector<store::Id> ids_;  // of each of chosen_, since weigh()
  double shard_share_ = 1;
  bool is_callable_ = false;  // a function of the program is
  bool witnesses_begun_ = false;
  std::set<std::size_t> referenced_;  // places whose references were compiled ahead
  EarlierWork earlier_;
  plan::WorkPlan plan_;                         // an item for each of chosen_
  std::map<std::size_t, BegunDispatch> begun_;  // by place
  std::size_t verified_ = 0;                    // dispatches, once verify_defaults() has taken all
  std::vector<std::string> passed_over_;        // and those that could not be
  ProgramTuningResult result_;
};

}  // namespace hone::tune
