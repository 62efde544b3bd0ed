#include "tune/compare/spec_audit.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "measure/reference.h"

namespace hone::tune {
namespace {

using enum EntryState;

bool has(const CheckedEntry& entry, SpecEffect effect) {
  return std::ranges::any_of(entry.uses,
                             [effect](const SpecUse& use) { return use.effect == effect; });
}

const std::string& first_note(const CheckedEntry& entry, SpecEffect effect) {
  return std::ranges::find(entry.uses, effect, &SpecUse::effect)->note;
}

AuditedEntry state_of(const CheckedEntry& entry) {
  if (entry.uses.empty()) return {kDead, "no dispatch matches", {}, {}};
  for (const auto& [effect, state] :
       {std::pair{SpecEffect::kIllegal, kIllegal}, std::pair{SpecEffect::kIgnored, kIgnored}})
    if (has(entry, effect)) return {state, first_note(entry, effect), {}, {}};
  if (!has(entry, SpecEffect::kApplied))
    return {kShadowed, first_note(entry, SpecEffect::kShadowed), {}, {}};
  const bool changes = std::ranges::any_of(entry.uses, [](const SpecUse& use) {
    return use.effect == SpecEffect::kApplied && use.changed;
  });
  if (!changes) return {kSameAsDefault, first_note(entry, SpecEffect::kApplied), {}, {}};
  return {};
}

// Seconds of a call by round, summed over dispatches.
struct SummedRounds {
  std::vector<double> a, b;
};

class EntryTimes {
 public:
  EntryTimes(const CompareContext& context, trial::CompileService& compiler,
             const SpecAuditRequest& request, std::vector<AuditedEntry>& entries)
      : context_(context), compiler_(compiler), request_(request), entries_(entries) {}

  Status run() {
    const auto timed = std::ranges::count_if(
        entries_, [this](const AuditedEntry& entry) { return is_timed(entry); });
    if (timed == 0) return {};
    statistics_ = context_.options.statistics;
    statistics_.alpha /= static_cast<double>(timed);
    const SpecCheckRequest& spec = request_.spec;
    if (needs_reference()) {
      HONE_ASSIGN(reference_, compiler_.load_program({spec.program_path, spec.program_bytes,
                                                      context_.options.reference_flags}));
    }
    with_spec_ = spec.flags;
    std::error_code code;
    with_spec_.push_back(
        context_.provider.specs().flag_of(std::filesystem::absolute(spec.spec_path, code)));
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (is_timed(entries_[i])) HONE_TRY(time(request_.checked.entries[i], entries_[i]));
    return {};
  }

 private:
  bool is_timed(const AuditedEntry& entry) const {
    return entry.state == kNotMeasured ||
           (entry.state == kSameAsDefault && request_.times_same_code);
  }

  // Whether the use has a kernel that differs from the default's.
  bool is_timed(const SpecUse& use) const {
    return use.effect == SpecEffect::kApplied && (use.changed || request_.times_same_code);
  }

