// A kernel for an operation that does not have its form, and the transposes and conversions around
// it that make it fit. Nothing can be added inside a dispatch. In a program, before dispatches are
// formed, operands can be transposed and converted (hone spec external).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "provider/external/dispatch_form.h"

namespace hone::external {

// Transpose or conversion between an operand of the program and the kernel's.
struct Border {
  std::string operand;  // by the manifest's name
  int binding = 0;      // of the statement: 0 lhs, 1 rhs, 2 the result, then what is read behind
  bool result = false;  // it goes from the kernel to the program, else to the kernel
  // Names of the dimensions before and behind the border, the outermost first, without those of one
  // element. Equal if it only converts.
  std::vector<std::string> from, to;
  // Index of the program's dimension, by dimension of the kernel's tensor. Empty if it only
  // converts.
  std::vector<int> permutation;
  problem::ElementType from_type = problem::ElementType::kF32, to_type = problem::ElementType::kF32;
  std::int64_t bytes = 0;  // of the operand as the kernel has it
  bool constant = false;   // known before the program runs, and so is what the kernel reads

  bool transposes() const { return !permutation.empty(); }
  bool converts() const { return from_type != to_type; }
};

// "filter: transposed from KH x KW x C x O to O x KH x KW x C, 29.5 MB".
std::string in_words(const Border& border);

struct BorderedForm {
  DispatchForm form;  // behind the borders
  std::vector<Border> borders;
};

// Finds the borders for an operation whose statement has its tensors' dimensions
// (iree::ReplaceableOperation). Of all transposes into the manifest's layouts, it chooses those
// that move the fewest bytes while the program runs. No borders if the operation already has the
// form. Floating-point types are converted into one another, integers are not. Errors as of
// form_by_line(), for what no border can fix.
Result<BorderedForm> form_with_borders(const ExternalKernel& kernel,
                                       const problem::Statement& statement);

}  // namespace hone::external
