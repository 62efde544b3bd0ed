// Operands of a user's kernel.
#pragma once

#include "provider/external/external_kernel.h"

namespace hone::external {

// Of the manifest's first line.
inline ExternalKernel::Operand operand(const char* name, problem::ElementType type,
                                       std::vector<std::string> layout) {
  return {name, type, std::move(layout), 1};
}

}  // namespace hone::external
