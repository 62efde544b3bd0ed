// Likely mistakes of a provider's kernels, used to explain what a wrong kernel did.
#pragma once

#include <string>

#include "base/json_fields.h"
#include "problem/statement.h"

namespace hone::provider {

// Mistake that a kernel may have made, and what it would then compute.
struct Suspicion {
  std::string says;  // "it reads B as N x K"
  problem::Statement statement;
  bool adds_to_output = false;  // it adds to what its output holds before the launch

  static void fields(auto& suspicion, auto&& field) {
    field("says", suspicion.says);
    field("statement", suspicion.statement);
    field("adds_to_output", suspicion.adds_to_output);
  }
};

}  // namespace hone::provider
