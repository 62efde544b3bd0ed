#include "tune/compare/paired_kernels.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/ranges.h"
#include "measure/paired_samples.h"
#include "trial/kernel_runner.h"
#include "trial/protocols.h"

namespace hone::tune {

Result<std::vector<provider::Artifact>> compile_ways(trial::CompileService& compiler,
                                                     const trial::DispatchToPrepare& dispatch,
                                                     const std::vector<ToCompile>& ways) {
  std::vector<std::optional<provider::Payload>> payloads = mapped(ways, &ToCompile::payload);
  HONE_ASSIGN(std::vector<trial::CompiledCandidate> compiled,
              compiler.compile_alone(dispatch, payloads));
  std::vector<provider::Artifact> artifacts;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!compiled[i].artifact)
      return failure("{} does not compile: {}", ways[i].what, compiled[i].artifact.error().message);
    artifacts.push_back(std::move(*compiled[i].artifact));
  }
  return artifacts;
}

namespace {

class PairedKernels {
 public:
  PairedKernels(const CompareContext& context, const KernelPair& kernels, ComparedPair& pair)
      : context_(context),
        runner_(context.runner),
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
    HONE_TRY(verify(kA, a_));
    return verify(kB, b_);
  }

  // Loads both kernels once, and measures the rounds of this load.
  Status measure(std::size_t load, std::size_t rounds) {
    const bool b_first = (std::mt19937_64(context_.options.seed + load)() & 1) != 0;
    trial::RoundsRequest request;
    request.kernels = {&a_, &b_};
    request.reload = true;
    request.how.other_memory = true;
    request.how.protocol = trial::comparison_protocol(rounds);
    request.how.seed = context_.options.seed * 1000 + load;
    request.next = [order = b_first ? trial::Columns{1, 0}
                                    : trial::Columns{0, 1}]() mutable -> Result<trial::Columns> {
      return std::exchange(order, {});
    };
    request.take = [&](const trial::Columns&,
                       const measure::MeasureResult& measured) -> Result<bool> {
      if (load == 0 || measured.after.background > pair_.machine.background)
        pair_.machine = measured.after;
      for (const std::vector<double>& round : measure::paired_rounds(measured)) {
        pair_.a_seconds.push_back(round[b_first ? 1 : 0]);
        pair_.b_seconds.push_back(round[b_first ? 0 : 1]);
      }
      return true;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (!failed) return {};
    return fail(!failed->column ? "A or B" : *failed->column == 0 ? kA : kB, failed->failure);
  }

 private:
  Status verify(std::string_view side, trial::RunnerKernel& kernel) {
    HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified, runner_.verify(kernel));
    if (!verified) return fail(side, verified.error());
    if (!verified->right)
      say(side, provider::FailureKind::kWrong, fmt::format("{}: {}", side, verified->message));
    return runner_.unload(kernel);
  }

  Status fail(std::string_view side, const provider::Failure& failure) {
    say(side, failure.kind,
        fmt::format("{}: {}: {}", side, provider::name_of(failure.kind), failure.message));
    return {};
  }

  // Keeps the first failure's words.
  void say(std::string_view side, provider::FailureKind kind, std::string failure) {
    if (side != kB) pair_.a_failure = kind;
    if (side != kA) pair_.b_failure = kind;
    if (pair_.failure.empty()) pair_.failure = std::move(failure);
  }

  static constexpr std::string_view kA = "A", kB = "B";

  const CompareContext& context_;
  trial::KernelRunner runner_;
  const KernelPair& kernels_;
  trial::RunnerKernel a_, b_;
  ComparedPair& pair_;
};

}  // namespace

Status compare_kernels(const CompareContext& context, const KernelPair& kernels,
                       const measure::ComparisonOptions& statistics, ComparedPair& pair) {
  pair.same_code = provider::identity(kernels.a) == provider::identity(kernels.b);
  if (pair.same_code) pair.note = "both are the same code";
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
    context.observer.progress({.dispatch = pair.what,
                               .dispatch_count = 1,
                               .step = "compare",
                               .tried = pair.a_seconds.size(),
                               .planned = context.options.most_rounds});
    HONE_TRY(measuring.measure(load, rounds_per_load));
  }
  return {};
}

}  // namespace hone::tune
