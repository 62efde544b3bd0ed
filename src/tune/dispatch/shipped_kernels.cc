#include "tune/dispatch/shipped_kernels.h"

#include "measure/comparison.h"
#include "measure/statistics.h"
#include "provider/resources.h"
#include "trial/protocols.h"
#include "trial/records.h"
#include "trial/rounds.h"

namespace hone::tune {
namespace {

// Seconds for comparing the winner's launches once more: the code that ships is another one.
constexpr double kCompareSeconds = 5;

struct Kernel {
  store::Id candidate;
  std::optional<provider::Payload> payload;
  trial::RunnerKernel kernel = {};
  std::vector<double> seconds = {};  // by round
};

class ShippedPair {
 public:
  ShippedPair(Context& context, DispatchBench& bench, store::Id winner,
              const provider::Payload& payload)
      : context_(context),
        bench_(bench),
        runner_(context.runner),
        kernels_{{bench.default_candidate(), std::nullopt}, {winner, payload}} {}

  const provider::Artifact& winner() const { return *kernels_.back().kernel.code; }

  Status compile(const problem::Dispatch& dispatch) {
    HONE_ASSIGN(
        std::vector<trial::CompiledCandidate> compiled,
        context_.compiler.compile_alone(
            {bench_.key() + "#shipped", dispatch.source, context_.flags(), {}, dispatch.statement},
            {kernels_[0].payload, kernels_[1].payload}));
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      auto& artifact = compiled[k].artifact;
      if (!artifact)
        return failure("'{}' does not compile a second time: {}", dispatch.name,
                       artifact.error().message);
      kernels_[k].kernel.code = std::move(*artifact);
    }
    return {};
  }

  // The reason why not, or nothing.
  Result<std::string> verify() {
    for (Kernel& each : kernels_) {
      // A default that is known to be wrong is only what the winner's time stands beside.
      if (&each == &kernels_.front() && !bench_.default_is_wrong().empty()) continue;
      HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified,
                  runner_.verify(each.kernel));
      if (!verified) return fails(verified.error());
      if (!verified->right) return "assembled by the driver it is wrong: " + verified->message;
    }
    HONE_ASSIGN(
        const trial::KernelResult<measure::Repeated> repeated,
        runner_.compare(kernels_.back().kernel, measure::kComparedLaunches, kCompareSeconds));
    if (!repeated) return fails(repeated.error());
    if (!repeated->verification.right)
      return "assembled by the driver it is wrong: " + repeated->verification.message;
    return std::string();
  }

  Status measure() {
    trial::RoundsRequest request;
    for (Kernel& each : kernels_) request.kernels.push_back(&each.kernel);
    request.how.protocol = trial::shipped_protocol();
    request.how.other_memory = true;
    request.how.seed = context_.options.seed;
    request.next = trial::fixed_rounds(trial::kShippedRounds, kernels_.size());
    request.take = [&](const trial::Columns& columns,
                       const measure::MeasureResult& measured) -> Result<bool> {
      for (const std::size_t k : columns) {
        if (measured.handles[k].seconds.empty()) return failure("a kernel gave no sample");
        kernels_[k].seconds.push_back(measure::median(measured.handles[k].seconds));
      }
      return true;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (failed) return failure("{}", failed->failure.message);
    return {};
  }

  // Nothing where an element of the dispatch is not known in double precision, or a kernel fails:
  // whether the winner is right was told before.
  Result<std::optional<measure::AccuracyBeside>> accuracy(const problem::Dispatch& dispatch) {
    HONE_ASSIGN(trial::KernelResult<measure::Accuracies> told,
                runner_.accuracies({&kernels_[0].kernel, &kernels_[1].kernel}));
    if (told) {
      measure::AccuracyBeside beside{std::move((*told)[0]), std::move((*told)[1])};
      beside.compilers_sums = context_.provider.summation(dispatch, std::nullopt);
      const provider::Payload& payload = *kernels_[1].payload;
      for (const provider::Provider* const each : context_.replacing)
        if (each->name() == payload.replacing)
          beside.kernel_sums = each->summation(dispatch, payload);
      return beside;
    }
    HONE_TRY(context_.store.log_event("no accuracy",
                                      fmt::format("{}: {}", bench_.name(), told.error().message)));
    return std::nullopt;
  }

  Status record() {
    HONE_ASSIGN(const measure::PairedComparison comparison,
                measure::compare_paired(kernels_[0].seconds, kernels_[1].seconds));
    for (const Kernel& kernel : kernels_) {
      HONE_ASSIGN(const provider::Artifact measured, bench_.artifact(kernel.candidate));
      store::Measurement row;
      row.dispatch = bench_.dispatch_id();
      // The identity is the candidate's, whose tables show the row: it is the same PTX, assembled
      // by the driver.
      row.identity = provider::identity(measured);
      row.device = context_.device;
      row.phase = store::Phase::kOwnRuntime;
      row.timing = trial::timing_of(kernel.seconds);
      row.sentinel_ratio = &kernel == &kernels_.front() ? 1 : comparison.ratio;
      HONE_TRY(context_.store.record(row));
    }
    return {};
  }

  Status unload() {
    for (Kernel& each : kernels_) HONE_TRY(runner_.unload(each.kernel));
    return {};
  }

 private:
  static std::string fails(const provider::Failure& failed) {
    const bool refused = failed.kind == provider::FailureKind::kLoadError;
    return fmt::format(
        "{}: {}", refused ? "the driver does not take its PTX" : "assembled by the driver it fails",
        failed.message);
  }

  Context& context_;
  DispatchBench& bench_;
  trial::KernelRunner runner_;
  std::vector<Kernel> kernels_;
};

}  // namespace

Result<ShippedKernel> measure_as_shipped(Context& context, DispatchBench& bench,
                                         const problem::Dispatch& dispatch, store::Id winner,
                                         const provider::Payload& payload) {
  ShippedPair pair(context, bench, winner, payload);
  HONE_TRY(pair.compile(dispatch));
  ShippedKernel shipped;
  shipped.payload = payload;
  if (payload.replacing.empty()) {
    HONE_ASSIGN(shipped.payload, context.programs->as_compiled(payload, pair.winner()));
  }
  shipped.code = pair.winner().code;
  shipped.launch = pair.winner().launch;
  HONE_ASSIGN(shipped.why_not, pair.verify());
  if (!shipped.why_not.empty()) return shipped;
  if (!payload.replacing.empty()) {
    HONE_ASSIGN(shipped.accuracy, pair.accuracy(dispatch));
  }
  const Status measured = pair.measure();
  // The finalists' rounds have told the winner: this measurement is beside it.
  if (!measured && measured.error().kind == ErrorKind::kFailure) {
    HONE_TRY(context.store.log_event("as shipped", measured.error().message));
    return shipped;
  }
  HONE_TRY(measured);
  HONE_TRY(pair.record());
  HONE_TRY(pair.unload());
  return shipped;
}

}  // namespace hone::tune
