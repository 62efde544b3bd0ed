#include "tune/compare/paired_kernels.h"

#include <algorithm>
#include <random>

#include "tune/services/protocols.h"
#include "tune/services/records.h"
#include "tune/services/rounds.h"

namespace hone::tune {
namespace {

class PairedKernels {
 public:
  PairedKernels(const CompareContext& context, const KernelPair& kernels, ComparedPair& pair)
      : context_(context),
        rounds_(context.runner),
        kernels_(kernels),
        a_{kernels.a},
        b_{kernels.b},
        pair_(pair) {}

  Status verify() {
    const CompareOptions& options = context_.options;
    const measure::ProblemRequest problem{kernels_.dispatch,
                                          options.place.address,
                                          options.seed,
                                          options.cache,
                                          options.place.facts.last_level_cache_bytes,
                                          kernels_.reference};
    HONE_ASSIGN(const measure::ProblemReady ready, context_.runner.set_problem(problem));
    if (!ready.note.empty()) context_.observer.note(ready.note);
    HONE_TRY(verify("A", a_));
    if (pair_.failure.empty()) HONE_TRY(verify("B", b_));
    return {};
  }

  // One load of both, and its rounds.
  Status measure(std::size_t load, std::size_t rounds) {
    const bool b_first = (std::mt19937_64(context_.options.seed + load)() & 1) != 0;
    std::vector<RunnerKernel*> kernels{&a_, &b_};
    if (b_first) std::swap(kernels.front(), kernels.back());
    measure::MeasureRequest how;
    how.other_memory = true;
    how.protocol = comparison_protocol(rounds);
    how.seed = context_.options.seed * 1000 + load;
    HONE_ASSIGN(const Ran<measure::MeasureResult> measured, rounds_.measure(kernels, nullptr, how));
    if (!measured) return fail("A or B", measured.error());
    if (load == 0 || measured->after.background > pair_.machine.background)
      pair_.machine = measured->after;
    for (const std::vector<double>& round : paired_rounds(*measured)) {
      pair_.a_seconds.push_back(round[b_first ? 1 : 0]);
      pair_.b_seconds.push_back(round[b_first ? 0 : 1]);
    }
    return unload();
  }

 private:
  Status verify(std::string_view side, RunnerKernel& kernel) {
    HONE_ASSIGN(const Ran<measure::Verification> verified, rounds_.verify(kernel));
    if (!verified) return fail(side, verified.error());
    if (!verified->right) pair_.failure = fmt::format("{}: {}", side, verified->message);
    return rounds_.unload(kernel);
  }

  Status unload() {
    HONE_TRY(rounds_.unload(a_));
    return rounds_.unload(b_);
  }

  Status fail(std::string_view side, const provider::Failure& failure) {
    pair_.failure =
        fmt::format("{}: {}: {}", side, provider::name_of(failure.kind), failure.message);
    return {};
  }

  const CompareContext& context_;
  Rounds rounds_;
  const KernelPair& kernels_;
  RunnerKernel a_, b_;
  ComparedPair& pair_;
};

}  // namespace

Status compare_kernels(const CompareContext& context, const KernelPair& kernels,
                       const measure::ComparisonOptions& statistics, ComparedPair& pair) {
  if (provider::identity(kernels.a) == provider::identity(kernels.b))
    pair.note = "both are the same code";
  PairedKernels measuring(context, kernels, pair);
  HONE_TRY(measuring.verify());
  const std::size_t loads =
      std::max(context.options.loads, measure::fewest_rounds(statistics.alpha));
  const std::size_t rounds_per_load =
      std::max<std::size_t>(1, (context.options.rounds + loads - 1) / loads);
  measure::ComparisonOptions options = statistics;
  if (options.block == 0) options.block = rounds_per_load;
  for (std::size_t load = 0; pair.failure.empty(); ++load) {
    if (load > 0 && load % loads == 0) {
      HONE_ASSIGN(pair.result, measure::compare_paired(pair.a_seconds, pair.b_seconds, options));
      if ((load + loads) * rounds_per_load > context.options.most_rounds ||
          !measure::needs_more_rounds(pair.result, context.options.find, options))
        return {};
    }
    Progress progress;
    progress.dispatch = pair.what;
    progress.dispatch_count = 1;
    progress.step = "compare";
    progress.tried = pair.a_seconds.size();
    progress.planned = context.options.most_rounds;
    context.observer.progress(progress);
    HONE_TRY(measuring.measure(load, rounds_per_load));
  }
  return {};
}

}  // namespace hone::tune
