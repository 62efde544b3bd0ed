// What both halves of the provider know of each other: how a matrix product is written in C.
#pragma once

#include <cstdint>
#include <string>

#include "problem/dispatch.h"
#include "provider/artifact.h"

namespace hone::plain_c {

// C = A B in f32, of an m x k and a k x n matrix, row by row in memory.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
};
problem::Dispatch dispatch_of(const Product& product);
// Of a dispatch's source. Input error for what is no such product.
Result<Product> product_in(const std::string& source);

// What the compiler is told. The default is its own choice.
struct Choice {
  bool by_rows = false;  // whole rows of B are added up, instead of one dot product after the other
  std::int64_t columns = 1;  // of C that are added up together, in registers
  std::int64_t level = 0;    // cc's -O

  bool operator==(const Choice&) const = default;
};
provider::Payload payload_of(const Choice& choice);
// Input error for what payload_of() does not give.
Result<Choice> choice_in(const provider::Payload& payload);

}  // namespace hone::plain_c
