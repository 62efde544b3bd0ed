#include "tune/baselines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/comparison.h"
#include "measure/statistics.h"
#include "measure/verification.h"
#include "tune/finalists.h"
#include "tune/protocols.h"
#include "tune/records.h"

namespace hone::tune {
namespace {

struct Entry {
  measure::Baseline baseline;
  store::Id candidate = 0;
  std::string identity;
};

// Of one library.
class Baselines {
 public:
  Baselines(Context& context, DispatchBench& bench, const problem::Dispatch& dispatch)
      : context_(context), bench_(bench), dispatch_(dispatch) {}

  // `loaded` are the library's kernels in the runner's present process, its own choice first.
  Result<std::string> measure(const std::vector<measure::Baseline>& loaded,
                              std::optional<store::Id> winner) {
    generation_ = context_.runner.generation();
    HONE_TRY(enter(loaded));
    if (entries_.empty() || known_) return std::string();
    HONE_TRY(verify());
    if (right_.empty()) return why_not_;
    HONE_ASSIGN(const Entry* const best, fastest());
    if (best == nullptr) return why_not_;
    std::vector<const Entry*> finalists{right_.front()};
    if (best != right_.front()) finalists.push_back(best);
    HONE_TRY(separate(finalists, winner));
    return why_not_;
  }

 private:
  Status enter(const std::vector<measure::Baseline>& baselines) {
    return context_.store.together([&]() -> Status {
      for (std::size_t i = 0; i < baselines.size(); ++i) HONE_TRY(enter(baselines[i], i));
      return {};
    });
  }

  Status enter(const measure::Baseline& baseline, std::size_t place) {
    Entry entry{baseline, 0, {}};
    store::Candidate candidate;
    candidate.dispatch = bench_.dispatch_id();
    candidate.build = context_.build;
    candidate.provider = baseline.provider;
    candidate.configuration = store::kDefaultConfiguration;
    entry.identity = fmt::format("{} of {}", baseline.library, bench_.key());
    if (!baseline.algorithm.empty()) {
      candidate.configuration = nlohmann::json{
          {"algorithm", baseline.algorithm},
          {"choice", place},
          {"library",
           baseline.library}}.dump();
      entry.identity = fmt::format("{}, choice {}, {} of {}", baseline.library, place,
                                   baseline.algorithm, bench_.key());
    }
    HONE_ASSIGN(entry.candidate, context_.store.add_candidate(candidate));
    HONE_ASSIGN(const store::Known known,
                context_.store.known(entry.candidate, context_.device, store::Phase::kFinalist,
                                     context_.options.reuse));
    if (!known.artifact) {
      store::Artifact row;
      row.candidate = entry.candidate;
      row.identity = entry.identity;
      row.format = store::kLibraryFormat;
      row.launch = "{}";
      row.configured = baseline.note;
      HONE_TRY(context_.store.record(row));
    }
    if (place == 0)
      known_ = known.verification && known.verification->right &&
               known.verification->rules == measure::kVerificationRules && known.measurement;
    entries_.push_back(std::move(entry));
    return {};
  }

  bool lost() {
    if (generation_ == context_.runner.generation()) return false;
    why_not_ = "the runner died of a library's kernel: " + why_not_;
    right_.clear();
    return true;
  }

  Status verify() {
    for (const Entry& entry : entries_) {
      HONE_ASSIGN(const Ran<measure::Verification> verified,
                  context_.runner.verify(entry.baseline.handle));
      if (!verified) {
        why_not_ = verified.error().message;
        if (lost()) return {};
        continue;
      }
      store::Verification row = verification_row(*verified, dispatch_.bindings);
      row.dispatch = bench_.dispatch_id();
      row.identity = entry.identity;
      row.device = context_.device;
      row.reference = bench_.reference();
      HONE_TRY(context_.store.record(row));
      if (verified->right)
        right_.push_back(&entry);
      else if (why_not_.empty())
        why_not_ = fmt::format("{}: {}", entry.identity, verified->message);
    }
    return {};
  }

