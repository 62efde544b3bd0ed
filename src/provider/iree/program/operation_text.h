// Text of a program's operations: as a pattern that a transform spec compares with a program, and
// as a program of their own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {

// A scalar operation that reads constants from outside of its body, as a function of its other
// inputs. transform.iree.match.cast_compatible_dag_from_root compares bodies (IREE 3.13). It never
// matches two values from outside, not even equal constants, but it does match calls of one
// function. So the spec calls this function in place of the operation before it looks for patterns,
// and inlines the remaining calls.
struct ScalarFunction {
  std::string name;                     // of what it is: equal ones have one
  std::vector<std::string> parameters;  // types, of %arg0, ...
  std::string result;                   // type
  std::string body;                     // lines of operations, each with its attributes written out
  std::string value;                    // what of the body is the result: "%0"

  bool operator==(const ScalarFunction&) const = default;
};

struct OperationText {
  // The body of a block whose arguments are %arg0, ...: the operations from first to last with
  // their fills, empty tensors and constants.
  std::string dag;
  std::vector<ScalarFunction> scalars;  // that dag calls
  // The same body with constants as they are in the program, and the name of its result: "%3".
  std::string body;
  std::string value;
};

// A value that comes from outside of the operations: operand `index` of `operation`.
struct Given {
  MlirOperation operation;
  std::size_t index = 0;
};

// `operations`: in the order of the program; each but the last is read by others of them only.
// `given`: their arguments, in order; a value that is read twice is given twice. Operations are
// cloned, not parsed again from text. A failure for operations with other outside inputs than given
// values and constants.
Result<OperationText> text_of_operations(const CompilerSession& session,
                                         const std::vector<MlirOperation>& operations,
                                         const std::vector<Given>& given);

void to_json(nlohmann::json& json, const ScalarFunction& function);
void from_json(const nlohmann::json& json, ScalarFunction& function);

}  // namespace hone::iree
