// Pieces of MLIR text for the function of an operation.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/operation.h"

namespace hone::profiler {

// "tensor<128x768xf32>"
std::string tensor_text(const problem::TensorType& type);

// Body of a function, built line by line.
class FunctionBody {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += "  " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  // Defines `value` as a tensor of that type filled with zeros.
  void zeros(std::string_view value, const problem::TensorType& type);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Returns the type in which the operation's products add up.
problem::ElementType sum_type(const Operation& operation);

// Returns " {compilation_info = #NAME}" for a named root operation, or ", compilation_info = #NAME"
// for one more attribute. Both are empty without a `configuration`.
std::string info_dictionary(std::string_view configuration);
std::string info_attribute(std::string_view configuration);

// Returns the multiply-and-add region of a linalg.generic: operands of the two types, extended to
// the sum's.
std::string multiply_add_region(const Operation& operation);

// Writes the root operation into `body`. Returns the name of the result, of type sum_type().
// `configuration`: the alias of the compilation_info; empty: none.
std::string matmul_text(const Operation& operation, std::string_view configuration,
                        FunctionBody& body);
std::string split_k_text(const Operation& operation, std::string_view configuration,
                         FunctionBody& body);
std::string convolution_text(const Operation& operation, std::string_view configuration,
                             FunctionBody& body);
std::string attention_text(const Operation& operation, std::string_view configuration,
                           FunctionBody& body);

// Writes the operations after `sum`, a value of sum_type(): bias, activation, residual, and
// rounding to the result's type. Returns `sum` itself if there are none.
std::string fused_text(const Operation& operation, std::string_view sum, FunctionBody& body);

}  // namespace hone::profiler
