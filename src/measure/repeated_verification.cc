#include "measure/repeated_verification.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"

namespace hone::measure {
namespace {

// The expected bytes of what the reference leaves unwritten are poison of the variant.
Result<Verification> verify_once(device::Kernel& kernel, Workload& workload, int variant) {
  Buffers& buffers = workload.buffers;
  const VerifiedLaunch& launch = workload.launches[static_cast<std::size_t>(variant)];
  HONE_TRY(buffers.prepare(0, variant));
  HONE_TRY(kernel.launch(buffers.copy(0)));
  Verification verification;
  verification.right = true;
  HONE_ASSIGN(const bool proved,
              launch.proof.is_right(buffers, variant, launch.tolerances, verification.outputs));
  if (proved) return verification;
  verification.outputs.clear();
  HONE_TRY(buffers.fetch(0));
  HONE_TRY(compare_launch(workload, variant, verification));
  judge_outputs(verification);
  return verification;
}

}  // namespace

Result<Repeated> verify_repeatedly(device::Kernel& kernel, Workload& workload,
                                   const RepeatRequest& request) {
  if (request.launches < 1) return input_error("at least one launch must be compared");
  const Stopwatch watch;
  Repeated repeated;
  do {
    HONE_ASSIGN(repeated.verification,
                verify_once(kernel, workload, repeated.compared % kOperandSets));
    ++repeated.compared;
  } while (repeated.verification.right && repeated.compared < request.launches &&
           watch.seconds() < request.max_seconds);
  Verification& verification = repeated.verification;
  verification.tolerance = describe_tolerances(workload);
  if (!verification.right && repeated.compared > 1)
    verification.message +=
        fmt::format(" (in launch {} of those compared, right before)", repeated.compared);
  return repeated;
}

}  // namespace hone::measure
