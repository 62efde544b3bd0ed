// Refusing JSON that is well-formed and of the right types but cannot be meant.
#pragma once

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace hone::problem {

// Throws what from_json throws for a missing field, so that both are caught in one place: where
// get<T>() is called.
inline void refuse_unless(const Status& status) {
  constexpr int kNoNumberOfTheLibrary = 599;
  if (!status)
    throw nlohmann::json::other_error::create(kNoNumberOfTheLibrary, status.error().message,
                                              nullptr);
}

}  // namespace hone::problem
