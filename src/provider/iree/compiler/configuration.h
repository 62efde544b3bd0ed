// Configurations in the compiler's IR: the operations that carry one, and its content.
#pragma once

#include <string>
#include <vector>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// iree-compile's flag that makes configured root operations carry the attribute `root_op`.
inline constexpr char kTunerAttributesFlag[] = "--iree-codegen-add-tuner-attributes";

// The hal.executable.export operations below `operation` (a module or an executable).
std::vector<MlirOperation> exports_in(const Ir& ir, MlirOperation operation);
// The symbol of the hal.executable around `operation`.
std::string executable_of(const Ir& ir, MlirOperation operation);
// The function that an export launches; a null handle when it is not there (already compiled).
MlirOperation function_of(const Ir& ir, MlirOperation export_operation);

// Operations below `function` that have indexing maps (linalg.*, iree_linalg_ext.*), in order.
std::vector<MlirOperation> structured_operations(const Ir& ir, MlirOperation function);

// Root operations that the compiler marked in a function at executable-configurations or later.
std::vector<MlirOperation> marked_roots(const Ir& ir, MlirOperation function);

// The operation below `function` at the same source location as `operation` of another clone of the
// module; a null handle when there is none. A module parsed from text has one location per
// operation, and the compiler's passes keep it.
MlirOperation same_location(const Ir& ir, MlirOperation function, MlirOperation operation);

// Reads the configuration of `root` (may be null) and its function; fields that are not configured
// are empty.
Attributes configuration_of(const Ir& ir, MlirOperation function, MlirOperation root);

}  // namespace hone::iree
