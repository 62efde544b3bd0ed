// A spec's module in the compiler, for the readers of specs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {

// The sequence that the compiler runs of a spec.
inline constexpr char kEntryPoint[] = "__kernel_config";

// Parses a spec, text or bytecode. Input error: the compiler's words; `path` names the spec in
// them.
Result<OwnedModule> parsed_spec(const CompilerSession& session, const std::string& path,
                                std::string_view bytes);

// Returns the named sequence directly in `module`; a null handle if there is none.
MlirOperation sequence_named(const Ir& ir, MlirOperation module, const std::string& symbol);

// A module with the sequence that the compiler runs of it: a spec, or one nested in a linked spec.
struct SpecModule {
  MlirOperation module;
  std::string entry_point = kEntryPoint;
  // Before symbols of it in messages: "linked::@spec_a::@", empty for the outermost module.
  std::string inside = {};
};
// Returns the modules that a spec runs, those that take precedence first: the spec itself, or for a
// linked spec, which runs others in turn, the modules of their entries, the last one first. Input
// errors: an entry point that does more than run others; entries of an earlier module that a later
// one does not overwrite, because they do more than set the same attributes.
Result<std::vector<SpecModule>> spec_modules(const Ir& ir, MlirOperation module,
                                             const std::string& path);

// An entry point of one plain foreach_match, which a default entry point has to be.
struct EntryPoint {
  struct Pair {
    std::string matcher, action;
  };
  std::vector<Pair> pairs;
  bool restores_batch = false;  // before it matches (kBatchRestoringPass)
};
// Reads that of a module. Input error: there is none, or it does more.
Result<EntryPoint> entry_point_of(const Ir& ir, const SpecModule& spec, const std::string& path);

// Reads the entries of a module. Input error: it has none.
Result<ParsedSpec> read_spec(const Ir& ir, const SpecModule& spec, const std::string& path);

// Links the specs nested in a module by the compiler's own pass, which renames equal symbols. Input
// error: the compiler's words; `path` names the text in them.
Result<OwnedModule> linked_specs(const CompilerSession& session, const std::string& path,
                                 const std::string& text);

// "contraction f16 x f16 -> f32, m 512, n 768, k 256", "linalg.generic of tensor<64x32xf32>": the
// conditions of a matcher in `module`, those that it includes too. A condition of a form that is
// not known is named by its operation.
std::string matched_in_words(const Ir& ir, MlirOperation module, MlirOperation matcher);

}  // namespace hone::iree
