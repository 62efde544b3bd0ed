#include "measure/launch_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "measure/buffers.h"
#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/parts.h"
#include "measure/reference.h"

namespace hone::measure {

namespace {

using problem::BindingUse;

// Range of the finite elements of an input that the user gives, instead of one of inputs.h.
ValueRange range_of_contents(std::span<const std::byte> bytes, problem::ElementType type) {
  const auto size = problem::element_bytes(type);
  ValueRange range;
  std::size_t count = 0;
  int grid = std::numeric_limits<int>::max();
  double squares = 0;
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    const double value = load_element(bytes.data() + at, type);
    if (!std::isfinite(value)) continue;
    range.low = count == 0 ? value : std::min(range.low, value);
    range.high = count == 0 ? value : std::max(range.high, value);
    range.smallest = count == 0 ? std::abs(value) : std::min(range.smallest, std::abs(value));
    ++count;
    range.mean += (value - range.mean) / static_cast<double>(count);
    squares += value * value;
    if (value != 0) grid = std::min(grid, lowest_digit(value));
  }
  if (count > 0) range.rms = std::sqrt(squares / static_cast<double>(count));
  if (grid != std::numeric_limits<int>::max()) range.grid = grid;
  return range;
}

// The root's product of the two contents; nullopt if it cannot be computed here.
std::optional<ExactContraction> product(const problem::Dispatch& dispatch,
                                        const std::vector<std::vector<std::byte>>& contents,
                                        int threads) {
  std::vector<int> bindings = dispatch.root_bindings;
  if (const auto all = bindings_of_operands(dispatch)) bindings.assign(all->begin(), all->end());
  if (!problem::is_contraction(dispatch.root.kind) || !dispatch.plain_products ||
      bindings.size() != 3)
    return std::nullopt;
  for (const int binding : {bindings[0], bindings[1]})
    if (binding < 0 || static_cast<std::size_t>(binding) >= contents.size()) return std::nullopt;
  const auto content = [&](int operand) {
    return std::span<const std::byte>(
        contents[static_cast<std::size_t>(bindings[static_cast<std::size_t>(operand)])]);
  };
  std::vector<std::byte> initial;
  if (is_bare(dispatch) && has_exact_reference(dispatch))
    initial = initial_output(dispatch, content(2));
  auto computed = exact_contraction(dispatch.root, content(0), content(1), threads, initial);
  if (!computed) return std::nullopt;
  return std::move(*computed);
}

// Replaces contents[i] with `given[i]` unless that is empty. An input error if it has another size
// than its binding, or if the binding is write-only.
Status replace_contents(const problem::Dispatch& dispatch, const std::vector<std::string>& given,
                        std::vector<std::vector<std::byte>>& contents) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty()) continue;
    if (i >= contents.size() || dispatch.bindings[i].access == problem::Access::kWriteOnly)
      return input_error("binding {} of {} takes no content", i, dispatch.name);
    if (given[i].size() > contents[i].size())
      return input_error("binding {} of {} has {} bytes, {} are given for it", i, dispatch.name,
                         contents[i].size(), given[i].size());
    std::memcpy(contents[i].data(), given[i].data(), given[i].size());
  }
  return {};
}

// Plans given inputs, as plan_inputs plans its own, from `contents` (by binding). The plan says
// whether the root is exact on them. It gives a bound on sum |a||b|, and the size of the root's
// sums and of the operations fused behind it. The bound comes from the product if hone can compute
// it (measure/reference.h), else it is terms x max |a| x max |b|.
InputPlan plan_of_contents(const problem::Dispatch& dispatch,
                           const std::vector<std::vector<std::byte>>& contents, int threads) {
  InputPlan plan = plan_inputs(dispatch);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].access == problem::Access::kWriteOnly) continue;
    InputValues& values = plan.bindings[i];
    values.kind = InputValues::Kind::kGiven;
    values.given = range_of_contents(contents[i], dispatch.bindings[i].type.element);
  }
  plan.exact = false;
  plan.absolute_sum = plan.typical_sum = 0;
  plan.basis = "the given inputs";
  const auto computed = product(dispatch, contents, threads);
  if (!computed) return plan;
  // The product above does not contain the fill of a fused dispatch.
  const double fill = has_exact_reference(dispatch) ? 0 : std::abs(dispatch.fill_value);
  plan.absolute_sum = computed->absolute_sum + fill;
  plan.exact = computed->exact && fill == 0;
  if (plan.exact) plan.basis = "every partial sum of the given inputs is exact";
  return plan;
}

