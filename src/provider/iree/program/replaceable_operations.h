// Operations of a program that a kernel may be called for instead, before the compiler forms
// dispatches: where a transform spec (--iree-preprocessing-transform-spec-filename) sees them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/program/operation_text.h"

namespace hone::iree {

inline constexpr int kResultBinding = 2;  // of a ReplaceableOperation

// A contraction or convolution and the elementwise operations behind it (linalg.generic), as long
// as each is the only reader of the one before: its sums converted, a bias added, an activation.
struct ReplaceableOperation {
  // The compiler's, its types, and what is behind it:
  // "linalg.matmul(tensor<...>, ...) and behind it addf, maximumf".
  std::string name;
  // What it computes, as problem::Dispatch::statement says it: its tensors lie densely, lhs as
  // binding 0, rhs as 1, the result as 2, and what is read behind the sums from 3 on. Of what is
  // computed there the statement has nothing but these loads. Each operand has its tensor's
  // "dimensions" too (what external::form_with_borders reads). {"why_not": "..."} for what is of
  // another form.
  std::string statement;
  // What is computed behind the sums, in its order: "addf", "erf". Conversions are left out.
  std::vector<std::string> behind;
  // Types by binding: "tensor<2x34x34x1280xf16>".
  std::vector<std::string> types;
  // It as the body of a block whose arguments are %arg0 (lhs), %arg1 (rhs) and then what is read
  // behind the sums, each operation with its attributes written out: what
  // transform.iree.match.cast_compatible_dag_from_root compares. The last operation gives the
  // result. Empty for what is of another form.
  std::string dag;
  std::vector<ScalarFunction> scalars;  // that dag calls
  std::string body, value;              // it as it is in the program (OperationText)
  // Of the one with most behind it: what comes next, and is no such step. Empty for the others, and
  // where nothing comes.
  std::string stopped_by;
  int product = 0;  // which of the list is the same contraction with nothing behind it
  int count = 0;    // of the program's operations that are so
};

// A module with that operation alone, as a function of what it reads.
std::string program_of(const ReplaceableOperation& operation);

// A program's products, each alone and with every step more behind it, in this order, at the end of
// phase `preprocessing`, in which specs of that kind come last; equal ones once. Input error with
// the compiler's words when it does not accept program or flags.
Result<std::vector<ReplaceableOperation>> replaceable_operations(
    const Library& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags);

void to_json(nlohmann::json& json, const ReplaceableOperation& operation);
void from_json(const nlohmann::json& json, ReplaceableOperation& operation);

}  // namespace hone::iree
