// Computes elements of a dispatch's outputs in double precision from its own statement
// (problem/statement.h). No compiler takes part, and nothing is rounded on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/statement.h"

namespace hone::measure {

// Some elements that a store writes.
struct StatedElements {
  int binding = -1;  // of the dispatch
  problem::ElementType type = problem::ElementType::kF32;
  std::vector<std::int64_t> places;  // in the binding, in elements of `type`
  std::vector<double> values;
};

struct ElementSample {
  // Most elements of a sample, and about the most multiplications.
  std::size_t elements = 16384;
  double products = 1 << 25;
  std::uint64_t seed = 1;
};

// Returns a sample of each store's elements, drawn by the seed; it always contains the first and
// the last. For attention, it has all elements of some queries. `statement`: the dispatch's own, or
// another with the same loops and views. `inputs`: contents by binding before the launch; empty for
// bindings that are not read. Input errors: views that are no binding of the dispatch, elements
// beyond its end, an unknown operation behind the root.
Result<std::vector<StatedElements>> stated_elements(
    const problem::Dispatch& dispatch, const problem::Statement& statement,
    std::span<const std::span<const std::byte>> inputs, const ElementSample& sample = {});

// Returns the value of an operation behind a root, such as "arith.addf", on its operands as real
// numbers (ScalarFacts::value, and what depends on the integers' types). `operand`: the type of the
// first operand. Input error for an unknown operation.
Result<double> stated_value(const problem::StatedValue& value, std::span<const double> operands,
                            problem::ElementType operand);

}  // namespace hone::measure
