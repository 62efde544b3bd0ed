// Refusing JSON that is well-formed and of the right types but cannot be meant.
#pragma once

#include "base/json.h"
#include "base/result.h"

namespace hone::problem {

// Throws the exception of from_json for a missing field, so that both are caught in one place:
// where get<T>() is called.
inline void refuse_unless(const Status& status) {
  if (!status) refuse_json(status.error().message);
}

}  // namespace hone::problem
