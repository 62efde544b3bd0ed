#include "measure/repeated_verification.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/stopwatch.h"

namespace hone::measure {
namespace {

void add_fault(Verification& verification, const std::string& message) {
  verification.right = false;
  verification.message += (verification.message.empty() ? "" : "; ") + message;
}

void check_surroundings(const Buffers& buffers, Verification& verification) {
  for (const BrokenGuard& guard : buffers.broken_guards(0)) {
    verification.broken_guards.push_back(guard.binding);
    add_fault(verification,
              fmt::format("writes outside of binding {}, at byte {} of {}", guard.binding,
                          guard.offset, buffers.contents(0, guard.binding).size()));
  }
  verification.changed_inputs = buffers.changed_inputs(0);
  for (const int binding : verification.changed_inputs)
    add_fault(verification, fmt::format("writes to binding {}, which is read-only", binding));
}

Status check_outputs(const Workload& workload, Verification& verification) {
  for (std::size_t i = 0; i < workload.expected.size(); ++i) {
    const Expected& expected = workload.expected[i];
    if (expected.bytes.empty()) continue;
    const int binding = static_cast<int>(i);
    HONE_ASSIGN(Comparison comparison,
                compare(workload.buffers.contents(0, binding), expected.bytes,
                        type_of(workload.buffers.bindings()[i], expected.bytes.size()),
                        workload.tolerance));
    verification.largest_error = std::max(verification.largest_error, comparison.worst_error);
    if (!comparison.right) {
      if (verification.binding < 0) {
        verification.binding = binding;
        verification.first_bad = comparison.first_bad;
        verification.expected = comparison.expected;
        verification.got = comparison.got;
        verification.bad_share = comparison.share;
      }
      add_fault(verification, describe(comparison));
    }
    verification.outputs.push_back({binding, std::move(comparison)});
  }
  return {};
}

// Of one launch. The expected bytes of what the reference leaves unwritten are poison of variant 0.
Result<Verification> verify_once(device::Kernel& kernel, Workload& workload) {
  Buffers& buffers = workload.buffers;
  HONE_TRY(buffers.prepare(0, 0));
  HONE_TRY(kernel.launch(buffers.copy(0)));
  Verification verification;
  verification.right = true;
  HONE_ASSIGN(const bool proved,
              workload.proof.is_right(buffers, workload.tolerance, verification.outputs));
  if (proved) return verification;
  verification.outputs.clear();
  HONE_TRY(buffers.fetch(0));
  check_surroundings(buffers, verification);
  HONE_TRY(check_outputs(workload, verification));
  return verification;
}

}  // namespace

Result<Repeated> verify_repeatedly(device::Kernel& kernel, Workload& workload,
                                   const RepeatRequest& request) {
  if (request.launches < 1) return input_error("at least one launch must be compared");
  const Stopwatch watch;
  Repeated repeated;
  do {
    HONE_ASSIGN(repeated.verification, verify_once(kernel, workload));
    ++repeated.compared;
  } while (repeated.verification.right && repeated.compared < request.launches &&
           watch.seconds() < request.max_seconds);
  Verification& verification = repeated.verification;
  verification.tolerance =
      fmt::format("absolute {:.3g}, relative {:.3g}: {}", workload.tolerance.absolute,
                  workload.tolerance.relative, workload.tolerance.basis);
  if (!verification.right && repeated.compared > 1)
    verification.message +=
        fmt::format(" (in launch {} of those compared, right before)", repeated.compared);
  return repeated;
}

void to_json(nlohmann::json& json, const RepeatRequest& request) {
  json = {{"handle", request.handle},
          {"launches", request.launches},
          {"max_seconds", request.max_seconds}};
}

void from_json(const nlohmann::json& json, RepeatRequest& request) {
  json.at("handle").get_to(request.handle);
  json.at("launches").get_to(request.launches);
  json.at("max_seconds").get_to(request.max_seconds);
}

void to_json(nlohmann::json& json, const Repeated& repeated) {
  json = {{"compared", repeated.compared}, {"verification", repeated.verification}};
}

void from_json(const nlohmann::json& json, Repeated& repeated) {
  json.at("compared").get_to(repeated.compared);
  json.at("verification").get_to(repeated.verification);
}

}  // namespace hone::measure
