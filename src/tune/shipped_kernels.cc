#include "tune/shipped_kernels.h"

#include "measure/comparison.h"
#include "measure/statistics.h"
#include "provider/resources.h"
#include "tune/protocols.h"
#include "tune/records.h"

namespace hone::tune {
namespace {

// Seconds for comparing the winner's launches once more: the code that ships is another one.
constexpr double kCompareSeconds = 5;

struct Kernel {
  store::Id candidate;
  std::optional<provider::Payload> payload;
  provider::Artifact artifact = {};
  std::vector<double> seconds = {};  // by round
};

class ShippedPair {
 public:
  ShippedPair(Context& context, DispatchBench& bench, store::Id winner,
              const provider::Payload& payload)
      : context_(context),
        bench_(bench),
        kernels_{{bench.default_candidate(), std::nullopt}, {winner, payload}} {}

  const provider::Artifact& winner() const { return kernels_.back().artifact; }

  Status compile(const problem::Dispatch& dispatch) {
    const std::string key = bench_.key() + "#shipped";
    HONE_TRY(context_.compiler.prepare(key, dispatch.source, context_.flags()));
    for (Kernel& kernel : kernels_) {
      HONE_ASSIGN(CompiledCandidate compiled, context_.compiler.compile(key, kernel.payload));
      if (!compiled.artifact)
        return failure("'{}' does not compile a second time: {}", dispatch.name,
                       compiled.artifact.error().message);
      kernel.artifact = std::move(*compiled.artifact);
    }
    return context_.compiler.release(key);
  }

  // The reason why not, or nothing. What an accident ended is verified once more, by another
  // runner.
  Result<std::string> verify() {
    HONE_ASSIGN(const std::string why_not, verify_once());
    if (!met_accident_) return why_not;
    handles_.clear();  // they went with their runner
    return verify_once();
  }

  Result<std::string> verify_once() {
    for (const Kernel& kernel : kernels_) {
      HONE_ASSIGN(const Ran<int> handle, context_.runner.load(kernel.artifact));
      if (!handle) return fails("the driver does not take its PTX", handle.error());
      HONE_ASSIGN(const Ran<measure::Verification> verified, context_.runner.verify(*handle));
      if (!verified) return fails(kFails, verified.error());
      if (!verified->right) return "assembled by the driver it is wrong: " + verified->message;
      if (&kernel == &kernels_.back()) {
        HONE_ASSIGN(const Ran<measure::Repeated> repeated,
                    context_.runner.repeat({.handle = *handle,
                                            .launches = measure::kComparedLaunches,
                                            .max_seconds = kCompareSeconds}));
        if (!repeated) return fails(kFails, repeated.error());
        if (!repeated->verification.right)
          return "assembled by the driver it is wrong: " + repeated->verification.message;
      }
      handles_.push_back(*handle);
    }
    return std::string();
  }

  Status measure() {
    measure::MeasureRequest request;
    request.handles = handles_;
    request.protocol = shipped_protocol();
    request.other_memory = true;
    for (int round = 0; round < kShippedRounds; ++round) {
      request.seed = context_.options.seed + static_cast<std::uint64_t>(round);
      HONE_ASSIGN(const Ran<measure::MeasureResult> measured, context_.runner.measure(request));
      if (!measured) return failure("{}", measured.error().message);
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (measured->handles[k].seconds.empty()) return failure("a kernel gave no sample");
        kernels_[k].seconds.push_back(measure::median(measured->handles[k].seconds));
      }
    }
    return {};
  }

  Status record() {
    HONE_ASSIGN(const measure::PairedComparison comparison,
                measure::compare_paired(kernels_[0].seconds, kernels_[1].seconds));
    for (const Kernel& kernel : kernels_) {
      HONE_ASSIGN(const provider::Artifact measured, bench_.artifact(kernel.candidate));
      store::Measurement row;
      row.dispatch = bench_.dispatch_id();
      // Of the candidate, whose tables show it: the same PTX, assembled by the driver.
      row.identity = provider::identity(measured);
      row.device = context_.device;
      row.phase = store::Phase::kOwnRuntime;
      row.timing = timing_of(kernel.seconds);
      row.sentinel_ratio = &kernel == &kernels_.front() ? 1 : comparison.ratio;
      HONE_TRY(context_.store.record(row));
    }
    return {};
  }

  Status unload() {
    for (const int handle : handles_) HONE_TRY(context_.runner.unload(handle));
    handles_.clear();
    return {};
  }

 private:
  static constexpr std::string_view kFails = "assembled by the driver it fails";

  std::string fails(std::string_view what, const provider::Failure& failure) {
    met_accident_ = provider::is_accident(failure.kind);
    return fmt::format("{}: {}", what, failure.message);
  }

  Context& context_;
  DispatchBench& bench_;
  std::vector<Kernel> kernels_;
  std::vector<int> handles_;
  bool met_accident_ = false;
};

}  // namespace

Result<ShippedKernel> measure_as_shipped(Context& context, DispatchBench& bench,
                                         const problem::Dispatch& dispatch, store::Id winner,
                                         const provider::Payload& payload) {
  ShippedPair pair(context, bench, winner, payload);
  HONE_TRY(pair.compile(dispatch));
  ShippedKernel shipped;
  HONE_ASSIGN(shipped.payload, context.programs->as_compiled(payload, pair.winner()));
  shipped.code = pair.winner().code;
  HONE_ASSIGN(shipped.why_not, pair.verify());
  if (!shipped.why_not.empty()) return shipped;
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
