// The configuration space of a dispatch compiled by IREE's llvm-cpu backend. The compiler states no
// space for a CPU, so hone does: a nest of tiles with the rules of its root
// operation. There are three sets of rules: contractions, convolutions and poolings, and all other
// roots. docs/spaces.md lists the rules with their reasons and the measurements behind the soft
// ones.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "space/space.h"

namespace hone::iree {

// Contractions.
//
// Knobs, for a loop called x ("m", "n", "b"; "m0", "m1" where several have the role):
//   dist_x   distribution tile of a parallel loop: what one workgroup computes
//   cache_x  cache_parallel tile of an m or n loop; 0: not tiled at this level
//   vec_x    vector_common_parallel tile of an m or n loop: the register tile
//   cache_k  cache_reduction tile of a k loop; 0: not tiled at this level
//   red_k    vector_reduction tile of a k loop: how far it is unrolled
//   peel     boundary tiles get code of their own (add_peeling)
//   interchange  of a contraction with an n loop before an m loop only: 1: the m loops are
//            put before the n loops, as outer products need them, before they are tiled
// The nest they give, outermost first: workgroups, cache_m, cache_n, cache_k, vec_m, vec_n, red_k.
// Batch loops have only dist_b; one iteration of them is computed at a time.
struct LlvmCpuDispatchFacts {
  // Operations behind the root in its dispatch read its result (a bias, an activation): a K-blocked
  // accumulator is then a buffer on the stack instead of the output.
  bool fused_consumers = false;
};

// The space of one contraction on one CPU, as cpu_space() has it. Errors: those of
// contraction_loops too.
Result<space::Space> llvm_cpu_contraction_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                const LlvmCpuDispatchFacts& facts = {},
                                                std::string_view audited = {});

inline constexpr std::string_view kInterchangeKnob = "interchange";

// Converts `configuration`, which is of that space, to IREE attributes. With K blocked, the root's
// accumulator and the readers of its result stay outside the k loop. They would become one vector
// of the whole block, which the compiler refuses if it is large. init_config and consumer_config
// tile them. Errors: those of contraction_loops; an input error if the space lacks one of the
// operation's knobs.
Result<Attributes> llvm_cpu_contraction_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration);

// Convolutions and poolings.
//
// Knobs, for a loop called x (convolution_loops):
//   decompose  1: ConvTileAndDecomposeExpert, 0: DoubleTilingExpert
//   dist_x     distribution tile of a parallel loop: what one workgroup computes
//   vec_x      vector_common_parallel tile of a parallel loop but the batch, one image at a time
//   red_x      vector_reduction tile of a reduction loop: how far it is unrolled
//   peel       boundary tiles get code of their own (add_peeling)
// The nest they give, outermost first: workgroups, vec_x, red_x.

// The space of one convolution on one CPU, as cpu_space() has it. Errors: those of
// convolution_loops too.
Result<space::Space> llvm_cpu_convolution_space(const problem::Operation& operation,
                                                const problem::CpuTarget& target,
                                                std::string_view audited = {});

// Converts `configuration`, which is of that space, to IREE attributes. Errors: those of
// convolution_loops; an input error if the space lacks one of the operation's knobs.
Result<Attributes> llvm_cpu_convolution_attributes(const problem::Operation& operation,
                                                   const space::Space& space,
                                                   const space::Configuration& configuration);

// Roots that are neither: reductions (softmax and layer norm among them), elementwise operations,
// transposes, attention.
//
// Knobs, for the root's loop number i:
//   dist_i   distribution tile of a parallel loop: what one workgroup computes
//   vec_i    vector_common_parallel tile of a parallel loop
//   red_i    vector_reduction tile of a reduction loop
//   inner_i  vector_inner_parallel tile of what reads the root's result and walks along the
//            reduction loop i once more (the division of a softmax)
//   peel     boundary tiles get code of their own (add_peeling)
// A loop without tiles has no knobs: the head size of attention's scores.

// Whether this space covers the kind of the dispatch's root.
bool has_generic_space(const problem::Dispatch& dispatch);

// The space of one such dispatch on one CPU, as in cpu_space(). The values of every knob include
// the compiler's default (Dispatch::default_configuration). Input errors also for another kind of
// root, a size known only at run time, a loop that walks no operand alone, no loop at all.
Result<space::Space> llvm_cpu_generic_space(const problem::Dispatch& dispatch,
                                            const problem::CpuTarget& target,
                                            std::string_view audited = {});