  // Whether some dispatch is verified by the program's compile for another CPU.
  bool needs_reference() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!is_timed(entries_[i])) continue;
      for (const SpecUse& use : request_.checked.entries[i].uses)
        if (is_timed(use) &&
            !measure::has_exact_reference(request_.checked.program.dispatches[use.dispatch]))
          return true;
    }
    return false;
  }

  Status time(const CheckedEntry& checked, AuditedEntry& entry) {
    const std::vector<problem::Dispatch>& all = request_.checked.program.dispatches;
    SummedRounds sum;
    std::size_t block = 1;
    bool repairs = false;
    for (const SpecUse& use : checked.uses) {
      if (!is_timed(use)) continue;
      const problem::Dispatch& dispatch = all[use.dispatch];
      entry.state = kNotMeasured;
      if (!dispatch.not_tunable.empty()) {
        entry.note = fmt::format("{}: {}", dispatch.name, dispatch.not_tunable);
        return {};
      }
      Result<ComparedPair> compared =
          compare_sides_of_dispatch(context_, compiler_,
                                    {dispatch, request_.spec.flags, with_spec_, reference_,
                                     statistics_, request_.times_same_code});
      HONE_TRY(all_but_failure(compared));
      if (!compared) {
        entry.note = compared.error().message;
        return {};
      }
      ComparedPair& pair = *compared;
      pair.a = "default";
      pair.b = "@" + checked.entry.matcher;
      entry.dispatches.push_back(pair);
      if (pair.b_failure) {
        entry.state = kWrong;
        entry.note = fmt::format("{}: {}", dispatch.name, pair.failure);
        return {};
      }
      repairs = repairs || pair.a_failure;
      if (pair.a_seconds.empty()) continue;
      block = std::max(block, pair.result.block);
      add(pair, std::max(1, dispatch.launches_per_call), sum);
    }
    if (!sum.a.empty()) {
      measure::ComparisonOptions options = statistics_;
      if (options.block == 0) options.block = block;
      HONE_ASSIGN(entry.timed, measure::compare_paired(sum.a, sum.b, options));
    }
    judge(repairs, entry);
    return {};
  }

  // Adds a dispatch's rounds. Of different numbers of rounds the first ones count.
  static void add(const ComparedPair& pair, int launches, SummedRounds& sum) {
    const std::size_t rounds =
        sum.a.empty() ? pair.a_seconds.size() : std::min(sum.a.size(), pair.a_seconds.size());
    sum.a.resize(rounds);
    sum.b.resize(rounds);
    for (std::size_t r = 0; r < rounds; ++r) {
      sum.a[r] += launches * pair.a_seconds[r];
      sum.b[r] += launches * pair.b_seconds[r];
    }
  }

  static void judge(bool repairs, AuditedEntry& entry) {
    const double band = measure::TieOptions().band;
    if (repairs) {
      entry.state = kHelps;
      entry.note = "the default is wrong";
    } else if (!entry.timed) {
      entry.state = kSameAsDefault;
      entry.note = "its code is the default's";
    } else if (entry.timed->verdict == measure::Verdict::kFaster) {
      entry.state = kHelps;
    } else if (entry.timed->verdict == measure::Verdict::kSlower) {
      entry.state = kSlower;
    } else if (!entry.timed->too_few && entry.timed->interval.low >= 1 - band &&
               entry.timed->interval.high <= 1 + band) {
      entry.state = kAsFast;
      entry.note = fmt::format("within {:g} % of the default", 100 * band);
    } else {
      entry.state = kUndecided;
      entry.note = "more rounds may tell: --max-rounds";
    }
  }

  const CompareContext& context_;
  trial::CompileService& compiler_;
  const SpecAuditRequest& request_;
  std::vector<AuditedEntry>& entries_;
  measure::ComparisonOptions statistics_;
  problem::Program reference_;          // loaded if it is needed
  std::vector<std::string> with_spec_;  // flags
};

}  // namespace

std::string_view name_of(EntryState state) {
  switch (state) {
    case kHelps:
      return "still helps";
    case kUndecided:
      return "undecided";
    case kNotMeasured:
      return "not measured";
    case kAsFast:
      return "as fast as the default";
    case kSlower:
      return "slower";
    case kSameAsDefault:
      return "equal to the default";
    case kWrong:
      return "wrong";
    case kIllegal:
      return "illegal";
    case kIgnored:
      return "ignored";
    case kShadowed:
      return "shadowed";
    case kDead:
      return "dead";
  }
  return "";
}

bool is_kept(EntryState state) {
  return state == kHelps || state == kUndecided || state == kNotMeasured;
}

std::vector<AuditedEntry> entry_states(const CheckedSpec& checked) {
  std::vector<AuditedEntry> entries;
  for (const CheckedEntry& entry : checked.entries) entries.push_back(state_of(entry));
  return entries;
}

Status time_entries(const CompareContext& context, trial::CompileService& compiler,
                    const SpecAuditRequest& request, std::vector<AuditedEntry>& entries) {
  return EntryTimes(context, compiler, request, entries).run();
}

std::vector<std::string> revived_uses(const CheckedSpec& checked,
                                      const std::vector<AuditedEntry>& entries) {
  std::vector<std::string> notes;
  for (std::size_t d = 0; d < checked.program.dispatches.size(); ++d) {
    const CheckedEntry* first = nullptr;  // that is applied today, and not kept
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const CheckedEntry& entry = checked.entries[i];
      const auto use = std::ranges::find(entry.uses, d, &SpecUse::dispatch);
      if (use == entry.uses.end()) continue;
      if (is_kept(entries[i].state)) {
        if (first != nullptr && use->effect == SpecEffect::kShadowed)
          notes.push_back(fmt::format("@{} applies to {}, where @{} comes first today",
                                      entry.entry.matcher, checked.program.dispatches[d].name,
                                      first->entry.matcher));
        break;
      }
      if (use->effect != SpecEffect::kShadowed) first = &entry;
    }
  }
  return notes;
}

}  // namespace hone::tune
