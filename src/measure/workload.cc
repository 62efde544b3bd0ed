#include "measure/workload.h"

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"

namespace hone::measure {

namespace {

std::size_t elements_of(const problem::Binding& binding) {
  return static_cast<std::size_t>(problem::element_count(binding.type));
}

std::size_t dense_bytes(const problem::Binding& binding) {
  return elements_of(binding) * problem::element_bytes(binding.type.element);
}

// Adds a sentence to the verification and calls it wrong.
void add_fault(Verification& verification, const std::string& message) {
  verification.right = false;
  verification.message += (verification.message.empty() ? "" : "; ") + message;
}

// Keeps the numbers of the first comparison that fails, and the messages of all that fail.
void add_comparison(const Comparison& comparison, std::size_t binding, const std::string& message,
                    Verification& verification) {
  verification.largest_error = std::max(verification.largest_error, comparison.worst_error);
  if (comparison.right) return;
  if (verification.binding < 0) {
    verification.binding = static_cast<int>(binding);
    verification.first_bad = comparison.first_bad;
    verification.expected = comparison.expected;
    verification.got = comparison.got;
    verification.bad_share = comparison.share;
  }
  add_fault(verification, message);
}

// Keeps the worse of the two runs over different poison.
void note_output(const Comparison& comparison, std::size_t binding, Verification& verification) {
  auto& outputs = verification.outputs;
  const auto known = std::ranges::find(outputs, static_cast<int>(binding), &OutputCheck::binding);
  if (known == outputs.end())
    outputs.push_back({static_cast<int>(binding), comparison});
  else if (std::pair(comparison.bad, comparison.worst_error) >
           std::pair(known->comparison.bad, known->comparison.worst_error))
    known->comparison = comparison;
}

Status compare_outputs(const Workload& workload, int variant, Verification& verification) {
  const VerifiedLaunch& launch = workload.launches[static_cast<std::size_t>(variant)];
  for (std::size_t i = 0; i < launch.expected.size(); ++i) {
    const Expected& expected = launch.expected[i];
    if (expected.bytes.empty()) continue;
    HONE_ASSIGN(const Comparison values,
                compare(workload.buffers.contents(0, static_cast<int>(i)), expected.bytes,
                        type_of(workload.buffers.bindings()[i], expected.bytes.size()),
                        launch.tolerances[i]));
    note_output(values, i, verification);
  }
  return {};
}

// Notes the elements that a run verified by the device has written. A correct float output holds no
// NaN, as poison is, so it is written entirely; `entire` counts this. In other types every bit is
// as expected.
void add_proved(const Workload& workload, int variant, std::vector<std::vector<bool>>& written,
                std::vector<int>& entire) {
  const Buffers& buffers = workload.buffers;
  const VerifiedLaunch& launch = workload.launches[static_cast<std::size_t>(variant)];
  written.resize(buffers.bindings().size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const problem::Binding& binding = buffers.bindings()[i];
    const Expected& expected = launch.expected[i];
    if (binding.access != problem::Access::kWriteOnly || expected.bytes.empty()) continue;
    if (problem::is_float(binding.type.element) && problem::byte_size(binding.type.element) > 1)
      ++entire[i];
    else
      add_written(expected.bytes, binding.type.element, variant, written[i]);
  }
}

// Compares copy 0, as the host sees it after a launch of `variant`: guards, inputs, and each output
// into `verification.outputs` (the worst of several launches).
Status compare_launch(const Workload& workload, int variant, Verification& verification) {
  if (verification.right) check_guards(workload.buffers, variant, verification);
  return compare_outputs(workload, variant, verification);
}

// Calls the verification wrong for each wrong output.
void judge_outputs(Verification& verification) {
  for (const OutputCheck& output : verification.outputs)
    add_comparison(output.comparison, static_cast<std::size_t>(output.binding),
                   describe(output.comparison), verification);
}

// Says what counts as correct: in words for each output, in numbers for the first one.
void tell_tolerances(const Workload& workload, Verification& verification) {
  std::string& text = verification.tolerance;
  for (const VerifiedLaunch& launch : workload.launches)
    for (std::size_t i = 0; i < launch.expected.size(); ++i) {
      if (launch.expected[i].bytes.empty()) continue;
      const Tolerance& tolerance = launch.tolerances[i];
      const std::string one = fmt::format("absolute {:.3g}, relative {:.3g}: {}",
                                          tolerance.absolute, tolerance.relative, tolerance.basis);
      if (text.empty()) {
        verification.absolute_tolerance = tolerance.absolute;
        verification.relative_tolerance = tolerance.relative;
      }
      if (text.find(one) == std::string::npos) text += (text.empty() ? "" : "; ") + one;
    }
}

}  // namespace

void check_guards(const Buffers& buffers, int variant, Verification& verification) {
  for (const BrokenGuard& guard : buffers.broken_guards(0)) {
    auto& broken = verification.broken_guards;
    if (!broken.empty() && broken.back() == guard.binding) continue;
    broken.push_back(guard.binding);
    add_fault(verification,
              fmt::format("writes outside of binding {}, at byte {} of {}", guard.binding,
                          guard.offset, buffers.contents(0, guard.binding).size()));
  }
  verification.changed_inputs = buffers.changed_inputs(0, variant);
  for (const int binding : verification.changed_inputs)
    add_fault(verification, fmt::format("writes to binding {}, which is read-only", binding));
}

Status add_all_written(Buffers& buffers, int variant, std::vector<std::vector<bool>>& written) {
  HONE_TRY(buffers.fetch(0));
  written.resize(buffers.bindings().size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const problem::Binding& binding = buffers.bindings()[i];
    if (binding.access != problem::Access::kWriteOnly) continue;
    const auto bytes = buffers.contents(0, static_cast<int>(i));
    add_written(bytes, binding.type.element, variant, written[i]);
  }
  return {};
}

problem::TensorType type_of(const problem::Binding& binding, std::size_t bytes) {
  if (bytes <= dense_bytes(binding)) return binding.type;
  const problem::ElementType element = binding.type.element;
  return {element, {static_cast<std::int64_t>(bytes) / problem::byte_size(element)}};
}

Result<Verification> verify_kernel(device::Kernel& kernel, Workload& workload) {
  Buffers& buffers = workload.buffers;
  Verification verification;
  verification.right = true;
  tell_tolerances(workload, verification);
  std::vector<std::vector<bool>> written;
  std::vector<int> entire(buffers.bindings().size(), 0);
  // Variant 0 comes last, so that copy 0 ends with the outputs of the measured inputs.
  for (const int variant : {1, 0}) {
    const VerifiedLaunch& launch = workload.launches[static_cast<std::size_t>(variant)];
    HONE_TRY(buffers.prepare(0, variant));
    HONE_TRY(kernel.launch(buffers.copy(0)));
    HONE_ASSIGN(const std::string damage, kernel.damage());
    if (!damage.empty() && verification.right) add_fault(verification, damage);
    std::vector<OutputCheck> checks;
    HONE_ASSIGN(const bool proved,
                launch.proof.is_right(buffers, variant, launch.tolerances, checks));
    if (proved) {
      for (const OutputCheck& check : checks)
        note_output(check.comparison, static_cast<std::size_t>(check.binding), verification);
      add_proved(workload, variant, written, entire);
      continue;
    }
    HONE_TRY(add_all_written(buffers, variant, written));
    HONE_TRY(compare_launch(workload, variant, verification));
  }
  judge_outputs(verification);

  const std::vector<Expected>& expected = workload.launches[0].expected;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].written.empty()) continue;
    // The device verifies only outputs that must be written entirely.
    if (entire[i] == 2) continue;
    if (entire[i] == 1) written[i].assign(expected[i].written.size(), true);
    const problem::TensorType type = type_of(buffers.bindings()[i], expected[i].bytes.size());
    HONE_ASSIGN(const Comparison set, compare_written(written[i], expected[i].written, type));
    verification.wrongly_written += set.bad;
    if (!set.right)
      add_comparison(set, i,
                     fmt::format("{} elements of binding {} are {}", set.bad, i,
                                 set.got < set.expected ? "never written"
                                                        : "written, which the reference leaves"),
                     verification);
  }
  return verification;
}

