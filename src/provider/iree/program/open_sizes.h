// The sizes that a program leaves open until run time: extents of its functions' arguments. Users
// name them as their model does ("batch"), by the argument ("input0.1": the second extent of the
// first one, as IREE's own declaration counts) or by what they are to a contraction ("M", "N", "K",
// "B" of a batch; "M0", "M1" where it has several). Extents that must be equal are one size, which
// is given once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/given_size.h"
#include "provider/iree/compiler/size_names.h"
#include "provider/iree/compiler/sizes.h"

namespace hone::iree {

class OpenSizes {
 public:
  // Those of these functions. Extents of one name are one size.
  OpenSizes(const std::vector<problem::Function>& functions, const SizeNames& names);
  bool empty() const { return all_.empty(); }

  // Sizes in which each open one has a value of its own, which occurs nowhere else: what has that
  // value is that size.
  Sizes marked(const Ir& ir) const;
  // Takes extents as one size that a loop of an operation in `program` walks, which is at phase
  // `input`: there the operations have the tensors that the functions are given.
  void equate_in(const Ir& ir, const OwnedModule& program);
  // Takes extents that one loop of `operation` walks, whose sizes come of marked(), as one size.
  void equate_by(const problem::Operation& operation);
  // Names those that loops of `root` have, likewise.
  void name_by(const problem::Operation& root);

  // Gives sizes. "input0.1" and a name of the model's go before "M". Input errors: a name that none
  // has, with those that are missing; two values for one size.
  Status give(const problem::GivenSizes& given);
  // Sizes in which what was given is known. Both kinds have what a loop changes as in its first
  // turn: the launches there are hone's to measure.
  Sizes given(const Ir& ir) const;
  // The argument types of the function with what was given, and what is missing still.
  void fill_in(problem::Function& function) const;

  // "--dim M=SIZE (or input0.0=SIZE)" for one that a loop of marked() sizes has; all that are
  // missing, where none has that size.
  std::string how_to_give(std::int64_t mark) const;

 private:
  struct Extent {
    std::string function;
    int argument = 0, dimension = 0;
    auto operator<=>(const Extent&) const = default;
    std::string name() const;  // "input0.1"
  };
  // Extents that are one size.
  struct Size {
    std::set<std::string> names;      // the model's
    std::set<std::string> roles;      // in contractions
    std::set<std::string> arguments;  // "input0.1"
    std::int64_t value = problem::kDynamic;
    std::string given_by = {};  // for messages
  };

  void unite(std::size_t a, std::size_t b);
  std::optional<std::size_t> with_mark(std::int64_t mark) const;  // the index of its size
  Status set(Size& size, std::int64_t value, const std::string& given_by);
  Status give_shape(const problem::GivenShape& given, const problem::Function& function);
  Sizes with(const Ir& ir, const std::map<Extent, std::int64_t>& values) const;
  std::string missing() const;
  static std::vector<std::string> names_of(const Size& size);  // the best one first

  std::map<Extent, std::size_t> all_;  // the index of its size
  std::map<std::int64_t, Extent> by_mark_;
  std::vector<Size> sizes_;  // those that were united with others are left empty
  std::vector<problem::Function> functions_;
};

// Puts the sizes that the kernel is launched with into an operation as describe_operation gives
// it; what is not known stays kDynamic, and operands may disagree. Input error for an open extent
// that is no single loop's.
Status set_sizes(const Ir& ir, MlirOperation root, const Sizes& sizes,
                 problem::Operation& described);

}  // namespace hone::iree
