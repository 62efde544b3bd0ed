#include "measure/workload.h"

#include <algorithm>

#include "measure/inputs.h"

namespace hone::measure {
namespace {

bool is_written(const problem::Binding& binding) {
  return binding.access != problem::Access::kReadOnly;
}

std::size_t elements_of(const problem::Binding& binding) {
  return static_cast<std::size_t>(problem::element_count(binding.type));
}

std::size_t dense_bytes(const problem::Binding& binding) {
  return elements_of(binding) * static_cast<std::size_t>(problem::byte_size(binding.type.element));
}

// Adds a sentence to the verification and calls it wrong.
void add_fault(Verification& verification, const std::string& message) {
  verification.right = false;
  verification.message += (verification.message.empty() ? "" : "; ") + message;
}

void check_guards(const Buffers& buffers, Verification& verification) {
  for (const BrokenGuard& guard : buffers.broken_guards(0)) {
    auto& broken = verification.broken_guards;
    if (!broken.empty() && broken.back() == guard.binding) continue;
    broken.push_back(guard.binding);
    add_fault(verification,
              fmt::format("writes outside of binding {}, at byte {} of {}", guard.binding,
                          guard.offset, buffers.contents(0, guard.binding).size()));
  }
  verification.changed_inputs = buffers.changed_inputs(0);
  for (const int binding : verification.changed_inputs)
    add_fault(verification, fmt::format("writes to binding {}, which is read-only", binding));
}

// The first comparison that fails is the one that is shown.
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

// Of the two runs over different poison the worse one counts.
void note_output(const Comparison& comparison, std::size_t binding, Verification& verification) {
  auto& outputs = verification.outputs;
  const auto known = std::ranges::find(outputs, static_cast<int>(binding), &OutputCheck::binding);
  if (known == outputs.end())
    outputs.push_back({static_cast<int>(binding), comparison});
  else if (comparison.bad > known->comparison.bad)
    known->comparison = comparison;
  else if (comparison.bad == known->comparison.bad &&
           comparison.worst_error > known->comparison.worst_error)
    known->comparison = comparison;
}

// Where the reference leaves elements, they hold poison of variant 0, and only such a run compares.
Status compare_outputs(const Workload& workload, int variant, Verification& verification) {
  for (std::size_t i = 0; i < workload.expected.size(); ++i) {
    const Expected& expected = workload.expected[i];
    const bool partial = std::ranges::find(expected.written, false) != expected.written.end();
    if (expected.bytes.empty() || (partial && variant != 0)) continue;
    HONE_ASSIGN(const Comparison values,
                compare(workload.buffers.contents(0, static_cast<int>(i)), expected.bytes,
                        type_of(workload.buffers.bindings()[i], expected.bytes.size()),
                        workload.tolerance));
    note_output(values, i, verification);
  }
  return {};
}

// Notes which elements of write-only outputs a run over poison of one variant has changed.
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

// Runs `kernel` over poison of one variant and notes which elements of write-only outputs change.
Status run_over_poison(device::Kernel& kernel, Buffers& buffers, int variant,
                       std::vector<std::vector<bool>>& written) {
  HONE_TRY(buffers.prepare(0, variant));
  HONE_TRY(kernel.launch(buffers.copy(0)));
  return add_all_written(buffers, variant, written);
}

// What a run that the device has found right has written. No float in it is NaN, as poison is: all
// of such an output, which `entire` counts. Of other types every bit is as expected.
void add_proved(const Workload& workload, int variant, std::vector<std::vector<bool>>& written,
                std::vector<int>& entire) {
  const Buffers& buffers = workload.buffers;
  written.resize(buffers.bindings().size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    const problem::Binding& binding = buffers.bindings()[i];
    const Expected& expected = workload.expected[i];
    if (binding.access != problem::Access::kWriteOnly || expected.bytes.empty()) continue;
    if (problem::is_float(binding.type.element) && problem::byte_size(binding.type.element) > 1)
      ++entire[i];
    else
      add_written(expected.bytes, binding.type.element, variant, written[i]);
  }
}

}  // namespace

problem::TensorType type_of(const problem::Binding& binding, std::size_t bytes) {
  if (bytes <= dense_bytes(binding)) return binding.type;
  const problem::ElementType element = binding.type.element;
  return {element, {static_cast<std::int64_t>(bytes) / problem::byte_size(element)}};
}

Result<std::vector<std::vector<std::byte>>> first_contents(const problem::Dispatch& dispatch,
                                                           std::uint64_t seed) {
  const InputPlan plan = plan_inputs(dispatch);
  std::vector<std::vector<std::byte>> contents(dispatch.bindings.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const problem::Binding& binding = dispatch.bindings[i];
    if (binding.bytes < 0 || problem::is_dynamic(binding.type))
      return input_error("binding {} of {} has a dynamic shape; hone runs static ones only", i,
                         dispatch.name);
    if (binding.access == problem::Access::kWriteOnly) continue;
    contents[i].resize(static_cast<std::size_t>(binding.bytes));
    fill_input(contents[i], binding.type.element, plan.bindings[i], binding_seed(seed, i));
  }
  return contents;
}

Result<Buffers> make_buffers(const std::vector<problem::Binding>& bindings,
                             std::vector<std::vector<std::byte>> initial,
                             const ProblemRequest& request, std::string& note,
                             device::Device* device) {
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : bindings)
    bytes += std::max<std::int64_t>(0, binding.bytes);
  const bool apart = device != nullptr && device->has_own_memory();
  const std::int64_t cache = request.last_level_cache == 0 && device != nullptr
                                 ? device->last_level_cache()
                                 : request.last_level_cache;
  const Rotation rotation =
      rotation_for(request.cache, bytes, cache, apart ? device->free_memory() : available_memory());
  note = rotation.note;
  return Buffers::create(bindings, std::move(initial), rotation.copies, device);
}

