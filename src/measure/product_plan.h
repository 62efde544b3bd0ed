// A dispatch's root contraction as the matrix product that libraries compute.
#pragma once

#include "base/result.h"
#include "device/product.h"
#include "problem/dispatch.h"

namespace hone::measure {

// How a contraction maps to one product of row-major matrices; `bindings` are its operands. Where
// the output is stored n x m the product is C' = B' A', and the first operand is the right one. An
// input error when the operation is no static (batch) matmul with leading batch dimensions.
Result<device::Product> plan_product(const problem::Operation& operation);

// The whole dispatch as one product over its own bindings: a bare contraction (of zeros, or added
// to what the output held), or one whose result is narrowed to 16 bits as it is stored, which is
// what a library does too. An input error that names what else is fused around it.
Result<device::Product> dispatch_product(const problem::Dispatch& dispatch);

}  // namespace hone::measure
