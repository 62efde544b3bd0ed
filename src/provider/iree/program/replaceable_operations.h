// Operations of a program that a kernel may be called for instead, before the compiler forms
// dispatches: where a transform spec (--iree-preprocessing-transform-spec-filename) sees them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// A contraction or convolution, with the conversion of its sums to another type behind it where
// nothing else reads them.
struct ReplaceableOperation {
  std::string name;  // the compiler's, and its types: "linalg.conv_2d_nhwc_fhwc(tensor<...>, ...)"
  // What it computes, as problem::Dispatch::statement says it: its tensors lie densely, lhs as
  // binding 0, rhs as 1, the result as 2, and nothing is read behind the sums. Each operand has its
  // tensor's "dimensions" too (what external::form_with_borders reads). {"why_not": "..."} for what
  // is of another form.
  std::string statement;
  // Types of lhs, rhs and result: "tensor<2x34x34x1280xf16>".
  std::vector<std::string> types;
  // It as the body of a block whose arguments are %arg0 (lhs) and %arg1 (rhs), each operation with
  // its attributes written out: what transform.iree.match.cast_compatible_dag_from_root compares.
  // The last operation gives the result. Empty for what is of another form.
  std::string dag;
  int count = 0;  // of the program's operations that are so
};

// A program's, at the end of phase `preprocessing`, in which specs of that kind come last; equal
// ones once. Input error with the compiler's words when it does not accept program or flags.
Result<std::vector<ReplaceableOperation>> replaceable_operations(
    const Library& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags);

void to_json(nlohmann::json& json, const ReplaceableOperation& operation);
void from_json(const nlohmann::json& json, ReplaceableOperation& operation);

}  // namespace hone::iree