std::vector<Expected> expect_output(const Buffers& buffers, std::size_t binding,
                                    std::vector<std::byte> bytes) {
  std::vector<Expected> expected(buffers.bindings().size());
  const problem::Binding& output = buffers.bindings()[binding];
  const std::span<const std::byte> whole = buffers.contents(0, static_cast<int>(binding));
  if (output.access == problem::Access::kWriteOnly) {
    const auto size = static_cast<std::size_t>(problem::byte_size(output.type.element));
    expected[binding].written.assign(whole.size() / size, false);
    std::fill_n(expected[binding].written.begin(), elements_of(output), true);
  }
  // Behind the tensor the buffer keeps what it held.
  if (bytes.size() < whole.size())
    bytes.insert(bytes.end(), whole.begin() + static_cast<std::ptrdiff_t>(bytes.size()),
                 whole.end());
  expected[binding].bytes = std::move(bytes);
  return expected;
}

Result<std::vector<Expected>> run_reference(device::Kernel& kernel, Buffers& buffers) {
  std::vector<std::vector<bool>> written;
  HONE_TRY(run_over_poison(kernel, buffers, 1, written));
  HONE_TRY(run_over_poison(kernel, buffers, 0, written));
  Verification own;
  own.right = true;
  check_guards(buffers, own);
  if (!own.right) return failure("the reference itself {}", own.message);
  std::vector<Expected> expected(written.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!is_written(buffers.bindings()[i])) continue;
    const auto bytes = buffers.contents(0, static_cast<int>(i));
    expected[i] = {.bytes = {bytes.begin(), bytes.end()}, .written = std::move(written[i])};
  }
  return expected;
}

Result<Verification> verify_kernel(device::Kernel& kernel, Workload& workload) {
  Buffers& buffers = workload.buffers;
  Verification verification;
  verification.right = true;
  verification.tolerance =
      fmt::format("absolute {:.3g}, relative {:.3g}: {}", workload.tolerance.absolute,
                  workload.tolerance.relative, workload.tolerance.basis);
  std::vector<std::vector<bool>> written;
  std::vector<int> entire(workload.expected.size(), 0);
  // Variant 0 comes last: what copy 0 holds in the end is compared with a reference over variant 0.
  for (const int variant : {1, 0}) {
    HONE_TRY(buffers.prepare(0, variant));
    HONE_TRY(kernel.launch(buffers.copy(0)));
    std::vector<OutputCheck> checks;
    HONE_ASSIGN(const bool proved, workload.proof.is_right(buffers, workload.tolerance, checks));
    if (proved) {
      for (const OutputCheck& check : checks)
        note_output(check.comparison, static_cast<std::size_t>(check.binding), verification);
      add_proved(workload, variant, written, entire);
      continue;
    }
    HONE_TRY(add_all_written(buffers, variant, written));
    if (verification.right) check_guards(buffers, verification);
    HONE_TRY(compare_outputs(workload, variant, verification));
  }
  for (const OutputCheck& output : verification.outputs)
    add_comparison(output.comparison, static_cast<std::size_t>(output.binding),
                   describe(output.comparison), verification);

  for (std::size_t i = 0; i < workload.expected.size(); ++i) {
    const Expected& expected = workload.expected[i];
    if (expected.written.empty()) continue;
    // The device proves only what must be written entirely (device_proof.h).
    if (entire[i] == 2) continue;
    if (entire[i] == 1) written[i].assign(expected.written.size(), true);
    const problem::TensorType type = type_of(buffers.bindings()[i], expected.bytes.size());
    HONE_ASSIGN(const Comparison set, compare_written(written[i], expected.written, type));
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

}  // namespace hone::measure
