// Whether a kernel computes what a dispatch does, by form: the operation, where its operands lie,
// their types. That it computes the same numbers is found out by running it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "problem/statement.h"
#include "provider/external/external_kernel.h"

namespace hone::external {

// The begin of an operand: `offset` bytes behind the start of binding `binding`, plus the number of
// bytes that the constants `words` say (none; the low 32 bits; low and high).
struct Place {
  int binding = 0;
  std::int64_t offset = 0;
  std::vector<int> words;

  bool operator==(const Place&) const = default;
};

// A dispatch as the kernel's manifest speaks of it.
struct DispatchForm {
  std::map<std::string, space::Value> sizes;  // of names_in_manifest() but the device's
  std::map<std::string, Place> operands;      // by the manifest's names
  std::string entry;                          // of the kernel that it takes the place of
  int bindings = 0, constants = 0;            // what that is launched with
};

// The same with what it was read from: loops of one step are left out, of a matmul neighbours are
// joined, and lhs and rhs may have been exchanged.
struct NamedStatement {
  problem::Statement statement;
  std::vector<std::string> loops;  // the manifest's name of each: "K", "HO"
  DispatchForm form;
};
Result<NamedStatement> named_statement(const ExternalKernel& kernel, const std::string& statement);

// A loop that a manifest can speak of, and what it is in a statement.
struct NamedLoop {
  const char *name, *role;
};
std::span<const NamedLoop> named_loops(bool convolution);
// The role where lhs and rhs are exchanged: m and n for one another.
std::string turned_role(const std::string& role);
// The dimension of an image that the loop called so walks, of other tensors the loop itself.
std::string dimension_walked(const std::string& loop, bool image);

// Where the first element of a use of `statement` lies.
Place place_of(const problem::Statement& statement, const problem::StatedUse& use);

// `statement`: what the dispatch states (problem::Dispatch::statement). An input error that
// says what of it the kernel is not for: "C is f32, and the kernel's is f16".
Result<DispatchForm> form_of(const ExternalKernel& kernel, const std::string& statement);
// The same; where it is an operand that does not fit, its place in the manifest comes first.
Result<DispatchForm> form_by_line(const ExternalKernel& kernel, const std::string& statement);

}  // namespace hone::external
