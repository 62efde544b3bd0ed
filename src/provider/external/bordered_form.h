// A kernel for an operation that does not have its form: what has to be put around the kernel so
// that it has. Inside of a dispatch nothing can be; in a program, before dispatches are formed,
// operands can be transposed and converted (hone spec external).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "provider/external/dispatch_form.h"

namespace hone::external {

// What stands between an operand as the program has it and as the kernel reads or writes it.
struct Border {
  std::string operand;  // by the manifest's name
  int binding = 0;      // of the statement: 0 lhs, 1 rhs, 2 the result, then what is read behind
  bool result = false;  // it goes from the kernel to the program, else to the kernel
  // The dimensions' names before and behind the border, the outermost first, without those of one
  // element. Equal where it only converts.
  std::vector<std::string> from, to;
  // By dimension of the kernel's tensor: which one of the program's it is. Empty where it only
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

// Of an operation whose statement says its tensors' dimensions (iree::ReplaceableOperation). Of all
// ways to transpose its operands into the manifest's layouts that which moves the fewest bytes
// while the program runs; none where it has the form as it is. Floating-point types are converted
// into one another, integers are not. Errors as form_by_line(), of what is left to be wrong then.
Result<BorderedForm> form_with_borders(const ExternalKernel& kernel, const std::string& statement);

}  // namespace hone::external
