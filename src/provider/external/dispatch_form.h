// Whether a kernel has the form of a dispatch: its operation, the layouts of its operands, their
// types. Only running it shows whether it computes the same numbers.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "problem/statement.h"
#include "provider/external/external_kernel.h"

namespace hone::external {

// Start of an operand: `offset` bytes behind the start of binding `binding`, plus the bytes in the
// constants `words` (none; the low 32 bits; low and high).
struct OperandPlace {
  int binding = 0;
  std::int64_t offset = 0;
  std::vector<int> words;

  bool operator==(const OperandPlace&) const = default;
};

// A dispatch in the terms of the kernel's manifest.
struct DispatchForm {
  std::map<std::string, space::Value> sizes;     // that the manifest may name, but the device's
  std::map<std::string, OperandPlace> operands;  // by the manifest's names
  std::string entry;                             // of the kernel that it takes the place of
  int bindings = 0, constants = 0;               // what that is launched with
};

// A DispatchForm with its statement. Loops of one step are dropped, neighbours of a matmul are
// joined, and lhs and rhs may be exchanged.
struct NamedStatement {
  problem::Statement statement;
  std::vector<std::string> loops;  // the manifest's name of each: "K", "HO"
  DispatchForm form;
};
// An input error says what does not fit the kernel: "C is f32, and the kernel's is f16".
Result<NamedStatement> named_statement(const ExternalKernel& kernel,
                                       const problem::Statement& statement);

// A loop that a manifest can name, and its role in a statement.
struct NamedLoop {
  const char* name;
  problem::LoopRole role;
};
std::span<const NamedLoop> named_loops(bool convolution);
// Role with lhs and rhs exchanged: m and n for one another.
problem::LoopRole turned_role(problem::LoopRole role);
// Dimension of an image that the loop `loop` walks; of other tensors the loop itself.
std::string dimension_walked(const std::string& loop, bool image);

// Place of the first element of a use of `statement`.
OperandPlace place_of(const problem::Statement& statement, const problem::StatedUse& use);

// The same form alone. An error about an operand begins with its place in the manifest.
Result<DispatchForm> form_by_line(const ExternalKernel& kernel,
                                  const problem::Statement& statement);

}  // namespace hone::external
