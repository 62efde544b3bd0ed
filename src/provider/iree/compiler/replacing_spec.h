// A transform spec that replaces operations of an unmodified program by calls of functions, before
// the compiler forms dispatches (IREE 3.13).
#pragma once

#include <string>
#include <vector>

#include "base/json_fields.h"

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
  static void fields(auto& function, auto&& field) {
    field("name", function.name);
    field("parameters", function.parameters);
    field("result", function.result);
    field("body", function.body);
    field("value", function.value);
  }
};

// Operations and the function that is called in their place.
struct Replacement {
  std::string comment;                       // one line
  std::string name;                          // of the function: "kernel_0"
  std::string function;                      // its text, a util.func
  std::vector<std::string> operands;         // types, of %arg0, ... of dag
  std::string dag;                           // the operations (OperationText)
  std::vector<ScalarFunction> scalars = {};  // that dag calls
};

// The text of the spec. It replaces each entry's operations everywhere in the program. The calls
// are inlined at once: the compiler copies the operands of a remaining call before each launch
// (seen on 3.13: 35 MB for the convolution of docs/external-kernels.md).
std::string replacing_spec(const std::vector<Replacement>& replacements);

}  // namespace hone::iree