  // Nothing when they cannot be measured.
  Result<const Entry*> fastest() {
    if (right_.size() == 1) return right_.front();
    measure::MeasureRequest request;
    for (const Entry* entry : right_) request.handles.push_back(entry->baseline.handle);
    HONE_ASSIGN(request.sentinel, load(bench_.default_candidate()));
    if (!request.sentinel) return nullptr;
    request.protocol = baseline_protocol();
    request.seed = context_.options.seed;
    HONE_ASSIGN(const Ran<measure::MeasureResult> measured, context_.runner.measure(request));
    if (!measured) {
      why_not_ = measured.error().message;
      return nullptr;
    }
    HONE_TRY(context_.runner.unload(*request.sentinel));
    const Entry* best = right_.front();
    double best_ratio = 0;
    for (std::size_t i = 0; i < right_.size(); ++i) {
      const measure::HandleSamples& samples = measured->handles[i];
      const std::optional<double> ratio = paired_ratio(samples, measured->handles.back());
      if (!ratio) continue;
      HONE_TRY(bench_.record_samples(right_[i]->identity, samples, store::Phase::kSearch, ratio,
                                     *measured));
      if (best_ratio != 0 && *ratio >= best_ratio) continue;
      best = right_[i];
      best_ratio = *ratio;
    }
    return best;
  }

  Result<std::optional<int>> load(store::Id candidate) {
    HONE_ASSIGN(const provider::Artifact artifact, bench_.artifact(candidate));
    HONE_ASSIGN(const Ran<int> handle, context_.runner.load(artifact));
    if (!handle) why_not_ = handle.error().message;
    return handle ? std::optional<int>(*handle) : std::nullopt;
  }

  Status separate(const std::vector<const Entry*>& finalists, std::optional<store::Id> winner) {
    std::vector<store::Id> candidates;
    if (winner) candidates.push_back(*winner);
    candidates.push_back(bench_.default_candidate());
    std::vector<std::string> identities;
    for (const Entry* entry : finalists) identities.push_back(entry->identity);
    for (const store::Id candidate : candidates) {
      HONE_ASSIGN(const provider::Artifact artifact, bench_.artifact(candidate));
      identities.push_back(provider::identity(artifact));
    }
    FinalistSamples samples(identities);
    for (int round = 0; round < kBaselineRounds; ++round) {
      measure::MeasureRequest request;
      for (const Entry* entry : finalists) request.handles.push_back(entry->baseline.handle);
      for (const store::Id candidate : candidates) {
        HONE_ASSIGN(const std::optional<int> handle, load(candidate));
        if (!handle || lost()) return {};
        request.handles.push_back(*handle);
      }
      request.other_memory = true;
      request.protocol = finalist_protocol(bench_.default_seconds());
      request.seed = context_.options.seed + static_cast<std::uint64_t>(round);
      HONE_ASSIGN(const Ran<measure::MeasureResult> measured, context_.runner.measure(request));
      if (!measured) {
        why_not_ = measured.error().message;
        return {};
      }
      HONE_TRY(samples.add(*measured));
      for (std::size_t i = finalists.size(); i < request.handles.size(); ++i)
        HONE_TRY(context_.runner.unload(request.handles[i]));
    }
    why_not_.clear();
    return samples.record(bench_, finalists.size());
  }

  Context& context_;
  DispatchBench& bench_;
  const problem::Dispatch& dispatch_;
  std::uint64_t generation_ = 0;
  std::vector<Entry> entries_;
  std::vector<const Entry*> right_;
  bool known_ = false;
  std::string why_not_;
};

}  // namespace

Result<std::string> measure_baselines(Context& context, DispatchBench& bench,
                                      const problem::Dispatch& dispatch,
                                      std::optional<store::Id> winner) {
  HONE_ASSIGN(const Ran<std::vector<measure::Baseline>> loaded, context.runner.load_baselines());
  if (!loaded) return loaded.error().message;
  const std::uint64_t generation = context.runner.generation();
  std::string why_not;
  for (auto first = loaded->begin(); first != loaded->end();) {
    // Handles are worth nothing in the runner that has taken a dead one's place.
    if (generation != context.runner.generation()) break;
    const auto last = std::find_if(first, loaded->end(), [first](const measure::Baseline& each) {
      return each.provider != first->provider;
    });
    HONE_ASSIGN(const std::string why,
                Baselines(context, bench, dispatch).measure({first, last}, winner));
    if (!why.empty()) why_not += (why_not.empty() ? "" : "; ") + why;
    first = last;
  }
  return why_not;
}

}  // namespace hone::tune
