#include "tune/dispatch_list.h"

#include <algorithm>
#include <set>

#include "base/stopwatch.h"
#include "tune/records.h"
#include "tune/session_steps.h"

namespace hone::tune {
namespace {

class ListTuner {
 public:
  ListTuner(Context& context, const DispatchList& list,
            const std::function<Status(const TunedList&)>& after_each)
      : context_(context), list_(list), after_each_(after_each) {}

  Result<TunedList> run(store::Run row) {
    HONE_ASSIGN(result_.list,
                context_.store.intern(store::Program{0, list_.hash, list_.path, "{}"}));
    HONE_TRY(find_finished(row.command));
    row.program = result_.list;
    HONE_ASSIGN(result_.run, context_.store.begin_run(row));
    Status status = look_at_machine(context_).map(
        [this](MachineCheck&& machine) { result_.machine = std::move(machine); });
    if (status) status = tune_all();
    if (status && tuned_here_) status = record_peak(context_);
    HONE_TRY(end_run(context_, status));
    return std::move(result_);
  }

 private:
  // Selections of the runs of this command since the last that came to its end.
  Status find_finished(const std::string& command) {
    HONE_ASSIGN(const std::vector<store::Run> runs, context_.store.runs());
    std::set<store::Id> unfinished;
    for (const store::Run& run : runs) {
      if (run.command != command || run.program != result_.list) continue;
      if (run.state == store::RunState::kFinished)
        unfinished.clear();
      else
        unfinished.insert(run.id);
    }
    HONE_ASSIGN(const std::vector<store::Selection> selections, context_.store.selections());
    for (const store::Selection& selection : selections)
      if (selection.build == context_.build && selection.device == context_.device &&
          selection.run && unfinished.contains(*selection.run))
        finished_[selection.dispatch] = selection;
    return {};
  }

  Status tune_all() {
    const Stopwatch watch(context_.clock);
    const std::size_t count = list_.dispatches.size();
    for (std::size_t i = 0; i < count; ++i) {
      const problem::Dispatch& dispatch = list_.dispatches[i];
      HONE_ASSIGN(const bool is_finished, take_finished(dispatch, i));
      if (!is_finished) {
        const Share share = Share::of(i, count, context_.options.budget_seconds - watch.seconds());
        HONE_TRY(tune_one(dispatch, share));
      }
      HONE_TRY(after_each_(result_));
    }
    if (result_.tuned.empty())
      return failure("nothing of '{}' can be tuned: {}", list_.path,
                     result_.not_tuned.front().reason);
    return {};
  }

  Result<bool> take_finished(const problem::Dispatch& dispatch, std::size_t place) {
    HONE_ASSIGN(const store::Id operation, context_.store.intern(operation_row(dispatch.root)));
    HONE_ASSIGN(const store::Id id, context_.store.intern(dispatch_row(dispatch, operation)));
    HONE_TRY(context_.store.place(
        {result_.list, id, static_cast<std::int64_t>(place), dispatch.launches_per_call}));
    const auto found = finished_.find(id);
    if (found == finished_.end()) return false;
    TunedDispatch tuned;
    tuned.dispatch = &dispatch;
    tuned.id = id;
    tuned.selection = found->second;
    result_.tuned.push_back(std::move(tuned));
    return true;
  }

  Status tune_one(const problem::Dispatch& dispatch, const Share& share) {
    Result<TunedDispatch> tuned = tune_dispatch(context_, dispatch, nullptr, share);
    if (!tuned && tuned.error().kind == ErrorKind::kFailure) {
      context_.observer.note(tuned.error().message);
      HONE_TRY(context_.store.log_event("not tuned", tuned.error().message));
      result_.not_tuned.push_back({dispatch.name, tuned.error().message});
      return {};
    }
    if (!tuned) return tl::unexpected(std::move(tuned).error());
    store::Selection& selection = tuned->selection;
    selection.dispatch = tuned->id;
    selection.build = context_.build;
    selection.device = context_.device;
    HONE_TRY(context_.store.record(selection));
    result_.tuned.push_back(std::move(*tuned));
    tuned_here_ = true;
    return {};
  }

  Context& context_;
  const DispatchList& list_;
  const std::function<Status(const TunedList&)>& after_each_;
  std::map<store::Id, store::Selection> finished_;  // by dispatch
  bool tuned_here_ = false;
  TunedList result_;
};

}  // namespace

Result<TunedList> tune_list(Context& context, store::Run run, const DispatchList& list,
                            const std::function<Status(const TunedList&)>& after_each) {
  return ListTuner(context, list, after_each).run(std::move(run));
}

}  // namespace hone::tune
