// The parameters that a program takes from files: weights that are no part of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "problem/types.h"

namespace hone::iree {

struct ProgramParameter {
  std::string scope;  // which of the files; empty: the one without scope
  std::string key;    // its name there
  problem::TensorType type;

  bool operator==(const ProgramParameter&) const = default;
};

// Lists the parameters that the program's text or bytecode names, each once, in the order of the
// text. The compiler prints them, and keeps them in bytecode, as
//   #flow.parameter.named<"model"::"weight"> : tensor<4x8xf32>
// (#stream.parameter.named too). A parameter of a type that hone does not know is omitted.
std::vector<ProgramParameter> parameters_in(std::string_view program);

}  // namespace hone::iree
