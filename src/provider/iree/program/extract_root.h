// The bare root operation of a dispatch, without what is fused around it, as a program of its own.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// Extracts a module with one function, @root, that takes the root operation's inputs and returns
// its results: the compiler's own operation with its shapes, element types, indexing maps and body.
// The initial value of the output stays: a fill of a constant is part of the program, an output
// that is only written is a tensor.empty, an accumulated output is an argument.
//
// `source` is problem::Dispatch::source, `flags` as for load_program. Input error if the dispatch
// has no root operation or has dynamic shapes, or if the operation uses values computed outside of
// it.
Result<std::string> extract_root(const Library& library, const std::string& name,
                                 const std::string& source, const std::vector<std::string>& flags);

}  // namespace hone::iree