Result<DeviceProof> DeviceProof::create(device::Device& device, const Buffers& buffers,
                                        const std::vector<Expected>& expected) {
  DeviceProof proof;
  if (!device.has_own_memory()) return proof;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [bytes, written] = expected[i];
    if (bytes.empty()) continue;
    if (std::ranges::count(written, false) > 0) return DeviceProof();
    const problem::TensorType type = type_of(buffers.bindings()[i], bytes.size());
    const std::int64_t needed = problem::element_count(type) * problem::byte_size(type.element);
    if (static_cast<std::int64_t>(bytes.size()) < needed) return DeviceProof();
    HONE_ASSIGN(auto memory, device::Memory::allocate(device, bytes.size()));
    HONE_TRY(device.upload(memory.data(), bytes));
    proof.outputs_.push_back({i, type, std::move(memory)});
  }
  proof.device_ = &device;
  return proof;
}

Result<bool> DeviceProof::is_right(const Buffers& buffers, int variant,
                                   const std::vector<Tolerance>& tolerances,
                                   std::vector<OutputCheck>& checks) const {
  if (device_ == nullptr) return false;
  HONE_ASSIGN(const auto intact, buffers.is_intact_on_device(0, variant));
  if (!intact || !*intact) return false;
  checks.clear();
  for (const Output& output : outputs_) {
    Comparison comparison;
    comparison.elements = problem::element_count(output.type);
    const Tolerance& tolerance = tolerances[output.binding];
    HONE_ASSIGN(const auto difference,
                device_->difference(buffers.copy(0)[output.binding].data, output.bytes.data(),
                                    output.type.element, comparison.elements, tolerance.absolute,
                                    tolerance.relative));
    if (!difference || !difference->right) return false;
    comparison.right = true;
    comparison.worst_error = difference->worst_error;
    comparison.worst_relative = difference->worst_relative;
    checks.push_back({static_cast<int>(output.binding), comparison});
  }
  return true;
}

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
  tell_tolerances(workload, verification);
  if (!verification.right && repeated.compared > 1)
    verification.message +=
        fmt::format(" (in launch {} of those compared, right before)", repeated.compared);
  return repeated;
}

}  // namespace hone::measure
