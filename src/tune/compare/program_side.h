// One side of a comparison of whole programs: a compiled module with all that a call of it needs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tune/compare/compare.h"

namespace hone::tune {

struct ProgramSide {
  std::string label;
  std::filesystem::path module;
  std::vector<problem::Function> known{};  // of the program that it was compiled from
  problem::Function function{};
  provider::ProgramCall call{};
};

// Fills in the function that is called, and writes its arguments into `folder`. An input error when
// there is no function to call, or several and none is named.
Status complete(const CompareContext& context, const std::filesystem::path& folder,
                ProgramSide& side);

// Times both, which are complete, into the pair, until a slowdown that is to be found would be.
Status time_sides(const CompareContext& context, const ProgramSide& a, const ProgramSide& b,
                  ComparedPair& pair);

}  // namespace hone::tune
