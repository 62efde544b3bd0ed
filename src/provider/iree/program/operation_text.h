// Operations of a program written anew: as a pattern that a transform spec compares with a program,
// and as a program of their own.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/compiler_session.h"

namespace hone::iree {

// An operation on single values that reads constants from outside of the body that it is in, as a
// function of what else it reads. transform.iree.match.cast_compatible_dag_from_root compares
// bodies, and there never takes a value from outside for another one, not even equal constants
// (IREE 3.13); calls of one function it does. So the spec calls this in the operation's place
// before it looks for patterns, and inlines what is left of it.
struct ScalarFunction {
  std::string name;                     // of what it is: equal ones have one
  std::vector<std::string> parameters;  // types, of %arg0, ...
  std::string result;                   // type
  std::string body;                     // lines of operations, each with its attributes written out
  std::string value;                    // what of the body is the result: "%0"

  bool operator==(const ScalarFunction&) const = default;
};

struct OperationText {
  // The body of a block whose arguments are %arg0, ...: the operations from first to last with what
  // they are made of (fills, empty tensors, constants).
  std::string dag;
  std::vector<ScalarFunction> scalars;  // that dag calls
  // The same with constants as they are in the program, and what of it is the result: "%3".
  std::string body;
  std::string value;
};

// A value that comes from outside of the operations: operand `index` of `operation`.
struct Given {
  MlirOperation operation;
  std::size_t index = 0;
};

// `operations`: in the order of the program; each but the last is read by others of them only.
// `given`: their arguments, in order; a value that is read twice is given twice. Nothing written
// in the program is read again as text: operations are cloned. A failure for operations that take
// something else from outside than given values and constants.
Result<OperationText> text_of_operations(const CompilerSession& session,
                                         const std::vector<MlirOperation>& operations,
                                         const std::vector<Given>& given);

void to_json(nlohmann::json& json, const ScalarFunction& function);
void from_json(const nlohmann::json& json, ScalarFunction& function);

}  // namespace hone::iree
