// Valid ranges of a function's integer arguments, derived from their uses in the program.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Returns the integer inputs of `function` that index, size or count something, one entry each. An
// index gets the largest range for which every access lies within its tensor. Without such a range,
// and for a shape or a trip count, the entry says so (InputRange::unknown). `module` is the program
// after phase `input`. An extent that the program leaves open comes from the function's inputs, if
// these have it. Values are followed through casts, arithmetic, selections, scans, sums, reshapes
// and calls.
std::vector<problem::InputRange> argument_ranges(const Ir& ir, const OwnedModule& module,
                                                 const problem::Function& function);

// Parts of the analysis: arithmetic on ranges (value_range.cc), and the ranges of a program's
// values (range_evaluation.cc).

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The range of a value, or of each element of a tensor, and the inputs that it is computed from.
struct Range {
  double least = -kUnbounded, most = kUnbounded;
  std::set<int> inputs = {};
};

// The smallest range that contains both.
Range hull(Range a, const Range& b);
// 0 x infinity is 0 here: no element is infinite.
double times(double a, double b);
// The range of an arith operation on two values, without `inputs`; nothing for an unknown
// operation.
std::optional<Range> range_of_two(std::string_view kind, const Range& a, const Range& b);
// Whether "a PREDICATE b" holds, by arith.cmpi's numbers: eq ne slt sle sgt sge ult ule ugt uge.
std::optional<bool> decided(std::int64_t predicate, const Range& a, const Range& b);
// Narrows `a` to the values for which "a PREDICATE b" holds, or does not; nothing if there are
// none.
std::optional<Range> narrowed(Range a, std::int64_t predicate, bool holds, const Range& b);

// Operations that a call of a function reaches: its own and those of the functions that it calls.
// Use from one thread, and only while the module does not change. `function` must outlive it.
class ReachedOperations {
 public:
  // Reads a program after phase `input`. If it has no such function, nothing is reached.
  ReachedOperations(const Ir& ir, const OwnedModule& module, const problem::Function& function);

  // Operations in the program's order, without calls.
  const std::vector<MlirOperation>& all() const { return all_; }
  // Calls of one of the functions, a util.func.
  std::vector<MlirOperation> calls_of(MlirOperation function) const;
  // The function that a util.call calls; a null handle where it is not known.
  MlirOperation callee(MlirOperation call) const;
  // The function's input that a value is, directly or passed on by one call.
  std::optional<std::size_t> input_of(MlirValue value) const;
  // Extent `d` of a tensor; kDynamic if it is open. The extent of an input that the program leaves
  // open comes from the function.
  std::int64_t extent_of(MlirValue tensor, std::size_t d) const;
  // Extents of all loops of a linalg.generic.
  std::vector<std::int64_t> loop_extents(MlirOperation generic) const;

 private:
  void reach(MlirOperation function);
  std::int64_t input_extent(MlirValue value, std::size_t d) const;

  Ir ir_;
  const problem::Function& function_;
  std::map<std::string, MlirOperation> functions_;
  std::map<MlirOperation, std::vector<MlirOperation>> calls_;  // by the function called
  std::set<MlirOperation> reached_;
  std::vector<MlirOperation> all_;
};

// The range of a value, or of each element of a tensor: followed through casts, arithmetic,
// selections, scans, sums, reshapes, branches and calls. `inputs`: those of the function's inputs.
Range range_in(const Ir& ir, const ReachedOperations& reached, const std::string& function,
               const std::vector<Range>& inputs, MlirValue value);

}  // namespace hone::iree
