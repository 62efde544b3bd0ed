// A wrong kernel is called wrong, whatever it computes: what real compiled kernels of each kind of
// root operation write is changed in ten ways, and each must show. What two compiles of them write
// must not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "measure/half.h"
#include "measure/launch_operands.h"
#include "tests/device_iree/root_kinds.h"
#include "tests/provider_iree/compiler.h"

namespace hone::measure {
namespace {

using problem::Access;
using problem::BindingUse;
using problem::ElementType;

std::vector<std::string> flags_for(const std::string& cpu) {
  std::vector<std::string> flags = iree::host_cpu_flags();
  flags.back() = "--iree-llvmcpu-target-cpu=" + cpu;
  if (cpu != "host") flags.emplace_back("--iree-llvmcpu-target-cpu-features=+f16c");
  return flags;
}

using Operands = std::array<LaunchOperands, kOperandSets>;

// One dispatch, with what a compile for baseline x86-64 makes of it.
class Subject {
 public:
  Subject(const problem::Dispatch& dispatch, const problem::Dispatch& independent)
      : dispatch_(dispatch) {
    request_.dispatch = dispatch;
    request_.device.cores = {device::cpu::available_cores().front()};
    device_ = device::cpu::open_device(request_.device.cores).value();
    operands_ = launch_operands(request_).value();
    reference_ = compile(independent, "x86-64");
    kernel_ = compile(dispatch, "host");
    expected_ = computed_outputs(request_, operands_).value().value_or(ExpectedOutputs());
    if (expected_[0].empty()) expected_ = run(reference_, operands_);
  }

  const problem::Dispatch& dispatch() const { return dispatch_; }
  const Operands& operands() const { return operands_; }
  const ExpectedOutputs& expected() const { return expected_; }
  ExpectedOutputs right() const { return run(kernel_, operands_); }
  ExpectedOutputs on(const Operands& operands) const { return run(kernel_, operands); }

  // What the comparison says of the first output that differs; empty when all are right.
  std::string wrong(const ExpectedOutputs& got) const {
    for (std::size_t variant = 0; variant < got.size(); ++variant)
      for (std::size_t i = 0; i < got[variant].size(); ++i) {
        const Expected& expected = expected_[variant][i];
        if (expected.bytes.empty()) continue;
        const auto comparison = compare(got[variant][i].bytes, expected.bytes,
                                        type_of(dispatch_.bindings[i], expected.bytes.size()),
                                        operands_[variant].tolerances[i]);
        if (!comparison->right) return describe(*comparison);
      }
    return {};
  }

 private:
  provider::Artifact compile(const problem::Dispatch& dispatch, const std::string& cpu) const {
    auto prepared =
        iree::PreparedDispatch::create(iree::compiler(), dispatch.source, flags_for(cpu));
    if (!prepared) throw std::runtime_error(prepared.error().message);
    auto artifact = prepared->compile(std::nullopt);
    if (!artifact) throw std::runtime_error(dispatch.name + ": " + artifact.error().message);
    return std::move(*artifact);
  }

  ExpectedOutputs run(const provider::Artifact& artifact, const Operands& operands) const {
    Buffers buffers = Buffers::create(dispatch_.bindings, operands[0].contents, 1, device_.get(),
                                      operands[1].contents)
                          .value();
    const auto kernel = device_->load(artifact.format, artifact.code, artifact.launch);
    if (!kernel) throw std::runtime_error(kernel.error().message);
    return run_reference(**kernel, buffers).value();
  }

  problem::Dispatch dispatch_;
  ProblemRequest request_;
  std::unique_ptr<device::Device> device_;
  Operands operands_;
  provider::Artifact reference_, kernel_;
  ExpectedOutputs expected_;
};

// The elements of one output, as numbers.
class Elements {
 public:
  Elements(std::vector<std::byte>& bytes, const problem::Binding& binding)
      : bytes_(bytes), type_(binding.type) {}
  std::size_t count() const { return static_cast<std::size_t>(problem::element_count(type_)); }
  double get(std::size_t i) const { return load_element(at(i), type_.element); }
  void set(std::size_t i, double value) { store_element(at(i), type_.element, value); }
  const std::vector<std::int64_t>& shape() const { return type_.shape; }
  ElementType element() const { return type_.element; }

