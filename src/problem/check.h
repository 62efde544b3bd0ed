// Checks data read from outside (the answer of a worker, a store, a file): indices lie within their
// tables, and products of sizes do not overflow.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "problem/dispatch.h"

namespace hone::problem {

// Far above any machine's capacity, and far below an overflow when two are multiplied.
inline constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;  // of one loop
inline constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;       // of one tensor
inline constexpr int kMostBindings = 1 << 10;                           // of one kernel

// Input errors that name the first thing that cannot be: an extent that is negative and not
// kDynamic, a tensor of more than kMostBytes, a loop of more than kMostIterations, an operand that
// names a loop which is not there or not one for each dimension, a binding of less than -1 bytes or
// with a place in the kernel's that cannot be.
Status check(const TensorType& type);
Status check(const Operation& operation);
Status check(const Binding& binding);

// Refuses JSON that is well-formed and of the right types but cannot be meant. Throws the exception
// of from_json for a missing field, so that both are caught where get<T>() is called.
inline void refuse_unless(const Status& status) {
  if (!status) refuse_json(status.error().message);
}

}  // namespace hone::problem
