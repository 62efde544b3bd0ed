#include "provider/iree/program/dense_use.h"

#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

// Whether its value is known before the program runs: what is made of it then is made by the
// compiler, or when the program is loaded.
bool is_constant(const Ir& ir, MlirValue tensor) {
  const MlirOperation made = ir.defining_operation(tensor);
  if (!made) return false;
  const bool global = ir.is(made, "util.global.load");
  return ir.is(made, "arith.constant") || ir.is(made, "flow.tensor.constant") ||
         (global && ir.attribute(made, "is_immutable"));
}

}  // namespace

std::size_t loop_count(const Ir& ir, MlirAttribute map) {
  const CApi& api = ir.api();
  return static_cast<std::size_t>(api.mlirAffineMapGetNumDims(api.mlirAffineMapAttrGetValue(map)));
}

std::optional<problem::StatedUse> dense_use(const Ir& ir, MlirValue tensor, MlirAttribute map,
                                            std::size_t view) {
  const auto type = ir.type(tensor);
  const auto index_of = indices(ir.api(), map);
  if (!type || !index_of || index_of->size() != type->shape.size()) return std::nullopt;
  StatementAccesses::Piece piece{view, type->element, 0, type->shape};
  std::int64_t pitch = 1;
  for (std::size_t d = type->shape.size(); d-- > 0; pitch *= type->shape[d]) {
    if (type->shape[d] <= 0) return std::nullopt;
    piece.strides[d] = pitch;
  }
  problem::StatedUse use = access(piece, *index_of, loop_count(ir, map));
  for (std::size_t d = 0; d < type->shape.size(); ++d)
    use.dimensions.push_back({type->shape[d], (*index_of)[d].of_loop, (*index_of)[d].constant});
  use.constant = is_constant(ir, tensor);
  return use;
}

problem::StatedUse over_loops(problem::StatedUse use, const std::vector<int>& root_loop,
                              std::size_t count) {
  const auto place = [&](std::vector<std::int64_t>& own) {
    std::vector<std::int64_t> all(count, 0);
    for (std::size_t l = 0; l < root_loop.size(); ++l)
      all.at(static_cast<std::size_t>(root_loop[l])) += own.at(l);
    own = std::move(all);
  };
  place(use.strides);
  for (problem::StatedDimension& dimension : use.dimensions) place(dimension.of_loop);
  return use;
}

}  // namespace hone::iree
