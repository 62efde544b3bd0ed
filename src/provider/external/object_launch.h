// A configuration of a manifest's kernel for one dispatch (the values of its expressions, and its
// object), and its launch in the place of an operation. Machine code keeps the parameters that it
// was compiled with. PTX is rewritten to take the operation's (ptx_entry.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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
  // Returns the size of the manifest's `scratch`, which it must have.
  Result<space::Value> scratch_bytes() const;
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
  std::string entry_;  // {entry}: the dispatch's name as a symbol, else the kernel's
  space::Value shared_bytes_ = 0;
  std::map<std::string, space::Value> values_;
  space::Names names_;
};

// Device that the object runs on.
struct ObjectDevice {
  std::string target;   // that programs are compiled for: "gfx942"
  std::string runs_as;  // what the driver takes the device for (problem::target_under_override)
  std::int64_t shared_bytes = 0;  // that a workgroup may have
};

// Place among an ObjectLaunch's bindings that is no operand of the operation.
inline constexpr int kScratchBinding = -1;

// A launch whose arguments are addresses of 8 bytes, then words of 4 bytes, as HIP and CUDA pass
// them for IREE.
struct ObjectLaunch {
  // Machine code is unchanged. PTX contains the numbers among its arguments, and has a name of its
  // own, since other numbers are other code.
  std::string function, code;
  std::string_view format;  // "hsaco", "cubin", "ptx"
  problem::Launch launch;   // grid, block, dynamic shared memory, constants
  // Operand names in the order of the arguments, and the form's binding of each; kScratchBinding
  // for the kernel's scratch memory.
  std::vector<std::string> operands;
  std::vector<int> bindings;
  std::vector<std::string> constants;  // what each constant is, in the manifest's words
  bool zeroed = false;                 // the result must be zero before the launch
  std::int64_t scratch_bytes = 0;      // of machine code, zero before each launch
  int subgroup_size = 0;               // 0: the object does not say it

  // Size of all arguments together.
  std::int64_t argument_bytes() const {
    return static_cast<std::int64_t>(8 * operands.size() + 4 * constants.size());
  }
};

// Checks the manifest's hard constraints for an operation of that form, with the knobs' defaults.
// An input error has the manifest's path, the line and the reason of a violated constraint.
Status check_constraints(const ExternalKernel& kernel, const DispatchForm& form,
                         const ObjectDevice& device);

// Makes the launch, with the knobs' defaults. `form` is of an operation whose operands begin where
// bindings do. Input errors begin with the manifest's path and a line: a file that is no object, or
// one for another device; a missing function; an address behind a number; a number that does not
// fit in 32 bits. Block, shared memory and arguments must also agree with the metadata of AMD
// objects; a cubin's metadata has no documented form.
Result<ObjectLaunch> object_launch(const ExternalKernel& kernel, const DispatchForm& form,
                                   const ObjectDevice& device);

}  // namespace hone::external
