// A configuration as IREE's compiler reads it: the attributes of a dispatch's operations, and the
// operations in its IR that carry them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "provider/artifact.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

struct Attributes {
  std::string lowering_config;   // "#iree_cpu.lowering_config<distribution = [64, 64, 0], ...>"
  std::string translation_info;  // "#iree_codegen.translation_info<pipeline = ...>"
  // Lowering configurations of the operation that initialises the root's output and of the readers
  // of its result. Empty unless the root's configuration needs matching ones there.
  std::string init_config = {};
  std::string consumer_config = {};
  // Lowering configurations of the dispatch's other operations with as many loops as the root: the
  // first for reductions, the second for readers of their results; else empty.
  std::string sibling_reduction_config = {};
  std::string sibling_config = {};
  // The configurations of the root's parts, if it is made of two products (attention).
  std::string decomposition_config = {};
  // Configurations of the operations around the root (Dispatch::surrounding), in order; "" for an
  // operation without one. The list is empty if no operation has one.
  std::vector<std::string> surrounding_configs = {};
  // Order of the root's loops, new position to loop, applied before the root is configured: its
  // lowering_config is for the new order. Empty: the order stays.
  std::vector<int> interchange = {};
  // If the compiler states its own constraints, `statement` is the index of one of its statements
  // and `knobs` has a value for each knob of it. The texts above are empty then, and the compiler
  // makes them from these.
  int statement = -1;
  std::map<std::string, std::int64_t> knobs = {};
  // hone's own knobs, which the compiler's statement omits. They change the attributes that the
  // compiler made from the other knobs.
  std::map<std::string, std::int64_t> options = {};

  bool operator==(const Attributes&) const = default;
  static void fields(auto& attributes, auto&& field) {
    const bool has_siblings = !attributes.sibling_config.empty(),
               is_stated = attributes.statement >= 0;
    field("lowering_config", attributes.lowering_config);
    field("translation_info", attributes.translation_info);
    field("init_config", attributes.init_config);
    field("consumer_config", attributes.consumer_config);
    field.when(has_siblings, "sibling_reduction_config", attributes.sibling_reduction_config);
    field.when(has_siblings, "sibling_config", attributes.sibling_config);
    field.when(!attributes.decomposition_config.empty(), "decomposition_config",
               attributes.decomposition_config);
    field.when(!attributes.surrounding_configs.empty(), "neighbour_configs",
               attributes.surrounding_configs);
    field.when(!attributes.interchange.empty(), "interchange", attributes.interchange);
    field.when(is_stated, "statement", attributes.statement);
    field.when(is_stated, "knobs", attributes.knobs);
    field.when(is_stated && !attributes.options.empty(), "options", attributes.options);
  }
};

provider::Payload payload_of(const Attributes& attributes);
// A failure for a payload that IREE's two halves did not make.
Result<Attributes> attributes_from(const provider::Payload& payload);

// Artifact::more: the configuration that the compiler made, without the root's lowering
// configuration, which is Artifact::configured. Each text is empty for the compiler's own choice.
struct MadeTexts {
  std::string translation;    // the function's
  std::string decomposition;  // of the root's parts; may be empty

  provider::Payload to_payload() const;
  static void fields(auto& texts, auto&& field) {
    field("translation", texts.translation);
    field("decomposition", texts.decomposition);
  }
};
Result<MadeTexts> made_texts_from(const provider::Payload& more);

// iree-compile's flag that makes configured root operations carry the attribute `root_op`.
inline constexpr char kTunerAttributesFlag[] = "--iree-codegen-add-tuner-attributes";

// The hal.executable.export operations below `operation` (a module or an executable).
std::vector<MlirOperation> exports_in(const Ir& ir, MlirOperation operation);
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
