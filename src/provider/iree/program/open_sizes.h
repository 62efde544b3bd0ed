// The sizes that a program leaves open until run time: extents of its functions' arguments. Users
// name a size in one of three ways:
// - as their model does: "batch";
// - by the argument: "input0.1" is the second extent of the first one, as IREE's own declaration
//   counts;
// - by its role in a contraction: "M", "N", "K", "B" of a batch; "M0", "M1" if it has several.
// Extents that must be equal are one size, which is given once.
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
#include "provider/iree/compiler/onnx_import.h"
#include "provider/iree/compiler/sizes.h"

namespace hone::iree {

class OpenSizes {
 public:
  // Collects the open sizes of these functions. Extents of one name are one size.
  OpenSizes(const std::vector<problem::Function>& functions, const SizeNames& names);
  bool empty() const { return all_.empty(); }

  // Sizes in which each open size has a unique value, its mark, that occurs nowhere else. An extent
  // with that value is that size.
  Sizes marked(const Ir& ir) const;
  // Unites extents that one loop of an operation in `program` walks. The program is at phase
  // `input`, where operations still take the functions' own tensors.
  void equate_in(const Ir& ir, const OwnedModule& program);
  // Unites extents that one loop of `operation` walks. Its loop sizes come from marked().
  void equate_by(const problem::Operation& operation);
  // Names the sizes of the loops of `root`, whose loop sizes come from marked() too.
  void name_by(const problem::Operation& root);

  // Gives sizes. "input0.1" and a model's name take precedence over "M". Input errors: an unknown
  // name (the error lists the missing sizes); two values for one size.
  Status give(const problem::GivenSizes& given);
  // Sizes in which the given values are known. Here and in marked(), a value that a loop changes
  // has its value in the first turn: hone measures the launches there.
  Sizes given(const Ir& ir) const;
  // Fills the given sizes into the function's argument types and lists the missing ones.
  void fill_in(problem::Function& function) const;

  // "--dim M=SIZE (or input0.0=SIZE)" for the size with this mark; all missing sizes if none has
  // it.
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

// Sets the sizes of a kernel's launch in an operation that describe_operation() returned. Unknown
// sizes stay kDynamic, and operands may disagree. Input error for an open extent that is not a
// single loop's.
Status set_sizes(const Ir& ir, MlirOperation root, const Sizes& sizes,
                 problem::Operation& described);

}  // namespace hone::iree
