// One configuration of a manifest's kernel for one dispatch: what its expressions come to, and its
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

// Failures begin with the manifest's path, and a line where one expression is wrong.
class Candidate {
 public:
  // The knobs have the manifest's defaults. `target`: what {target} stands for in a build command.
  // `shared_bytes`: of memory that a workgroup may have. `kernel` must outlive it.
  Candidate(const ExternalKernel& kernel, const DispatchForm& form, std::string target,
            space::Value shared_bytes);

  // Gives a knob another value.
  void give(const std::string& name, space::Value value);

  // The value of an expression. `what`: the manifest's key, for messages.
  Result<space::Value> value_of(const std::string& what,
                                const provider::KernelManifest::Text& text) const;
  // What the function's parameters are to be, in their order.
  Result<std::vector<Argument>> arguments(const DispatchForm& form) const;
  // The name of the function.
  Result<std::string> function() const;
  // Grid, block and dynamic shared memory; neither an entry nor constants. A failure for what no
  // GPU can be asked for.
  Result<problem::Launch> launched() const;
  // The object's bytes; where the manifest has a build command, by that: it runs in the source's
  // folder, for ten minutes at most.
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
