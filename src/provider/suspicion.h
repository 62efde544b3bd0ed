// Mistakes that kernels of a provider may make, so that a wrong one can be told what it did.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "problem/statement.h"

namespace hone::provider {

// A mistake that a kernel may have made, and what it would compute then.
struct Suspicion {
  std::string says;  // "it reads B as N x K"
  problem::Statement statement;
  bool adds_to_output = false;  // it adds to what its output holds before the launch
};

void to_json(nlohmann::json& json, const Suspicion& suspicion);
void from_json(const nlohmann::json& json, Suspicion& suspicion);

}  // namespace hone::provider
