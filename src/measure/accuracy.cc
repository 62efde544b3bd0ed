#include "measure/accuracy.h"

#include <algorithm>
#include <cmath>

#include "measure/buffers.h"
#include "measure/half.h"
#include "measure/inputs.h"
#include "measure/launch_operands.h"
#include "measure/stated_elements.h"

namespace hone::measure {
namespace {

using problem::Access;
using provider::Suspicion;

// Sample sizes. A few hundred elements tell a mistake from everything else; a few dozen rule out
// most suspicions.
constexpr ElementSample kFewest{.elements = 32, .products = 1 << 17},
    kFewElements{.elements = 256, .products = 1 << 21};
// Tolerances for a kernel's roundings and approximations (of the element, of a typical element),
// and the share of elements that must match. Another layout or a dropped term makes larger
// differences.
constexpr double kOfElement = 0.01, kOfTypical = 0.001, kMatching = 0.99;

// Launches over memory of their own, apart from the memory of the runner's other kernels.
class SingleLaunch {
 public:
  // `zeroed`: write-only outputs start as zeros instead of poison.
  static Result<SingleLaunch> create(device::Device& device, const problem::Dispatch& dispatch,
                                     OperandSet set, std::uint64_t seed, bool zeroed) {
    std::vector<problem::Binding> bindings = dispatch.bindings;
    HONE_ASSIGN(Buffers::Contents contents, drawn_contents(dispatch, set, seed));
    for (std::size_t i = 0; zeroed && i < bindings.size(); ++i) {
      if (bindings[i].access != Access::kWriteOnly) continue;
      bindings[i].access = Access::kReadWrite;
      contents[i].resize(static_cast<std::size_t>(bindings[i].bytes));
    }
    HONE_ASSIGN(Buffers buffers, Buffers::create(std::move(bindings), std::move(contents), 1,
                                                 device.has_own_memory() ? &device : nullptr));
    return SingleLaunch(std::move(buffers));
  }

  Status run(device::Kernel& kernel) {
    HONE_TRY(buffers_.prepare(0));
    HONE_TRY(kernel.launch(buffers_.copy(0)));
    return buffers_.fetch(0, /*only_written=*/true);
  }

  // Computes elements of the dispatch by `statement`.
  Result<std::vector<StatedElements>> elements(const problem::Dispatch& dispatch,
                                               const problem::Statement& statement,
                                               const ElementSample& sample) const {
    std::vector<std::span<const std::byte>> inputs;
    for (std::size_t i = 0; i < dispatch.bindings.size(); ++i)
      inputs.push_back(dispatch.bindings[i].access == Access::kWriteOnly
                           ? std::span<const std::byte>()
                           : buffers_.initial(static_cast<int>(i)));
    return stated_elements(dispatch, statement, inputs, sample);
  }

  // The last kernel's value of an element, as it lies in memory.
  std::span<const std::byte> got(const StatedElements& of, std::size_t element) const {
    const auto size = problem::element_bytes(of.type);
    return buffers_.contents(0, of.binding)
        .subspan(static_cast<std::size_t>(of.places[element]) * size, size);
  }

 private:
  explicit SingleLaunch(Buffers buffers) : buffers_(std::move(buffers)) {}
  Buffers buffers_;
};

Result<OutputAccuracy> accuracy_of(const SingleLaunch& launch, const StatedElements& stated) {
  const auto size = problem::element_bytes(stated.type);
  problem::Array got{{stated.type, {static_cast<std::int64_t>(stated.values.size())}}, {}};
  problem::Array expected = got;
  OutputAccuracy accuracy{.binding = stated.binding};
  for (std::size_t i = 0; i < stated.values.size(); ++i) {
    const auto bytes = launch.got(stated, i);
    std::vector<std::byte> rounded(size);
    store_element(rounded.data(), stated.type, stated.values[i]);
    got.bytes.append(reinterpret_cast<const char*>(bytes.data()), size);
    expected.bytes.append(reinterpret_cast<const char*>(rounded.data()), size);
    const double value = load_element(bytes.data(), stated.type);
    if (value == load_element(rounded.data(), stated.type) ||
        (accuracy.first >= 0 && accuracy.first < stated.places[i]))
      continue;
    accuracy.first = stated.places[i];
    accuracy.got = value;
    accuracy.expected = stated.values[i];
  }
  HONE_ASSIGN(accuracy.difference, difference_of(got, expected));
  return accuracy;
}

bool matches(const SingleLaunch& launch, const StatedElements& stated) {
  double squares = 0;
  for (const double value : stated.values) squares += value * value;
  const auto count = static_cast<double>(stated.values.size());
  const double typical = std::sqrt(squares / count);
  double matching = 0;
  for (std::size_t i = 0; i < stated.values.size(); ++i) {
    const double value = load_element(launch.got(stated, i).data(), stated.type);
    const double off = std::abs(value - stated.values[i]);
    if (off <= kOfElement * std::abs(stated.values[i]) + kOfTypical * typical) ++matching;
  }
  return matching >= kMatching * count;
}

}  // namespace

Result<std::vector<std::vector<OutputAccuracy>>> accuracies_of(
    device::Device& device, const std::vector<device::Kernel*>& kernels,
    const problem::Dispatch& dispatch, std::uint64_t seed) {
  HONE_ASSIGN(const problem::Statement* const statement, problem::stated(dispatch.statement));
  HONE_ASSIGN(SingleLaunch launch,
              SingleLaunch::create(device, dispatch, OperandSet::kReals, seed, false));
  HONE_ASSIGN(const std::vector<StatedElements> stated,
              launch.elements(dispatch, *statement, {.seed = seed}));
  std::vector<std::vector<OutputAccuracy>> accuracies;
  for (device::Kernel* const kernel : kernels) {
    HONE_TRY(launch.run(*kernel));
    std::vector<OutputAccuracy>& outputs = accuracies.emplace_back();
    for (const StatedElements& each : stated) {
      if (!problem::is_float(each.type)) continue;
      HONE_ASSIGN(outputs.emplace_back(), accuracy_of(launch, each));
    }
  }
  return accuracies;
}

Result<int> find_mistake(device::Device& device, device::Kernel& kernel,
                         const problem::Dispatch& dispatch,
                         const std::vector<Suspicion>& suspicions, std::uint64_t seed) {
  for (const bool zeroed : {false, true}) {
    if (std::ranges::count(suspicions, zeroed, &Suspicion::adds_to_output) == 0) continue;
    HONE_ASSIGN(SingleLaunch launch,
                SingleLaunch::create(device, dispatch, OperandSet::kExact, seed, zeroed));
    HONE_TRY(launch.run(kernel));
    for (std::size_t s = 0; s < suspicions.size(); ++s) {
      if (suspicions[s].adds_to_output != zeroed) continue;
      bool matching = true;
      for (ElementSample sample : {kFewest, kFewElements}) {
        sample.seed = seed;
        if (!matching) break;
        // A suspicion that cannot be evaluated, or that reaches beyond a binding, does not match.
        const auto stated = launch.elements(dispatch, suspicions[s].statement, sample);
        matching = stated && std::ranges::all_of(*stated, [&](const StatedElements& each) {
                     return matches(launch, each);
                   });
      }
      if (matching) return static_cast<int>(s);
    }
  }
  return -1;
}

}  // namespace hone::measure