// Far from what a user gives as --seed, and from the seeds of later draws.
constexpr std::uint64_t kSecondSet = 0x5365636F6E64, kDraw = 0x44726177;

// Relative; zeros are off by 1.
constexpr double kSaysNothing = 0.5;
// Elements that are drawn of a binding where each need not be another: drawing takes 4 ns each on
// one core. A prime, so that rows whose length is a power of two do not repeat one another.
constexpr std::size_t kFewDrawn = (std::size_t{1} << 19) - 1;

std::uint64_t seed_of(std::uint64_t seed, OperandSet set, int draw) {
  const std::uint64_t drawn =
      draw == 0 ? seed : random_bits(seed ^ kDraw, static_cast<std::uint64_t>(draw));
  return set == OperandSet::kExact ? drawn : random_bits(drawn ^ kSecondSet, 0);
}

// Returns the bytes of `given`, from the first on. The rest, and bindings that are not given,
// follow the plan. At most `drawn` elements of a binding are drawn, and repeated in it.
Result<Buffers::Contents> contents_of(const problem::Dispatch& dispatch, const InputPlan& plan,
                                      std::uint64_t seed, const std::vector<std::string>& given,
                                      std::size_t drawn = SIZE_MAX) {
  Buffers::Contents contents(dispatch.bindings.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const problem::Binding& binding = dispatch.bindings[i];
    if (binding.bytes < 0 || problem::is_dynamic(binding.type))
      return input_error("binding {} of {} has a dynamic shape; hone runs static ones only", i,
                         dispatch.name);
    if (binding.access == problem::Access::kWriteOnly) continue;
    const auto bytes = static_cast<std::size_t>(binding.bytes);
    contents[i].resize(bytes);
    if (i < given.size() && given[i].size() == bytes) continue;
    const auto size = problem::element_bytes(binding.type.element);
    const std::span<std::byte> first =
        std::span(contents[i]).first(bytes / size <= drawn ? bytes : size * drawn);
    fill_input(first, binding.type.element, plan.bindings[i], binding_seed(seed, i));
    repeat_first(contents[i], first.size());
  }
  HONE_TRY(replace_contents(dispatch, given, contents));
  return contents;
}

// Counts among the elements of the binding's tensor that the reference writes, or all if it does
// not say.
std::size_t count_not_finite(const problem::Binding& binding, const Expected& expected) {
  const auto size = problem::element_bytes(binding.type.element);
  const std::size_t elements =
      expected.written.empty() ? expected.bytes.size() / size
                               : std::min(expected.bytes.size() / size, expected.written.size());
  const std::vector<std::size_t> parts =
      in_parts(elements, [&](std::size_t begin, std::size_t end) {
        std::size_t count = 0;
        for (std::size_t i = begin; i < end; ++i) {
          const bool is_written = expected.written.empty() || expected.written[i];
          if (is_written &&
              !std::isfinite(load_element(expected.bytes.data() + i * size, binding.type.element)))
            ++count;
        }
        return count;
      });
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0});
}

