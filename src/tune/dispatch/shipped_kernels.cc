#include "tune/dispatch/shipped_kernels.h"

#include <algorithm>
#include <random>

#include "base/file.h"
#include "base/ranges.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "provider/resources.h"
#include "trial/kernel_runner.h"
#include "trial/protocols.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

trial::DispatchToPrepare to_ship(const Context& context, const DispatchBench& bench,
                                 const problem::Dispatch& dispatch) {
  return {shipped_key(bench),    dispatch.source, context.flags(), {}, dispatch.statement,
          /*is_waited_for=*/true};
}

struct AssembledKernel {
  store::Id candidate;
  std::optional<provider::Payload> payload;
  trial::RunnerKernel kernel = {};
  std::vector<double> seconds = {};  // by round
};

// The winner, and the default beside it if that is right.
class AssembledKernels {
 public:
  AssembledKernels(Context& context, DispatchBench& bench, store::Id winner,
                   const provider::Payload& payload)
      : context_(context), bench_(bench), runner_(context.runner) {
    if (bench.default_is_wrong().empty())
      kernels_.push_back({bench.default_candidate(), std::nullopt});
    kernels_.push_back({winner, payload});
  }

  bool has_default() const { return kernels_.size() == 2; }
  const provider::Artifact& winner() const { return *kernels_.back().kernel.code; }

  Status compile(const problem::Dispatch& dispatch) {
    HONE_ASSIGN(std::vector<trial::CompiledCandidate> compiled,
                context_.compiler.compile_alone(to_ship(context_, bench_, dispatch),
                                                mapped(kernels_, &AssembledKernel::payload)));
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      auto& artifact = compiled[k].artifact;
      if (!artifact)
        return failure("'{}' does not compile a second time: {}", dispatch.name,
                       artifact.error().message);
      kernels_[k].kernel.code = std::move(*artifact);
    }
    return {};
  }

  // Returns why the winner does not ship, or an empty string.
  Result<std::string> verify() {
    for (AssembledKernel& each : kernels_) {
      HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified,
                  runner_.verify(each.kernel));
      if (!verified) return fails(verified.error());
      if (!verified->right) return "assembled by the driver it is wrong: " + verified->message;
    }
    HONE_ASSIGN(const trial::KernelResult<measure::Repeated> repeated,
                runner_.compare(kernels_.back().kernel, measure::kComparedLaunches,
                                plan::kShippedCompareSeconds));
    if (!repeated) return fails(repeated.error());
    if (!repeated->verification.right)
      return "assembled by the driver it is wrong: " + repeated->verification.message;
    return std::string();
  }

  Status measure() {
    trial::RoundsRequest request;
    for (AssembledKernel& each : kernels_) request.kernels.push_back(&each.kernel);
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

  // nullopt where an element of the dispatch is not known in double precision, or a kernel fails.
  // The winner was verified before.
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
    return bench_.record_as_shipped(kernels_[1].candidate, kernels_[0].seconds,
                                    kernels_[1].seconds);
  }

  Status unload() {
    for (AssembledKernel& each : kernels_) HONE_TRY(runner_.unload(each.kernel));
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
  std::vector<AssembledKernel> kernels_;
};

}  // namespace

std::string shipped_key(const DispatchBench& bench) {
  return bench.key() + "#shipped";
}

Status compile_shipped_ahead(Context& context, const DispatchBench& bench,
                             const problem::Dispatch& dispatch,
                             const std::vector<provider::Payload>& likely) {
  std::vector<std::optional<provider::Payload>> payloads;
  if (bench.default_is_wrong().empty()) payloads.emplace_back();
  payloads.insert(payloads.end(), likely.begin(), likely.end());
  return context.compiler.compile_ahead(to_ship(context, bench, dispatch), payloads);
}

Result<provider::Payload> payload_in_spec(Context& context, const DispatchBench& bench,
                                          const problem::Dispatch& dispatch,
                                          const provider::Payload& payload) {
  HONE_ASSIGN(const std::vector<trial::CompiledCandidate> compiled,
              context.compiler.compile_alone(to_ship(context, bench, dispatch), {payload}));
  const auto& artifact = compiled.front().artifact;
  if (!artifact)
    return failure("'{}' does not compile a second time: {}", dispatch.name,
                   artifact.error().message);
  return context.programs->specs().as_compiled(payload, *artifact);
}

Result<ShippedKernel> verify_as_shipped(Context& context, DispatchBench& bench,
                                        const problem::Dispatch& dispatch, store::Id winner,
                                        const provider::Payload& payload, bool is_timed) {
  AssembledKernels kernels(context, bench, winner, payload);
  HONE_TRY(kernels.compile(dispatch));
  ShippedKernel shipped;
  shipped.payload = payload;
  if (payload.replacing.empty()) {
    HONE_ASSIGN(shipped.payload, context.programs->specs().as_compiled(payload, kernels.winner()));
  }
  shipped.code = kernels.winner().code;
  shipped.launch = kernels.winner().launch;
  HONE_ASSIGN(shipped.why_not, kernels.verify());
  if (!shipped.why_not.empty()) return shipped;
  if (!kernels.has_default()) {
    HONE_TRY(kernels.unload());
    return shipped;
  }
  if (!payload.replacing.empty()) {
    HONE_ASSIGN(shipped.accuracy, kernels.accuracy(dispatch));
  }
  if (is_timed) {
    const Status measured = kernels.measure();
    HONE_TRY(all_but_failure(measured));
    // The finalists' rounds have decided the winner; this measurement is additional.
    HONE_TRY(measured ? kernels.record()
                      : context.store.log_event("as shipped", measured.error().message));
  }
  HONE_TRY(kernels.unload());
  return shipped;
}

Status measure_under_runtime(Context& context, DispatchBench& bench,
                             const problem::Dispatch& dispatch, store::Id winner) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-inputs-"));
  const Result<BindingFiles> files =
      write_binding_files(dispatch, folder.path(), context.options.seed);
  if (!files) return context.store.log_event("runtime", files.error().message);

  std::vector<provider::Artifact> artifacts;
  for (const store::Id candidate : {bench.default_candidate(), winner}) {
    HONE_ASSIGN(artifacts.emplace_back(), bench.artifact(candidate));
    provider::Artifact& artifact = artifacts.back();
    artifact.launch = problem::over_bindings(std::move(artifact.launch), dispatch);
  }
  // Launches per sample are limited, and equal for both: 64 launches of a 0.1 s default per sample
  // take minutes.
  const double room = plan::kRuntimeSecondsPerRound / std::max(bench.default_seconds(), 1e-9);
  const int launches = static_cast<int>(std::clamp(room, 1.0, plan::kMostRuntimeLaunches));
  std::vector<std::vector<double>> times(artifacts.size());
  std::mt19937_64 coin(context.options.seed);
  for (int round = 0; round < plan::kRuntimeRounds; ++round) {
    const std::size_t first = coin() & 1;
    for (const std::size_t which : {first, 1 - first}) {
      const Result<double> seconds = context.programs->runtime().time_artifact(
          {&artifacts[which], files->contents, files->types, context.options.place().address,
           context.stop_fd, launches},
          plan::kRuntimeSecondsPerRound);
      HONE_TRY(interruption(seconds));
      if (!seconds) return context.store.log_event("runtime", seconds.error().message);
      times[which].push_back(*seconds);
    }
  }
  return bench.record_as_shipped(winner, times[0], times[1]);
}

}  // namespace hone::tune
