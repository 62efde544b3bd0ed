// The sizes that a program leaves open until run time: extents of its functions' arguments. Users
// name them by the argument ("input0.1": the second extent of the first one, as IREE's own
// declaration counts) or by what they are to a contraction ("M", "N", "K", "B" of a batch; "M0",
// "M1" where it has several).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "provider/iree/compiler/sizes.h"

namespace hone::iree {

class OpenSizes {
 public:
  // Those of a program at executable-sources.
  static OpenSizes find(const Ir& ir, const OwnedModule& program);
  bool empty() const { return all_.empty(); }

  // Sizes in which each open one has a value of its own, which occurs nowhere else: what has that
  // value is that size.
  Sizes marked(const Ir& ir) const;
  // Names those that loops of `root` have, whose sizes come of marked().
  void name_by(const problem::Operation& root);

  // Gives sizes to all that a name stands for; "input0.1" goes before "M". Input error for a name
  // that none has, with those there are.
  Status give(const std::vector<problem::GivenSize>& sizes);
  // Sizes in which what was given is known.
  Sizes given(const Ir& ir) const;
  // The argument types of the program's functions with what was given.
  void fill_in(problem::Function& function) const;

  // "--dim M=SIZE (or input0.0=SIZE)" for one that a loop of marked() sizes has; all of them, where
  // none has that size.
  std::string how_to_give(std::int64_t mark) const;

 private:
  using Extent = std::pair<int, int>;  // argument, dimension
  struct Open {
    std::int64_t mark = 0;
    std::set<std::string> roles;
    std::int64_t size = problem::kDynamic;
  };

  Sizes with(const Ir& ir, std::map<Extent, std::int64_t> values) const;
  std::string names() const;

  std::map<Extent, Open> all_;
};

// Puts the sizes that the kernel is launched with into a root operation as describe_operation gives
// it; what is not known stays kDynamic, and operands may disagree. Input error for an open extent
// that is no single loop's.
Status set_sizes(const Ir& ir, MlirOperation root, const Sizes& sizes,
                 problem::Operation& described);

}  // namespace hone::iree
