#include "tune/dispatch/baselines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"
#include "measure/paired_samples.h"
#include "measure/verification.h"
#include "plan/policy.h"
#include "trial/kernel_runner.h"
#include "trial/protocols.h"
#include "trial/records.h"

namespace hone::tune {
namespace {

struct Entry {
  measure::LibraryBaseline baseline;
  trial::RunnerKernel kernel;
  store::Id candidate = 0;
  std::string identity;
};

// Measures the kernels of one library.
class Baselines {
 public:
  Baselines(Context& context, DispatchBench& bench)
      : context_(context), bench_(bench), runner_(context.runner) {}

  // `loaded` are the library's kernels in the runner's present process, its own choice first.
  Result<std::string> measure(const std::vector<measure::LibraryBaseline>& loaded,
                              std::optional<store::Id> winner) {
    HONE_TRY(enter(loaded));
    if (entries_.empty() || known_) return std::string();
    HONE_TRY(verify());
    if (right_.empty()) return why_not_;
    HONE_ASSIGN(Entry* const best, fastest());
    if (best == nullptr) return why_not_;
    std::vector<Entry*> finalists{right_.front()};
    if (best != right_.front()) finalists.push_back(best);
    HONE_TRY(separate(finalists, winner));
    return why_not_;
  }

 private:
  Status enter(const std::vector<measure::LibraryBaseline>& baselines) {
    return context_.store.transaction([&]() -> Status {
      for (std::size_t i = 0; i < baselines.size(); ++i) HONE_TRY(enter(baselines[i], i));
      return {};
    });
  }

  Status enter(const measure::LibraryBaseline& baseline, std::size_t place) {
    const trial::RunnerKernel kernel{{}, baseline.handle, context_.runner.generation()};
    Entry entry{baseline, kernel, 0, {}};
    store::CandidateRow candidate = bench_.candidate_row(std::string(store::kDefaultConfiguration));
    candidate.provider = baseline.provider;
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
    HONE_ASSIGN(const store::KnownResults known,
                context_.store.known(entry.candidate, context_.device, store::Phase::kFinalist,
                                     context_.options.reuse));
    if (!known.artifact) {
      store::ArtifactRow row;
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

  Status verify() {
    for (Entry& entry : entries_) {
      const std::uint64_t generation = context_.runner.generation();
      HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified,
                  runner_.verify(entry.kernel));
      if (!verified) {
        why_not_ = verified.error().message;
        if (generation == context_.runner.generation()) continue;
        // The other kernels were lost with the runner that died.
        why_not_ = "the runner died of a library's kernel: " + why_not_;
        right_.clear();
        return {};
      }
      HONE_TRY(bench_.trials().record_verification(entry.identity, *verified));
      if (verified->right)
        right_.push_back(&entry);
      else if (why_not_.empty())
        why_not_ = fmt::format("{}: {}", entry.identity, verified->message);
    }
    return {};
  }

  // nullopt when they cannot be measured.
  Result<Entry*> fastest() {
    if (right_.size() == 1) return right_.front();
    HONE_ASSIGN(provider::Artifact code, bench_.artifact(bench_.default_candidate()));
    trial::RunnerKernel sentinel{std::move(code)};
    trial::RoundsRequest request;
    for (Entry* entry : right_) request.kernels.push_back(&entry->kernel);
    request.sentinel = &sentinel;
    request.how.protocol = trial::baseline_protocol();
    request.how.seed = context_.options.seed;
    request.next = trial::fixed_rounds(1, right_.size());
    Entry* best = right_.front();
    double best_ratio = 0;
    request.take = [&](const trial::Columns& columns,
                       const measure::MeasureResult& measured) -> Result<bool> {
      for (const std::size_t i : columns) {
        const measure::HandleSamples& samples = measured.handles[i];
        const std::optional<double> ratio = measure::paired_ratio(samples, measured.handles.back());
        if (!ratio) continue;
        HONE_TRY(bench_.trials().record_samples(right_[i]->identity, samples, store::Phase::kSearch,
                                                ratio, measured));
        if (best_ratio != 0 && *ratio >= best_ratio) continue;
        best = right_[i];
        best_ratio = *ratio;
      }
      return true;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (failed) {
      why_not_ = failed->failure.message;
      return nullptr;
    }
    HONE_TRY(runner_.unload(sentinel));
    return best;
  }

  Status separate(const std::vector<Entry*>& finalists, std::optional<store::Id> winner) {
    std::vector<store::Id> candidates;
    if (winner) candidates.push_back(*winner);
    candidates.push_back(bench_.default_candidate());
    std::vector<std::string> identities;
    trial::RoundsRequest request;
    for (Entry* entry : finalists) {
      identities.push_back(entry->identity);
      request.kernels.push_back(&entry->kernel);
    }
    std::vector<trial::RunnerKernel> own(candidates.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      HONE_ASSIGN(own[i].code, bench_.artifact(candidates[i]));
      identities.push_back(provider::identity(*own[i].code));
      request.kernels.push_back(&own[i]);
    }
    measure::RoundSamples samples(identities);
    request.reload = true;
    request.how.other_memory = true;
    request.how.protocol = trial::finalist_protocol(bench_.default_seconds());
    request.how.seed = context_.options.seed;
    request.next = trial::fixed_rounds(trial::kBaselineRounds, identities.size());
    Stopwatch round(context_.clock);
    request.take = [&](const trial::Columns& columns,
                       const measure::MeasureResult& measured) -> Result<bool> {
      HONE_TRY(samples.add(measured, columns));
      const double seconds = round.seconds();
      round = Stopwatch(context_.clock);
      return context_.state->deadline.has(seconds);
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (failed) {
      why_not_ = failed->failure.message;
      return {};
    }
    why_not_.clear();
    return bench_.record_rounds(samples, finalists.size());
  }

  Context& context_;
  DispatchBench& bench_;
  trial::KernelRunner runner_;
  std::vector<Entry> entries_;
  std::vector<Entry*> right_;
  bool known_ = false;
  std::string why_not_;
};

}  // namespace

Result<std::string> measure_baselines(Context& context, DispatchBench& bench,
                                      std::optional<store::Id> winner) {
  const std::string no_time = "no time is left beside the proof";
  const auto has_time = [&] {
    return context.state->deadline.has(plan::kLaunchesOfLibrary * bench.default_seconds());
  };
  if (!has_time()) return no_time;
  HONE_ASSIGN(const trial::KernelResult<std::vector<measure::LibraryBaseline>> loaded,
              context.runner.ask(measure::jobs::kBaselines));
  if (!loaded) return loaded.error().message;
  const std::uint64_t generation = context.runner.generation();
  std::string why_not;
  for (auto first = loaded->begin(); first != loaded->end();) {
    // Handles are invalid in a restarted runner.
    if (generation != context.runner.generation()) break;
    if (!has_time()) return no_time;
    const auto last = std::find_if(
        first, loaded->end(),
        [first](const measure::LibraryBaseline& each) { return each.provider != first->provider; });
    HONE_ASSIGN(const std::string why, Baselines(context, bench).measure({first, last}, winner));
    if (!why.empty()) why_not += (why_not.empty() ? "" : "; ") + why;
    first = last;
  }
  return why_not;
}

}  // namespace hone::tune
