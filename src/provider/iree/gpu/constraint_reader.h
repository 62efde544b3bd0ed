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
// What one of them states. An input error that names an operation in it that hone does not know,
// or a dimension whose size is known only at run time.
Result<StatedSet> read_constraints(const Ir& ir, MlirOperation constraints);

// What the compiler makes of a value for each knob: the attribute that a root operation is given
// under `name` ("compilation_info"; "decomposition_config" where has_decomposition). Input error
// with its words for a knob that is missing or out of range; other constraints it does not check.
Result<MlirAttribute> materialised(const Ir& ir, MlirOperation constraints, std::string_view name,
                                   const std::map<std::string, std::int64_t>& knobs);
// Whether the constraints are of a root that is made of two products (attention).
bool has_decomposition(const Ir& ir, MlirOperation constraints);

// What the compiler states for a dispatch (problem::Dispatch::source); empty where it states
// nothing. Configuring with kConstraintsFlag crashes IREE 3.13 on a batch matmul and on a
// transposed matvec: call it in a process of its own.
Result<StatedSpace> stated_constraints(const Library& library, const std::string& name,
                                       const std::string& source,
                                       const std::vector<std::string>& flags);

// Whether stated_constraints() comes back with a statement: it is asked in a child of this process,
// which must have one thread.
bool states_constraints(const Library& library, const std::string& name, const std::string& source,
                        const std::vector<std::string>& flags);

}  // namespace hone::iree
