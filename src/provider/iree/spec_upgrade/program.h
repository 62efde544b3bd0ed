// Programs of older compilers in today's syntax.
#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "provider/iree/spec_upgrade/configuration.h"

namespace hone::iree {

// Whether a text is a program, and no spec.
bool is_program(std::string_view text);

// A program with the operations that today's compiler has no longer, or reads otherwise, replaced
// by operations that compute the same. A benchmark of a dispatch becomes the dispatch's program.
// Input errors: text that is no MLIR; those of program_of_benchmark().
Result<UpgradedText> upgraded_program(const std::string& text, const std::string& path);

// Operations of programs and of matchers: products of a transposed operand, which are products with
// indexing maps today.
bool is_transposed_product(std::string_view operation);
std::string product_with_maps(std::string_view operation);

}  // namespace hone::iree
