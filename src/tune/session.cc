#include "tune/session.h"

#include <algorithm>

#include "base/file.h"
#include "base/stopwatch.h"
#include "tune/load_program.h"
#include "tune/session_steps.h"

namespace hone::tune {

Result<SessionResult> Session::run() {
  HONE_TRY(load_program());
  HONE_ASSIGN(chosen_,
              select_dispatches(result_.program, context_.options.dispatches, result_.not_tuned));
  HONE_ASSIGN(result_.run, context_.store.begin_run(run_row_));
  Status status = look_at_machine(context_).map(
      [this](MachineCheck&& machine) { result_.machine = std::move(machine); });
  if (status) status = tune_dispatches();
  if (status && !result_.tuned.empty()) status = record_peak(context_);
  if (status) status = prove();
  if (status) status = emit();
  HONE_TRY(end_run(context_, status));
  return std::move(result_);
}

Status Session::load_program() {
  const TimeBudget::Span span(context_.time, Phase::kSplit);
  const Options& options = context_.options;
  HONE_ASSIGN(bytes_, read_file(options.input));
  HONE_ASSIGN(result_.program, tune::load_program(context_.compiler, *context_.programs,
                                                  options.input, bytes_, options.flags));
  // The front half once more for another CPU: dispatches of the same names whose code shares
  // nothing with the candidates' code generation.
  HONE_ASSIGN(problem::Program reference,
              context_.compiler.load_program(options.input, bytes_, options.reference_flags));
  references_ = std::move(reference.dispatches);
  HONE_ASSIGN(result_.program_id,
              context_.store.intern(store::Program{0, result_.program.hash, options.input, "{}"}));
  run_row_.program = result_.program_id;
  return {};
}

Status Session::tune_dispatches() {
  const Stopwatch watch;
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const problem::Dispatch& dispatch = *chosen_[i];
    const Share share{i, chosen_.size(),
                      (context_.options.budget_seconds - watch.seconds()) /
                          static_cast<double>(chosen_.size() - i)};
    const auto reference =
        std::find_if(references_.begin(), references_.end(), [&](const problem::Dispatch& other) {
          return other.name == dispatch.name && other.bindings == dispatch.bindings;
        });
    Result<TunedDispatch> tuned = tune_dispatch(
        context_, dispatch, reference == references_.end() ? nullptr : &*reference, share);
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
  HONE_ASSIGN(result_.proven, prove_program(context_, result_.program, bytes_, result_.tuned));
  for (TunedDispatch& tuned : result_.tuned) {
    store::Selection& selection = tuned.selection;
    selection.dispatch = tuned.id;
    selection.build = context_.build;
    selection.device = context_.device;
    const std::vector<store::Id>& shipped = result_.proven.shipped;
    selection.shipped = std::find(shipped.begin(), shipped.end(), tuned.id) != shipped.end();
    for (const LeftOut& left_out : result_.proven.left_out)
      if (left_out.dispatch == tuned.dispatch->name)
        selection.reason = "left out of the spec: " + left_out.reason;
    HONE_TRY(context_.store.record(selection));
  }
  return {};
}

Status Session::emit() const {
  const std::filesystem::path spec = context_.options.out / "tuning_spec.mlir";
  std::error_code code;
  if (result_.proven.spec.empty())
    std::filesystem::remove(spec, code);  // a spec of an earlier run must not be taken for this one
  else
    HONE_TRY(write_file_atomically(spec, result_.proven.spec));
  std::vector<std::string> flags = context_.options.flags;
  flags.insert(flags.end(), result_.proven.flags.begin(), result_.proven.flags.end());
  if (result_.proven.uses_spec) flags.push_back(context_.programs->spec_flag(spec));
  HONE_TRY(context_.store.log_event(
      "compile flags", nlohmann::json{{"variant", result_.proven.best}, {"flags", flags}}.dump()));
  return write_file_atomically(context_.options.out / "compile_flags.txt",
                               fmt::format("{}\n", fmt::join(flags, "\n")));
}

}  // namespace hone::tune
