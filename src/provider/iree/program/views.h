// The views that a kernel has of its buffers (hal.interface.binding.subspan), hone's choice of
// their begins, and what is read through them: bindings and the computation.
//
// IREE packs a program's weights into one buffer and its intermediate results into another. A
// kernel that is launched for several layers reads from constants where its pieces begin. Those
// constants are addresses: hone chooses its own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/computation.h"
#include "problem/dispatch.h"
#include "provider/iree/program/launches.h"

namespace hone::iree {

// Launches of a kernel that differ only in where its views begin. Two views overlap in all of these
// launches or in none.
struct LaunchSet {
  std::vector<std::int64_t> workload;
  std::vector<std::vector<std::uint32_t>> constants;  // of each different launch
  CountByFunction in_functions;                       // launches
  bool known = true;  // false: it is launched with values that only running it tells
};
// Groups launches into sets; one set without constants if the launches are not known. A view whose
// begin alone is unknown begins behind the others. `function`: the kernel's, at executable-sources
// or executable-configurations.
std::vector<LaunchSet> launch_sets(const Ir& ir, MlirOperation function, const Launches& launches);

struct View {
  int ordinal = 0;                          // of the binding
  std::int64_t offset = 0;                  // bytes from the binding's begin
  std::int64_t bytes = 0;                   // 0 while an extent is not known
  std::optional<problem::TensorType> type;  // nothing for one that hone does not know
  std::vector<MlirOperation> subspans;      // that give it

  std::string text;  // the compiler's type
};

// The views of a kernel in one launch set. Use from one thread, and only while the module does not
// change.
class Views {
 public:
  // Chooses addresses within the compiler's assumptions (util.assume.int: range and divisor;
  // multiples of 64 if it states none). They leave room for a guard between two views of a binding
  // (problem::kGuardBytes) if possible; otherwise they are those of one of the launches. Views that
  // are identical in every launch are one view, and so are views that overlap in part.
  Views(const Ir& ir, MlirOperation function, const LaunchSet& set);

  const std::vector<View>& all() const { return all_; }  // by ordinal
  // The index in all() of the view of a hal.interface.binding.subspan operation; -1 if there is
  // none.
  int of(MlirOperation subspan) const;

  // The launch constants: the values of the set, and the chosen addresses.
  const std::vector<std::uint32_t>& constants() const { return constants_; }
  // The constants with zeros for addresses: the kernel's result depends on these only.
  const std::vector<std::uint32_t>& values() const { return values_; }

 private:
  std::vector<View> all_;
  std::map<MlirOperation, int> of_subspan_;
  std::vector<std::uint32_t> constants_, values_;
};

// A view's begin in the program, for code that the launch tells it, as it tells IREE's own code.
struct ViewPosition {
  bool known = false;  // false: it is computed in some other way
  int ordinal = 0;
  std::int64_t offset = 0;         // bytes; added to what the words say
  std::vector<std::size_t> words;  // of the launch's constants, the lower 32 bits first; or none
  std::int64_t multiple = 1;       // bytes that offset and words together are a multiple of
};
// `subspan`: an operation hal.interface.binding.subspan.
ViewPosition position_of(const Ir& ir, MlirOperation subspan);

// The bindings of a dispatch in hone's terms (bindings.cc).

// Describes each view as a binding. A view that the root operation's operands are traced back to is
// a root input. Input error for a type hone does not know.
Result<std::vector<problem::Binding>> describe_bindings(const Ir& ir, MlirOperation function,
                                                        MlirOperation root, const Views& views);

// Returns for each operand of the root operation the index of the view whose whole content it is,
// or, for an output, becomes. -1 if anything but a reshape lies between
// (problem::Dispatch::root_bindings). `kernel`: known integers of the kernel.
std::vector<int> root_bindings(const Ir& ir, MlirOperation function, MlirOperation root,
                               const Sizes& kernel, const Views& views);

// The computation of a dispatch, value by value (computation.cc).

// Reads the values that reach a store of `function` (at executable-sources). It follows linalg
// operations and their bodies, reshapes, slices, paddings, softmax and attention. Any other
// operation is an ElementValue of kind kUnknown, made of what it reads. `root` (may be null) marks
// the root operation's results.
problem::Computation read_computation(const Ir& ir, MlirOperation function, MlirOperation root,
                                      const Views& views);

}  // namespace hone::iree
