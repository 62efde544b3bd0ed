#include "tune/session.h"

#include <algorithm>

#include "base/file.h"
#include "base/stopwatch.h"
#include "tune/load_program.h"

namespace hone::tune {

Status Session::load() {
  const TimeBudget::Span span(context_.time, Phase::kSplit);
  const Options& options = context_.options;
  HONE_ASSIGN(bytes_, read_file(options.input));
  context_.compiler.give(result_.sizes);
  HONE_ASSIGN(result_.program, tune::load_program(context_.compiler, *context_.programs,
                                                  options.input, bytes_, options.flags));
  // The front half once more for another CPU: dispatches of the same names whose code shares
  // nothing with the candidates' code generation.
  HONE_ASSIGN(problem::Program reference,
              context_.compiler.load_program(options.input, bytes_, options.reference_flags));
  references_ = std::move(reference.dispatches);
  HONE_ASSIGN(result_.program_id,
              context_.store.intern(store::Program{0, result_.program.hash, options.input, "{}"}));
  HONE_ASSIGN(chosen_, select_dispatches(result_.program, options.dispatches, result_.not_tuned));
  return {};
}

const problem::Dispatch* Session::reference_of(const problem::Dispatch& dispatch) const {
  const auto reference =
      std::find_if(references_.begin(), references_.end(), [&](const problem::Dispatch& other) {
        return other.name == dispatch.name && other.bindings == dispatch.bindings;
      });
  return reference == references_.end() ? nullptr : &*reference;
}

Status Session::search(double seconds) {
  const Stopwatch watch(context_.clock);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const problem::Dispatch& dispatch = *chosen_[i];
    const Share share = Share::of(i, chosen_.size(), seconds - watch.seconds());
    Result<TunedDispatch> tuned = tune_dispatch(context_, dispatch, reference_of(dispatch), share);
    if (!tuned && tuned.error().kind == ErrorKind::kFailure) {
      context_.observer.note(tuned.error().message);
      HONE_TRY(context_.store.log_event("not tuned", tuned.error().message));
      result_.not_tuned.push_back({dispatch.name, tuned.error().message});
      continue;
    }
    if (!tuned) return tl::unexpected(std::move(tuned).error());
    HONE_TRY(context_.store.place(
        {result_.program_id, tuned->id, static_cast<std::int64_t>(i), dispatch.launches_per_call}));
    result_.tuned.push_back(std::move(*tuned));
  }
  return {};
}

Status Session::prove() {
  const TimeBudget::Span span(context_.time, Phase::kProgram);
  // The last that was loaded may have had other sizes.
  context_.compiler.give(result_.sizes);
  HONE_ASSIGN(result_.proven, prove_program(context_, result_.program, bytes_, result_.tuned));
  return {};
}

Status Session::record(const RightVariant* best) {
  if (result_.proven.bench != nullptr) {
    HONE_ASSIGN(const std::vector<store::ProgramMeasurement> rows,
                result_.proven.bench->variants.rows(label_));
    for (const store::ProgramMeasurement& row : rows) HONE_TRY(context_.store.record(row));
  }
  for (TunedDispatch& tuned : result_.tuned) {
    store::Selection& selection = tuned.selection;
    selection.dispatch = tuned.id;
    selection.build = context_.build;
    selection.device = context_.device;
    const std::vector<store::Id>& written = result_.proven.shipped;
    const std::vector<store::Id> shipped = best != nullptr ? best->shipped : written;
    selection.shipped = std::count(shipped.begin(), shipped.end(), tuned.id) > 0;
    if (!selection.shipped && std::count(written.begin(), written.end(), tuned.id) > 0)
      selection.reason = "not shipped: no gain of the spec is proved in the whole program";
    for (const LeftOut& left_out : result_.proven.left_out)
      if (left_out.dispatch == tuned.dispatch->name)
        selection.reason = "left out of the spec: " + left_out.reason;
    HONE_TRY(context_.store.record(selection));
  }
  return {};
}

}  // namespace hone::tune
