#include "tune/tuning_run.h"

#include <algorithm>

#include "base/file.h"
#include "tune/session_steps.h"
#include "tune/size_choice.h"
#include "tune/sums.h"

namespace hone::tune {
namespace {

// Of the budget, where there are several sizes: for searching. The rest is for measuring what each
// size's winner does at the others.
constexpr double kSearchShare = 0.75;

class TuningRun {
 public:
  TuningRun(Context& context, const std::vector<problem::SizeSet>& sizes) : context_(context) {
    sessions_.reserve(sizes.size());
    for (const problem::SizeSet& set : sizes)
      sessions_.emplace_back(context, set,
                             sizes.size() > 1 ? ", " + problem::to_string(set) : std::string());
  }

  Result<TuningResult> run(store::Run run_row) {
    for (Session& session : sessions_) HONE_TRY(session.load());
    run_row.program = sessions_.front().result().program_id;
    HONE_ASSIGN(result_.run, context_.store.begin_run(run_row));
    HONE_TRY(end_run(context_, steps()));
    for (Session& session : sessions_) result_.at_sizes.push_back(std::move(session.result()));
    return std::move(result_);
  }

 private:
  Status steps() {
    HONE_ASSIGN(result_.machine, look_at_machine(context_));
    HONE_TRY(add_flags());
    const auto sizes = static_cast<double>(sessions_.size());
    const double budget = context_.options.budget_seconds / sizes;
    for (Session& session : sessions_)
      HONE_TRY(session.search(sessions_.size() > 1 ? budget * kSearchShare : budget));
    if (sessions_.size() > 1) HONE_TRY(choose_for_all(budget * (1 - kSearchShare)));
    if (std::any_of(sessions_.begin(), sessions_.end(),
                    [](const Session& session) { return !session.result().tuned.empty(); }))
      HONE_TRY(record_peak(context_));
    HONE_TRY(prove());
    for (Session& session : sessions_) HONE_TRY(session.record());
    return emit();
  }

  // The build is another one then: what is compiled, stored and found again has these flags.
  Status add_flags() {
    const bool sums = std::any_of(sessions_.begin(), sessions_.end(), [](const Session& session) {
      const auto& chosen = session.chosen();
      return std::any_of(chosen.begin(), chosen.end(), [](const problem::Dispatch* dispatch) {
        return adds_along_vectors(*dispatch);
      });
    });
    if (!sums || context_.options.sums.flags.empty()) return {};
    context_.added = context_.options.sums;
    HONE_ASSIGN(store::Build build, context_.store.build(context_.build));
    build.flags = nlohmann::json(context_.flags()).dump();
    HONE_ASSIGN(context_.build, context_.store.intern(build));
    context_.observer.note(fmt::format(
        "the program adds up floating-point numbers: it is tuned with {} ({}), the default of each "
        "dispatch included; the whole program is compared without it too",
        fmt::join(context_.added.flags, " "), context_.added.name));
    return {};
  }

  // The dispatch of that name at each size; fewer where it was not tuned at one.
  std::vector<DispatchAtSize> at_each(const std::string& name) {
    std::vector<DispatchAtSize> found;
    for (Session& session : sessions_)
      for (TunedDispatch& tuned : session.result().tuned)
        if (tuned.dispatch->name == name)
          found.push_back({&tuned, session.reference_of(*tuned.dispatch),
                           problem::to_string(session.result().sizes)});
    return found;
  }

  Status choose_for_all(double seconds_at_each) {
    const std::vector<TunedDispatch>& first = sessions_.front().result().tuned;
    for (Session& session : sessions_)
      for (TunedDispatch& tuned : session.result().tuned) {
        const std::vector<DispatchAtSize> at = at_each(tuned.dispatch->name);
        if (at.size() < sessions_.size())
          tuned.keep_default("it could not be tuned at every size");
        else if (&session == &sessions_.front())
          HONE_TRY(choose_for_all_sizes(context_, at,
                                        seconds_at_each / static_cast<double>(first.size())));
      }
    return {};
  }

  // What the program at one size has no use for ships for none.
  Status prove() {
    do {
      for (Session& session : sessions_) HONE_TRY(session.prove());
    } while (drop_what_one_leaves_out());
    for (Session& session : sessions_) {
      std::vector<LeftOut>& left_out = session.result().proven.left_out;
      left_out.insert(left_out.end(), dropped_.begin(), dropped_.end());
    }
    return {};
  }

  // One entry at a time: what it leaves behind may ship then.
  bool drop_what_one_leaves_out() {
    for (const TunedDispatch& tuned : sessions_.front().result().tuned) {
      const std::string& name = tuned.dispatch->name;
      const std::vector<DispatchAtSize> at = at_each(name);
      if (at.size() < sessions_.size()) continue;
      std::size_t shipping = 0;
      std::string reason;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const ProvenProgram& proven = sessions_[i].result().proven;
        if (std::count(proven.shipped.begin(), proven.shipped.end(), at[i].tuned->id) > 0)
          ++shipping;
        for (const LeftOut& left_out : proven.left_out)
          if (left_out.dispatch == name)
            reason = fmt::format("at {}: {}", at[i].sizes, left_out.reason);
      }
      if (shipping == 0 || shipping == at.size()) continue;
      for (const DispatchAtSize& each : at) each.tuned->keep_default(reason);
      dropped_.push_back({name, reason});
      return true;
    }
    return false;
  }

  Status emit() {
    std::vector<std::vector<RightVariant>> variants;
    for (const Session& session : sessions_) variants.push_back(session.result().proven.variants);
    HONE_ASSIGN(result_.best, choose_variant(variants));
    result_.spec = sessions_.front().result().proven.spec;
    const std::filesystem::path spec = context_.options.out / "tuning_spec.mlir";
    std::error_code code;
    if (result_.spec.empty())
      std::filesystem::remove(spec, code);  // one of an earlier run must not be taken for this one
    else
      HONE_TRY(write_file_atomically(spec, result_.spec));
    const std::vector<std::string> flags = recommended_flags(spec);
    HONE_TRY(context_.store.log_event(
        "compile flags",
        nlohmann::json{
            {"variant", result_.best ? result_.best->name + sessions_.front().label() : ""},
            {"flags", flags}}
            .dump()));
    return write_file_atomically(context_.options.out / "compile_flags.txt",
                                 fmt::format("{}\n", fmt::join(flags, "\n")));
  }

  std::vector<std::string> recommended_flags(const std::filesystem::path& spec) const {
    // Where nothing could be run, a spec goes with the flags that it was found with.
    RightVariant best{.name = {}, .flags = {}, .uses_spec = !result_.spec.empty(), .seconds = {}};
    if (best.uses_spec) best.flags = context_.added.flags;
    if (result_.best) best = *result_.best;
    std::vector<std::string> flags = context_.options.flags;
    flags.insert(flags.end(), best.flags.begin(), best.flags.end());
    if (best.uses_spec) flags.push_back(context_.programs->spec_flag(spec));
    return flags;
  }

  Context& context_;
  std::vector<Session> sessions_;
  std::vector<LeftOut> dropped_;
  TuningResult result_;
};

}  // namespace

Result<TuningResult> tune_program(Context& context, store::Run run_row,
                                  const std::vector<problem::SizeSet>& sizes) {
  return TuningRun(context, sizes).run(std::move(run_row));
}

}  // namespace hone::tune
