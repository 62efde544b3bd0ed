// A configuration of a manifest's kernel for one dispatch: the values of its expressions, and its
// object.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "problem/launch.h"
#include "provider/external/dispatch_form.h"
#include "provider/external/ptx_entry.h"

namespace hone::external {

// A kernel with values for its knobs. Failures begin with the manifest's path, and a line if one
// expression is wrong.
class Candidate {
 public:
  // Sets the knobs to the manifest's defaults. `target` replaces {target} in a build command.
  // `shared_bytes`: memory that a workgroup may have. `kernel` must outlive it.
  Candidate(const ExternalKernel& kernel, const DispatchForm& form, std::string target,
            space::Value shared_bytes);

  // Gives a knob another value.
  void give(const std::string& name, space::Value value);

  // Returns the value of an expression. `what`: the manifest's key, for messages.
  Result<space::Value> value_of(const std::string& what,
                                const provider::KernelManifest::Text& text) const;
  // Returns the arguments for the function's parameters, in their order.
  Result<std::vector<Argument>> arguments(const DispatchForm& form) const;
  // The name of the function.
  Result<std::string> function() const;
  // Returns grid, block and dynamic shared memory, without entry and constants. Fails if they
  // exceed every GPU's limits.
  Result<problem::Launch> launched() const;
  // Returns the object's bytes. Runs the manifest's build command, if any, in the source's folder,
  // for at most ten minutes.
  Result<std::string> made() const;

 private:
  Result<std::string> filled(const std::string& text, const std::string& object) const;
  Status extents(const std::string& what,
                 const std::vector<provider::KernelManifest::Text>& expressions,
                 const std::array<space::Value, 3>& most, std::array<std::uint32_t, 3>& into) const;

  const ExternalKernel& kernel_;
  std::string target_;
  space::Value shared_bytes_ = 0;
  std::map<std::string, space::Value> values_;
  space::Names names_;
};

}  // namespace hone::external
