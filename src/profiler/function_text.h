// Pieces of MLIR text of which the function of an operation is put together.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/operation.h"

namespace hone::profiler {

// "tensor<128x768xf32>"
std::string tensor_text(const problem::TensorType& type);

// The body of a function, a line after the other.
class FunctionBody {
 public:
  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    text_ += "  " + fmt::format(format, std::forward<Arguments>(arguments)...) + "\n";
  }
  // `value` becomes a tensor of that type filled with zeros.
  void zeros(std::string_view value, const problem::TensorType& type);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The type in which the operation's products add up.
problem::ElementType sum_type(const Operation& operation);

// " {compilation_info = #NAME}" for a root operation of a name, ", compilation_info = #NAME" for
// one more attribute among others; empty for no `configuration`.
std::string info_dictionary(std::string_view configuration);
std::string info_attribute(std::string_view configuration);

// The multiply-and-add of a linalg.generic: operands of the two types, extended to the sum's.
std::string multiply_add_region(const Operation& operation);

// Each writes the root operation into `body` and returns the value that it gives, of type
// sum_type(). `configuration` is the alias of the compilation_info; empty: none.
std::string matmul_text(const Operation& operation, std::string_view configuration,
                        FunctionBody& body);
std::string split_k_text(const Operation& operation, std::string_view configuration,
                         FunctionBody& body);
std::string convolution_text(const Operation& operation, std::string_view configuration,
                             FunctionBody& body);
std::string attention_text(const Operation& operation, std::string_view configuration,
                           FunctionBody& body);

// What follows `sum`, a value of sum_type(): bias, activation, residual and the rounding to the
// result's type. Returns `sum` itself where nothing does.
std::string fused_text(const Operation& operation, std::string_view sum, FunctionBody& body);

}  // namespace hone::profiler
