#include "problem/check.h"

namespace hone::problem {
namespace {

Status check_size(std::string_view what, std::int64_t size, std::int64_t most) {
  if (size < kDynamic || size > most)
    return input_error("{} is {}; possible are 0 to {}, and {} for a dynamic one", what, size, most,
                       kDynamic);
  return {};
}

}  // namespace

Status check(const TensorType& type) {
  std::int64_t bytes = byte_size(type.element);
  for (const std::int64_t extent : type.shape) {
    HONE_TRY(check_size("an extent of a tensor", extent, kMostBytes));
    if (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)) bytes = kMostBytes + 1;
    if (bytes > kMostBytes)
      return input_error("a tensor of {} has more than 2^60 bytes", to_string(type));
  }
  return {};
}

Status check(const Operation& operation) {
  for (const Loop& loop : operation.loops)
    HONE_TRY(check_size("the iterations of a loop", loop.size, kMostIterations));
  for (const Operand& operand : operation.operands) {
    HONE_TRY(check(operand.type));
    if (operand.loops.size() != operand.type.shape.size())
      return input_error("an operand of type {} is walked by {} loops", to_string(operand.type),
                         operand.loops.size());
    for (const int loop : operand.loops)
      if (loop < -1 || loop >= static_cast<int>(operation.loops.size()))
        return input_error("an operand is walked by loop {}; the operation has {}", loop,
                           operation.loops.size());
  }
  return {};
}

Status check(const Binding& binding) {
  HONE_TRY(check_size("the bytes of a binding", binding.bytes, kMostBytes));
  if (binding.ordinal < -1 || binding.ordinal > kMostBindings)
    return input_error("a view of the kernel's binding {}; possible are 0 to {}", binding.ordinal,
                       kMostBindings);
  if (binding.offset < 0 || binding.offset > kMostBytes)
    return input_error("a view that begins at byte {} of its binding", binding.offset);
  return check(binding.type);
}

}  // namespace hone::problem
