// Ranges of the integers in a program, derived from known ranges of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/program/value_range.h"

namespace hone::iree {

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