 private:
  std::byte* at(std::size_t i) const {
    return bytes_.data() + i * static_cast<std::size_t>(problem::byte_size(type_.element));
  }
  std::vector<std::byte>& bytes_;
  problem::TensorType type_;
};

using Change = std::function<void(Elements&, const Tolerance&)>;

// Every output of both launches, changed.
ExpectedOutputs changed(const Subject& subject, const Change& change) {
  ExpectedOutputs got = subject.expected();
  for (std::size_t variant = 0; variant < got.size(); ++variant)
    for (std::size_t i = 0; i < got[variant].size(); ++i) {
      if (got[variant][i].bytes.empty()) continue;
      Elements elements(got[variant][i].bytes, subject.dispatch().bindings[i]);
      change(elements, subject.operands()[variant].tolerances[i]);
    }
  return got;
}

void to_zero(Elements& elements, const Tolerance&) {
  for (std::size_t i = 0; i < elements.count(); ++i) elements.set(i, 0);
}

void to_constant(Elements& elements, const Tolerance&) {
  for (std::size_t i = 1; i < elements.count(); ++i) elements.set(i, elements.get(0));
}

void scaled(Elements& elements, const Tolerance&) {
  for (std::size_t i = 0; i < elements.count(); ++i) elements.set(i, 1.05 * elements.get(i));
}

void rows_swapped(Elements& elements, const Tolerance&) {
  std::size_t row = elements.count();
  for (const std::int64_t extent : elements.shape()) {
    row /= static_cast<std::size_t>(extent);
    if (extent > 1) break;
  }
  for (std::size_t i = 0; i < row; ++i) {
    const double first = elements.get(i);
    elements.set(i, elements.get(row + i));
    elements.set(row + i, first);
  }
}

// Read with the last two dimensions exchanged; a single one from its end.
void transposed(Elements& elements, const Tolerance&) {
  std::vector<double> all(elements.count());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = elements.get(i);
  std::size_t n = 1, m = all.size();
  if (elements.shape().size() > 1) {
    n = static_cast<std::size_t>(elements.shape().back());
    m = static_cast<std::size_t>(elements.shape()[elements.shape().size() - 2]);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t matrix = i / (m * n) * (m * n), at = i % (m * n);
    elements.set(i, n == 1 ? all[all.size() - 1 - i] : all[matrix + at % m * n + at / m]);
  }
}

// Four units in the last place where the kind is exact, elsewhere twice the tolerance.
void one_off(Elements& elements, const Tolerance& tolerance) {
  std::size_t at = elements.count() / 3;
  while (at + 1 < elements.count() && elements.get(at) == 0) ++at;
  const double value = elements.get(at);
  const double allowed = tolerance.absolute + tolerance.relative * std::abs(value);
  double off = 2 * allowed;
  if (allowed == 0)
    off = problem::is_float(elements.element())
              ? 4 * std::ldexp(1.0, std::ilogb(value) - significand_digits(elements.element()) + 1)
              : 1;
  elements.set(at, value + off);
}

ExpectedOutputs stale(const Subject& subject) {
  return {subject.expected()[1], subject.expected()[0]};
}

// Runs the kernel on other operands.
ExpectedOutputs on_changed(
    const Subject& subject,
    const std::function<double(std::size_t binding, std::size_t index, double value)>& change) {
  Operands operands = subject.operands();
  for (LaunchOperands& each : operands)
    for (std::size_t i = 0; i < each.contents.size(); ++i) {
      const problem::Binding& binding = subject.dispatch().bindings[i];
      if (binding.access != Access::kReadOnly) continue;
      Elements elements(each.contents[i], binding);
      for (std::size_t at = 0; at < elements.count(); ++at)
        elements.set(at, change(i, at, elements.get(at)));
    }
  return subject.on(operands);
}

double with_digits(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - digits + 1);
  return std::rint(value / unit) * unit;
}

// The last eighth of the (last) reduction is left out.
ExpectedOutputs dropped(const Subject& subject) {
  const problem::Dispatch& dispatch = subject.dispatch();
  const problem::Computation computation = problem::computation_of(dispatch);
  double instead = 0;
  for (const problem::ElementValue& value : computation.values)
    if (value.root && value.kind == problem::ElementValue::Kind::kSoftmax) instead = -60;
  const bool selects = std::any_of(computation.values.begin(), computation.values.end(),
                                   [](const problem::ElementValue& value) {
                                     return value.root && value.operation.facts().selects();
                                   });
  // By binding: which elements belong to that part, through the operand that walks the loop.
  int loop = static_cast<int>(dispatch.root.loops.size()) - 1;
  const auto walked = [&](int l) {
    return dispatch.root.loops[static_cast<std::size_t>(l)].reduction &&
           dispatch.root.loops[static_cast<std::size_t>(l)].size > 7;
  };
  while (loop >= 0 && !walked(loop)) --loop;
  if (loop < 0)  // a window: its last place
    for (loop = static_cast<int>(dispatch.root.loops.size()) - 1;
         loop > 0 && !dispatch.root.loops[static_cast<std::size_t>(loop)].reduction;)
      --loop;
  const std::int64_t size = dispatch.root.loops[static_cast<std::size_t>(loop)].size;
  const std::int64_t first = size - std::max<std::int64_t>(1, size / 8);
  Operands operands = subject.operands();
  bool any = false;
  for (std::size_t operand = 0; operand < dispatch.root.operands.size(); ++operand) {
    const problem::Operand& read = dispatch.root.operands[operand];
    // Attention's values alone: without them the weights count for nothing.
    if (dispatch.root.kind == problem::OperationKind::kAttention && operand != 2) continue;
    if (read.output || operand >= dispatch.root_bindings.size() ||
        dispatch.root_bindings[operand] < 0)
      continue;
    const auto binding = static_cast<std::size_t>(dispatch.root_bindings[operand]);
    const auto dimension = std::find(read.loops.begin(), read.loops.end(), loop);
    if (dimension == read.loops.end() || dispatch.bindings[binding].type.shape != read.type.shape)
      continue;
    any = true;
    std::size_t stride = 1;
    for (std::size_t d = read.type.shape.size() - 1;
         d > static_cast<std::size_t>(dimension - read.loops.begin()); --d)
      stride *= static_cast<std::size_t>(read.type.shape[d]);
    for (LaunchOperands& each : operands) {
      Elements elements(each.contents[binding], dispatch.bindings[binding]);
      for (std::size_t i = 0; i < elements.count(); ++i) {
        const auto index = static_cast<std::int64_t>(i / stride) % size;
        if (index < first) continue;
        const std::size_t to_first = i - static_cast<std::size_t>(index) * stride;
        elements.set(i, selects ? elements.get(to_first) : instead);
      }
    }
  }
  if (any) return subject.on(operands);
  // A pooling's window walks no operand by itself: every eighth column of its input.
  return on_changed(subject, [&](std::size_t, std::size_t index, double value) {
    return index % 8 == 7 ? -std::abs(value) : value;
  });
}

ExpectedOutputs narrowed(const Subject& subject, int digits) {
  return on_changed(subject, [&](std::size_t binding, std::size_t, double value) {
    const problem::Binding& read = subject.dispatch().bindings[binding];
    if (problem::is_float(read.type.element)) return with_digits(value, digits);
    // One bit less than the type has.
    return static_cast<double>(static_cast<std::int64_t>(value) & ~std::int64_t{1});
  });
}

class MutationTable : public testing::TestWithParam<std::string> {};

TEST_P(MutationTable, EveryChangeShows) {
  const std::string type = GetParam();
  std::string text;
  for (const RootKind& kind : RootKinds::of_type(type)) text += kind.function;
  const auto program =
      iree::load_program(iree::compiler(), "kinds.mlir", text, flags_for("host")).value();
  const auto reference =
      iree::load_program(iree::compiler(), "kinds.mlir", text, flags_for("x86-64")).value();
  ASSERT_EQ(program.dispatches.size(), reference.dispatches.size());
  // Kinds to leave out, for setting constants with a part of the table unseen.
  const char* const only = std::getenv("HONE_MUTATION_KINDS");
  std::printf("%-46s %10s %10s %10s  %s\n", "dispatch", "typical", "tolerance", "difference",
              "of tolerance");
  int tried = 0;
  std::set<std::string> seen;
  for (std::size_t d = 0; d < program.dispatches.size(); ++d) {
    const problem::Dispatch& dispatch = program.dispatches[d];
    if (only != nullptr && std::string_view(only).find(dispatch.name.substr(
                               0, dispatch.name.find('_'))) == std::string_view::npos)
      continue;
    if (dispatch.root_operations == 0) continue;
    seen.insert(dispatch.name.substr(0, dispatch.name.find("_dispatch_")));
    SCOPED_TRACE(dispatch.name);
    const Subject subject(dispatch, reference.dispatches[d]);
    EXPECT_EQ(subject.wrong(subject.right()), "");

    std::map<std::string, ExpectedOutputs> wrong;
    wrong["zero output"] = changed(subject, to_zero);
    wrong["constant output"] = changed(subject, to_constant);
    wrong["scale off by 5 %"] = changed(subject, scaled);
    wrong["a row swapped"] = changed(subject, rows_swapped);
    wrong["transposed map"] = changed(subject, transposed);
    wrong["one element off"] = changed(subject, one_off);
    wrong["stale output"] = stale(subject);
    const bool reduces = std::any_of(dispatch.root.loops.begin(), dispatch.root.loops.end(),
                                     [](const problem::Loop& loop) { return loop.reduction; });
    if (reduces) wrong["an eighth of the reduction dropped"] = dropped(subject);
    wrong["operands narrowed to bf16"] = narrowed(subject, 8);
    if (type == "f32") wrong["operands narrowed to tf32 or f16"] = narrowed(subject, 11);
    for (const auto& [name, got] : wrong) EXPECT_NE(subject.wrong(got), "") << name;
    tried += static_cast<int>(wrong.size());

    const ExpectedOutputs right = subject.right();
    for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
      if (subject.expected()[0][i].bytes.empty()) continue;
      auto bytes = subject.expected()[0][i].bytes;
      Elements elements(bytes, dispatch.bindings[i]);
      double typical = 0;
      for (std::size_t at = 0; at < elements.count(); ++at)
        typical += std::abs(elements.get(at)) / static_cast<double>(elements.count());
      const Tolerance& tolerance = subject.operands()[0].tolerances[i];
      const auto comparison = compare(right[0][i].bytes, subject.expected()[0][i].bytes,
                                      dispatch.bindings[i].type, tolerance);
      const double allowed = tolerance.absolute + tolerance.relative * typical;
      std::printf("%-46.46s %10.3g %10.2g %10.2g  %.2f\n", dispatch.name.c_str(), typical, allowed,
                  comparison->worst_error, allowed > 0 ? comparison->worst_error / allowed : 0);
    }
  }
  std::printf("%d wrong outputs\n", tried);
  // None is left out in silence, because the compiler folds it or marks no root.
  for (const RootKind& kind : RootKinds::of_type(type))
    EXPECT_TRUE(only != nullptr || seen.contains(kind.name)) << kind.name;
}

INSTANTIATE_TEST_SUITE_P(Types, MutationTable, testing::Values("f32", "f16", "i32"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace hone::measure