// Expects an output that hone computed: all elements of its tensor written, the rest of a larger
// buffer unchanged.
std::vector<Expected> expect_output(const problem::Dispatch& dispatch, std::size_t binding,
                                    std::vector<std::byte> bytes, const Buffers::Contents& before,
                                    int variant) {
  std::vector<Expected> expected(dispatch.bindings.size());
  const problem::Binding& output = dispatch.bindings[binding];
  const auto whole = static_cast<std::size_t>(std::max<std::int64_t>(0, output.bytes));
  if (output.access == problem::Access::kWriteOnly) {
    const auto size = problem::element_bytes(output.type.element);
    expected[binding].written.assign(whole / size, false);
    std::fill_n(expected[binding].written.begin(),
                static_cast<std::size_t>(problem::element_count(output.type)), true);
  }
  if (bytes.size() < whole) {
    std::vector<std::byte> rest(whole);
    if (output.access == problem::Access::kWriteOnly)
      poison(rest, output.type.element, variant);
    else
      rest = before[binding];
    bytes.insert(bytes.end(), rest.begin() + static_cast<std::ptrdiff_t>(bytes.size()), rest.end());
  }
  expected[binding].bytes = std::move(bytes);
  return expected;
}

}  // namespace

Result<std::array<LaunchOperands, kOperandSets>> launch_operands(const ProblemRequest& request,
                                                                 int draw) {
  const problem::Dispatch& dispatch = request.dispatch;
  std::array<LaunchOperands, kOperandSets> operands;
  const bool given = !request.inputs.empty();
  for (const OperandSet set : {OperandSet::kExact, OperandSet::kFullSignificands}) {
    LaunchOperands& each = operands[static_cast<std::size_t>(set)];
    if (request.only_timed && set != OperandSet::kExact) continue;
    if (given && set != OperandSet::kExact) {
      each = operands.front();
      continue;
    }
    InputPlan plan = plan_inputs(dispatch, set);
    const std::uint64_t seed = seed_of(request.seed, set, given ? 0 : draw);
    HONE_ASSIGN(each.contents, contents_of(dispatch, plan, seed, request.inputs,
                                           request.only_timed ? kFewDrawn : SIZE_MAX));
    if (request.tolerance) {
      each.tolerances.assign(dispatch.bindings.size(), *request.tolerance);
      continue;
    }
    // The product of given inputs tells how far a right kernel may be off.
    if (given)
      plan =
          plan_of_contents(dispatch, each.contents, static_cast<int>(request.device.cores.size()));
    each.tolerances = tolerances_for(dispatch, plan);
  }
  return operands;
}

Result<Buffers::Contents> drawn_contents(const problem::Dispatch& dispatch, OperandSet set,
                                         std::uint64_t seed) {
  return contents_of(dispatch, plan_inputs(dispatch, set), seed, {},
                     set == OperandSet::kReals ? kFewDrawn : SIZE_MAX);
}

std::string not_verifiable(const problem::Dispatch& dispatch,
                           const std::array<LaunchOperands, kOperandSets>& operands) {
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].use != problem::BindingUse::kOutput) continue;
    const bool says_nothing = std::ranges::all_of(operands, [i](const LaunchOperands& each) {
      return each.tolerances[i].relative >= kSaysNothing;
    });
    if (says_nothing)
      return fmt::format("a right kernel's binding {} may be off by {:.2g} times what it holds: {}",
                         i, operands[0].tolerances[i].relative, operands[0].tolerances[i].basis);
  }
  return {};
}

Result<std::optional<ExpectedOutputs>> computed_outputs(
    const ProblemRequest& request, const std::array<LaunchOperands, kOperandSets>& operands) {
  const problem::Dispatch& dispatch = request.dispatch;
  ExpectedOutputs outputs;
  if (!request.expected.empty()) {
    for (std::vector<Expected>& expected : outputs) {
      expected.resize(dispatch.bindings.size());
      for (std::size_t i = 0; i < std::min(expected.size(), request.expected.size()); ++i) {
        const auto bytes = std::as_bytes(std::span(request.expected[i]));
        expected[i].bytes.assign(bytes.begin(), bytes.end());
      }
    }
    return outputs;
  }
  const auto bindings = exact_bindings(dispatch);
  if (!bindings) return std::nullopt;
  for (std::size_t variant = 0; variant < outputs.size(); ++variant) {
    const Buffers::Contents& contents = operands[variant].contents;
    HONE_ASSIGN(ExactContraction exact,
                exact_contraction(dispatch.root, contents[bindings->lhs], contents[bindings->rhs],
                                  static_cast<int>(request.device.cores.size()),
                                  initial_output(dispatch, contents[bindings->output])));
    const std::span<const std::byte> bias =
        bindings->bias ? contents[*bindings->bias] : std::span<const std::byte>();
    outputs[variant] =
        expect_output(dispatch, bindings->output,
                      finish_output(dispatch, *bindings, std::move(exact.output), bias), contents,
                      static_cast<int>(variant));
  }
  return outputs;
}

