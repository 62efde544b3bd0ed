// Operations of a program as text that stands alone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/replacing_spec.h"

namespace hone::iree {

// Text of a program's operations: as a pattern that a transform spec compares with a program, and
// as a program of their own.
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
  bool is_everywhere = false;  // wherever the operations read the same value
};

// `operations`: in the order of the program; each but the last is read by others of them only.
// `given`: their arguments, in order; a value that is read twice is given twice, unless it is
// given everywhere: a pattern then asks for one value. Operations are
// cloned, not parsed again from text. A failure for operations with other outside inputs than given
// values and constants.
Result<OperationText> text_of_operations(const CompilerSession& session,
                                         const std::vector<MlirOperation>& operations,
                                         const std::vector<Given>& given);

}  // namespace hone::iree
