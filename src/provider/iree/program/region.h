// Operations of a program that a spec makes one operation of, or others in their place.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/program/operation_text.h"

namespace hone::iree {

struct Region {
  std::string name;                // for people: "attention 12x128x64x128x64"
  std::set<MlirOperation> inside;  // without fills, empty tensors and constants
  std::vector<Given> given;        // arguments, as the operations read them
  // Body of the function that computes the same: lines that read %arg0, ..., and the value that is
  // its result.
  std::vector<std::string> lines = {};
  std::string value = {};
};

// Returns the one operation that reads the value; a null handle for none or several.
MlirOperation only_reader(MlirValue value, const Readers& readers);

// Returns the one operation that reads the value, if it gives its elements in a narrower
// floating-point type; else a null handle.
MlirOperation narrowing_reader(const Ir& ir, MlirValue value, const Readers& readers);

// Looks for regions in a program at the end of phase `preprocessing`, in which transform specs run
// last: attention (attention_regions.h) and grouped products (grouped_products.h). Regions of equal
// operations count as one, and those that cannot be written as a pattern are left out.
problem::Regions regions_in(const CompilerSession& session, MlirOperation module);

}  // namespace hone::iree