Result<ExpectedOutputs> run_reference(device::Kernel& kernel, Buffers& buffers) {
  ExpectedOutputs outputs;
  std::vector<std::vector<bool>> written;
  for (const int variant : {1, 0}) {
    HONE_TRY(buffers.prepare(0, variant));
    HONE_TRY(kernel.launch(buffers.copy(0)));
    HONE_TRY(add_all_written(buffers, variant, written));
    Verification own;
    own.right = true;
    check_guards(buffers, variant, own);
    if (!own.right) return failure("the reference itself {}", own.message);
    std::vector<Expected>& expected = outputs[static_cast<std::size_t>(variant)];
    expected.resize(buffers.bindings().size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (buffers.bindings()[i].access == problem::Access::kReadOnly) continue;
      const auto bytes = buffers.contents(0, static_cast<int>(i));
      expected[i].bytes.assign(bytes.begin(), bytes.end());
    }
  }
  for (std::vector<Expected>& expected : outputs)
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!expected[i].bytes.empty()) expected[i].written = written[i];
  return outputs;
}

std::string not_finite(const problem::Dispatch& dispatch, const ExpectedOutputs& expected) {
  if (problem::computation_of(dispatch).has_infinite_constants) return {};
  for (const std::vector<Expected>& outputs : expected)
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const problem::Binding& binding = dispatch.bindings[i];
      if (!problem::is_float(binding.type.element)) continue;
      const std::size_t count = count_not_finite(binding, outputs[i]);
      if (count > 0) return fmt::format("{} elements of binding {} are NaN or infinite", count, i);
    }
  return {};
}

Result<Buffers> make_buffers(const std::vector<problem::Binding>& bindings,
                             std::array<LaunchOperands, kOperandSets>& operands,
                             const ProblemRequest& request, std::string& note,
                             device::Device* device) {
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : bindings)
    bytes += std::max<std::int64_t>(0, binding.bytes);
  const bool apart = device != nullptr && device->has_own_memory();
  const std::int64_t cache = request.last_level_cache == 0 && device != nullptr
                                 ? device->last_level_cache()
                                 : request.last_level_cache;
  // Gaps between views take memory too, since the device allocates a copy in one piece.
  const double used =
      apart ? static_cast<double>(bytes) / static_cast<double>(Arrangement(bindings).bytes) : 1;
  const auto memory = static_cast<double>(apart ? device->free_memory() : available_memory());
  const Rotation rotation =
      rotation_for(request.cache, bytes, cache, static_cast<std::int64_t>(used * memory));
  note = rotation.note;
  return Buffers::create(bindings, std::move(operands[0].contents), rotation.copies, device,
                         std::move(operands[1].contents));
}

Result<Workload> make_workload(Buffers buffers, ExpectedOutputs expected,
                               const std::array<LaunchOperands, kOperandSets>& operands,
                               device::Device& device) {
  Workload workload{.buffers = std::move(buffers)};
  for (std::size_t variant = 0; variant < expected.size(); ++variant) {
    VerifiedLaunch& launch = workload.launches[variant];
    launch.tolerances = operands[variant].tolerances;
    HONE_ASSIGN(launch.proof, DeviceProof::create(device, workload.buffers, expected[variant]));
    launch.expected = std::move(expected[variant]);
  }
  return workload;
}

}  // namespace hone::measure
