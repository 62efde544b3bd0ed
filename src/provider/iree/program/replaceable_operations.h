// Operations of a program that a call of a kernel can replace before the compiler forms dispatches.
// A transform spec (--iree-preprocessing-transform-spec-filename) sees them in this form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "problem/statement.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/compiler/replacing_spec.h"

namespace hone::iree {

inline constexpr int kResultBinding = 2;  // of a ReplaceableOperation

// A contraction or convolution and the elementwise operations behind it (linalg.generic), as long
// as each is the only reader of the one before: its sums converted, a bias added, an activation.
struct ReplaceableOperation {
  // The compiler's name, the operand types, and the operations behind it:
  // "linalg.matmul(tensor<...>, ...) and behind it addf, maximumf".
  std::string name;
  // The computation as a dispatch states it, with dense tensors. lhs is binding 0, rhs 1, the
  // result 2, and the inputs of the operations behind the sums follow from 3 on. The statement
  // holds only the loads of these operations. Each operand also has its tensor's dimensions (read
  // by external::form_with_borders).
  problem::Statement statement;
  // Operations behind the sums, in order, without conversions: "addf", "erf".
  std::vector<std::string> behind;
  // Types by binding: "tensor<2x34x34x1280xf16>".
  std::vector<std::string> types;
  // The operations as the body of a block that transform.iree.match.cast_compatible_dag_from_root
  // compares. Its arguments are %arg0 (lhs), %arg1 (rhs) and then the inputs of the operations
  // behind the sums. Attributes are written out, and the last operation gives the result. Empty for
  // an operation of another form.
  std::string dag;
  std::vector<ScalarFunction> scalars;  // that dag calls
  std::string body, value;              // it as it is in the program (OperationText)
  // Reason why the longest chain ends, such as the next operation, which is no such step. Empty for
  // the shorter chains, and if nothing follows.
  std::string stopped_by;
  int product = 0;  // which of the list is the same contraction with nothing behind it
  int count = 0;    // of the program's operations that are so

  static void fields(auto& operation, auto&& field) {
    field("name", operation.name);
    field("statement", operation.statement);
    field("types", operation.types);
    field("dag", operation.dag);
    field("scalars", operation.scalars);
    field("body", operation.body);
    field("value", operation.value);
    field("behind", operation.behind);
    field("stopped_by", operation.stopped_by);
    field("product", operation.product);
    field("count", operation.count);
  }
};

// A module with that operation alone, as a function of its inputs.
std::string program_of(const ReplaceableOperation& operation);

// Lists a program's products, each alone and then with one more step behind it at a time. It reads
// the program at the end of phase `preprocessing`, in which such specs run last. Equal operations
// are listed once. Input error with the compiler's words if it does not accept program or flags.
Result<std::vector<ReplaceableOperation>> replaceable_operations(
    const CompilerLibrary& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags);

}  // namespace hone::iree
