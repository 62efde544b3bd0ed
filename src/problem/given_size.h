// Sizes that a user gives to extents which the program leaves open until run time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::problem {

struct GivenSize {
  std::string name;       // "M", or "input0.1": the second extent of the first argument
  std::int64_t size = 0;  // elements, at least 1

  bool operator==(const GivenSize&) const = default;
};

// Reads "M=512". Input errors: no '=', no name, a size that is no number from 1 on, several sizes
// ("M=1,16": one run is for one), a name that is given twice.
Result<std::vector<GivenSize>> given_sizes(const std::vector<std::string>& texts);

void to_json(nlohmann::json& json, const GivenSize& given);
void from_json(const nlohmann::json& json, GivenSize& given);

}  // namespace hone::problem
