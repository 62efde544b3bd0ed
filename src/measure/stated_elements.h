// Elements of a dispatch's outputs in double precision, by what it states of itself
// (problem/statement.h): no compiler has a part in them, and nothing is rounded on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/statement.h"

namespace hone::measure {

// Some elements of what one store writes.
struct StatedElements {
  int binding = -1;  // of the dispatch
  problem::ElementType type = problem::ElementType::kF32;
  std::vector<std::int64_t> places;  // in the binding, in elements of `type`
  std::vector<double> values;
};

struct ElementSample {
  // A sample has no more elements, and takes about so many multiplications at most.
  std::size_t elements = 16384;
  double products = 1 << 25;
  std::uint64_t seed = 1;
};

// A sample of each store's elements, drawn by the seed, the first and the last one always among
// them. Of attention all elements of some queries. `statement`: the dispatch's own, or another with
// the same loops and views. `inputs`: by binding what it holds before the launch; empty for what is
// not read. Input errors: views that are no binding of the dispatch, elements beyond its end, an
// operation behind the root that is not known here.
Result<std::vector<StatedElements>> stated_elements(
    const problem::Dispatch& dispatch, const problem::Statement& statement,
    std::span<const std::span<const std::byte>> inputs, const ElementSample& sample = {});

// The value of one operation behind a root: "arith.addf" of what it is given, as real numbers.
// `operand`: the type of the first of them. Input error for one that is not known.
Result<double> stated_value(const problem::StatedValue& value, std::span<const double> operands,
                            problem::ElementType operand);

}  // namespace hone::measure
