// Sizes that a user gives to extents which the program leaves open until run time.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::problem {

struct GivenSize {
  // "M"; "input0.1": the second extent of the first argument; "batch": the model's own name for it
  std::string name;
  std::int64_t size = 0;  // elements, at least 1

  bool operator==(const GivenSize&) const = default;
};

// Sizes that belong together, one for each name.
using SizeSet = std::vector<GivenSize>;

// The shape of an argument that is given itself.
struct GivenShape {
  int argument = 0;
  std::vector<std::int64_t> shape;
  std::string text;  // for messages: "--input '16x64xf32'"
};

// All sizes that a user gives.
struct GivenSizes {
  SizeSet sizes = {};         // by name
  std::string function = {};  // that `shapes` are of; empty: of each function that they fit
  std::vector<GivenShape> shapes = {};  // of some arguments or all
};

// Reads "M=512". Input errors: no '=', no name, a size that is no number from 1 on, several sizes
// ("M=1,16": only `hone tune` takes them), a name that is given twice.
Result<SizeSet> given_sizes(const std::vector<std::string>& texts);
// Reads sizes, one name of which may have several ("M=1,16,512"). Returns a set for each of these,
// in their order; a single set, which may be empty, if no name has several. Input errors also for a
// size given twice and for several sizes of a second name.
Result<std::vector<SizeSet>> given_size_sets(const std::vector<std::string>& texts);

// "M=512, input1.0=7".
std::string to_string(const SizeSet& sizes);

void to_json(nlohmann::json& json, const GivenSize& given);
void from_json(const nlohmann::json& json, GivenSize& given);
void to_json(nlohmann::json& json, const GivenSizes& given);
void from_json(const nlohmann::json& json, GivenSizes& given);

}  // namespace hone::problem
