// A tuning spec of any date as text: its aliases, its sequences and the pairs of its foreach_match.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/spec_upgrade/mlir_text.h"

namespace hone::iree {

// An operation of the spec's module: a named sequence, or a function that it calls.
struct SpecOperation {
  std::string symbol;               // without the at sign; "" if it has none
  std::size_t first = 0, last = 0;  // tokens [first, last)
  std::size_t body = 0;             // the token of its brace; `last` if it has none
  bool is_sequence = false;
};

struct SpecPair {
  std::string matcher, action;
  std::size_t first = 0, last = 0;  // tokens [first, last) of "@matcher -> @action"
};

class SpecFile {
 public:
  // Input errors: text that is no MLIR, no module or more than one, no @__kernel_config with a
  // foreach_match directly in it. `path` names the file in messages.
  static Result<SpecFile> read(std::string text, const std::string& path);

  const MlirText& text() const { return text_; }
  const std::vector<SpecOperation>& operations() const { return operations_; }
  const SpecOperation* find(const std::string& symbol) const;
  const SpecOperation& entry_point() const { return operations_[entry_point_]; }
  const std::vector<SpecPair>& pairs() const { return pairs_; }  // in order

  const MlirAliases& aliases() const { return aliases_; }

 private:
  Status read_top(const std::string& path);
  void read_operations(std::size_t open);
  Status read_pairs(const std::string& path);

  MlirText text_;
  std::vector<SpecOperation> operations_;
  std::size_t entry_point_ = 0;
  std::vector<SpecPair> pairs_;
  MlirAliases aliases_;
};

}  // namespace hone::iree