// Converts a configuration of that space to IREE attributes: the lowering_config of the root and of
// each neighbour, and the function's translation_info. Input error: a space of another operation.
Result<Attributes> llvm_cpu_generic_attributes(const problem::Dispatch& dispatch,
                                               const space::Space& space,
                                               const space::Configuration& configuration);

// The space of one dispatch on one CPU. If its soft rules together leave too little (odd extents,
// small problems), some are relaxed (searchable_space). With `audited`, the name of one of its
// hard rules, it holds the configurations that break this rule alone (space_outside()). Input
// errors: a root without such a space, and why; a target without vector registers; those of
// space_outside.
Result<space::Space> cpu_space(const problem::Dispatch& dispatch, const problem::CpuTarget& target,
                               std::string_view audited = {});

// Converts `configuration`, which is of that space, to IREE attributes in MLIR's text (IREE 3.13).
// Input error: the space lacks one of the root's knobs.
Result<Attributes> cpu_attributes(const problem::Dispatch& dispatch, const space::Space& space,
                                  const space::Configuration& configuration);

// Building blocks of these spaces: common knobs, the text of the lowering configurations that they
// become, the relaxation of soft rules and the audit of hard ones.

// Tiles of one level, one per loop; 0 where the level leaves the loop alone.
using TileLevel = std::vector<space::Value>;

using TileLevels = std::map<std::string, TileLevel, std::less<>>;  // by name

// Entry of a translation_info's configuration: peel the last, partial tiles into loops of their
// own.
inline constexpr std::string_view kPeeling = "enable_loop_peeling";

// Whether some loop has a tile.
bool is_used(const TileLevel& level);

// Text of a lowering_config ("#iree_cpu.lowering_config<level = [tiles], ...>") of the used levels,
// in the given order. The compiler prints distribution, cache_parallel, cache_reduction,
// vector_common_parallel, vector_reduction, vector_inner_parallel. Empty if no level is used.
std::string lowering_config_text(const std::vector<std::pair<std::string_view, TileLevel>>& levels);

// Reads the levels of a lowering_config by name. Input error for another attribute and for scalable
// sizes ("[8]").
Result<TileLevels> lowering_config_levels(std::string_view text);

// Input error for a target without vectors of 64 bits, vector registers or cores.
Status check_vectors(const problem::CpuTarget& target);

// A knob's name: tile_knob("vec", "m") is "vec_m".
std::string tile_knob(std::string_view level, std::string_view label);

// The tile sizes offered for a loop of `size` iterations, ascending: its divisors and all 2^i and
// 3*2^i below it.
std::vector<space::Value> tile_sizes(std::int64_t size);

// Adds the knob dist_LABEL: the iterations of `loop`, a loop's name in words, that one workgroup
// computes.
space::Expression add_distribution(space::SpaceBuilder& builder, std::string_view label,
                                   std::string_view loop, std::vector<space::Value> sizes);
// Adds the knob peel, 1: enable_loop_peeling, boundary tiles get code of their own; 0: they are
// masked.
space::Expression add_peeling(space::SpaceBuilder& builder);

// "#iree_codegen.translation_info<...>" of one of the compiler's pipelines, "DoubleTilingExpert".
std::string translation_info_text(std::string_view pipeline, bool peeled);

// Audits a hard rule by the configurations just outside of it (hone space --audit-rule). Builds the
// space of configurations that break the hard rule `rule` and keep all other hard rules. Soft rules
// hold too, as far as some configuration then breaks `rule`. Otherwise rules are dropped in the
// order `relaxation_order`, and only those that must go. Empty if no values of the knobs break this
// rule alone. Errors: SpaceBuilder::build's; an input error that lists the hard rules if none has
// this name.
Result<space::Space> space_outside(std::string_view rule, space::SpaceBuilder builder,
                                   std::span<const std::string_view> relaxation_order);

// Builds the space that `builder` states and relaxes it (relaxed_to_searchable). With `audited`,
// the name of one of its hard rules, returns the configurations that break this rule alone
// (space_outside). Errors: SpaceBuilder::build's, space_outside's.
Result<space::Space> searchable_space(space::SpaceBuilder builder,
                                      std::span<const std::string_view> relaxation_order,
                                      std::string_view audited);

}  // namespace hone::iree
