// Reads the compiler's constraints (iree_codegen.smt.constraints) through its C interface.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/gpu/stated_space.h"

namespace hone::iree {

// iree-compile's flag that makes it state constraints at executable-configurations.
inline constexpr char kConstraintsFlag[] = "--iree-codegen-emit-pipeline-constraints";

// The constraints operations in `function`, which is at executable-configurations.
std::vector<MlirOperation> constraint_operations(const Ir& ir, MlirOperation function);
// Reads one constraints operation. Input error that names an operation in it that hone does not
// know, or a dimension whose size is known only at run time.
Result<StatedSet> read_constraints(const Ir& ir, MlirOperation constraints);

// Makes the compiler build the attribute `name` of a root operation from a value for each knob.
// `name` is "compilation_info", or "decomposition_config" if has_decomposition(). Input error with
// the compiler's words for a knob that is missing or out of range. The compiler does not check
// other constraints.
Result<MlirAttribute> materialised(const Ir& ir, MlirOperation constraints, std::string_view name,
                                   const std::map<std::string, std::int64_t>& knobs);
// Whether the constraints are of a root that is made of two products (attention).
bool has_decomposition(const Ir& ir, MlirOperation constraints);

// Reads the constraints that the compiler states for a dispatch (problem::Dispatch::source); empty
// if it states none. Call it in a process of its own: configuring with kConstraintsFlag crashes
// IREE 3.13 on a batch matmul and on a transposed matvec.
Result<StatedSpace> stated_constraints(const CompilerLibrary& library, const std::string& name,
                                       const std::string& source,
                                       const std::vector<std::string>& flags);

// Whether stated_constraints() returns a statement. A child of this process makes the call; this
// process must have one thread.
bool states_constraints(const CompilerLibrary& library, const std::string& name,
                        const std::string& source, const std::vector<std::string>& flags);

}  // namespace hone::iree
