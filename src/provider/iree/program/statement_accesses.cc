#include "provider/iree/program/statement_accesses.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

// Returns nothing for an index that is not a sum of multiples of loops.
std::optional<Linear> linear(const CApi& api, MlirAffineExpr expression, std::size_t loops) {
  Linear sum{std::vector<std::int64_t>(loops, 0)};
  if (api.mlirAffineExprIsAConstant(expression)) {
    sum.constant = api.mlirAffineConstantExprGetValue(expression);
    return sum;
  }
  if (api.mlirAffineExprIsADim(expression)) {
    sum.of_loop.at(to_index(api.mlirAffineDimExprGetPosition(expression))) = 1;
    return sum;
  }
  const bool adds = api.mlirAffineExprIsAAdd(expression);
  if (!adds && !api.mlirAffineExprIsAMul(expression)) return std::nullopt;
  auto a = linear(api, api.mlirAffineBinaryOpExprGetLHS(expression), loops);
  auto b = linear(api, api.mlirAffineBinaryOpExprGetRHS(expression), loops);
  if (!a || !b) return std::nullopt;
  const auto is_number = [](const Linear& each) {
    return std::ranges::all_of(each.of_loop, [](std::int64_t factor) { return factor == 0; });
  };
  if (!adds && is_number(*a)) std::swap(a, b);
  if (!adds && !is_number(*b)) return std::nullopt;
  for (std::size_t l = 0; l < loops; ++l)
    sum.of_loop[l] = adds ? a->of_loop[l] + b->of_loop[l] : a->of_loop[l] * b->constant;
  sum.constant = adds ? a->constant + b->constant : a->constant * b->constant;
  return sum;
}

// The indices of an operand with this map, and the number of its loops.
std::pair<std::vector<Linear>, std::size_t> walked(const Ir& ir, MlirAttribute map,
                                                   std::size_t rank) {
  auto read = indices(ir.api(), map);
  if (!read || read->size() != rank) refuse("an operand's index is no sum of loops");
  return {*std::move(read), loop_count(ir, map)};
}

// Whether its value is known before the program runs: what is made of it then is made by the
// compiler, or when the program is loaded.
bool is_constant(const Ir& ir, MlirValue tensor) {
  const MlirOperation made = ir.defining_operation(tensor);
  if (!made) return false;
  const bool global = ir.is(made, "util.global.load");
  return ir.is(made, "arith.constant") || ir.is(made, "flow.tensor.constant") ||
         (global && ir.attribute(made, "is_immutable"));
}

// A kernel has its tables in its code.
constexpr std::size_t kMostTableBytes = std::size_t{64} << 10U;

}  // namespace

void refuse(std::string reason) {
  throw NotOfThisForm{std::move(reason)};
}

std::size_t loop_count(const Ir& ir, MlirAttribute map) {
  const CApi& api = ir.api();
  return to_index(api.mlirAffineMapGetNumDims(api.mlirAffineMapAttrGetValue(map)));
}

std::optional<std::vector<Linear>> indices(const CApi& api, MlirAttribute attribute) {
  const MlirAffineMap map = api.mlirAffineMapAttrGetValue(attribute);
  const auto loops = to_index(api.mlirAffineMapGetNumDims(map));
  std::vector<Linear> results;
  for (std::intptr_t i = 0; i < api.mlirAffineMapGetNumResults(map); ++i) {
    auto index = linear(api, api.mlirAffineMapGetResult(map, i), loops);
    if (!index) return std::nullopt;
    results.push_back(std::move(*index));
  }
  return results;
}

problem::LoopRole contraction_role(const problem::StatedUse& lhs, const problem::StatedUse& rhs,
                                   std::size_t loop, bool reduction) {
  using problem::LoopRole;
  if (reduction) return LoopRole::kK;
  const bool in_lhs = lhs.strides.at(loop) != 0, in_rhs = rhs.strides.at(loop) != 0;
  return in_lhs && in_rhs ? LoopRole::kBatch : in_rhs ? LoopRole::kN : LoopRole::kM;
}

std::vector<MlirAttribute> maps_of(const Ir& ir, MlirOperation operation) {
  MlirAttribute attribute = ir.attribute(operation, "indexing_maps");
  if (!attribute) attribute = ir.api().mlirLinalgGetIndexingMapsAttribute(operation);
  return ir.elements(attribute);
}

std::vector<int> single_loops(const CApi& api, MlirAttribute map) {
  const auto refuse_index = [] { refuse("a result of it is not walked loop by loop"); };
  const auto read = indices(api, map);
  std::vector<int> loops;
  for (const Linear& index : read.value_or(std::vector<Linear>())) {
    int found = -1;
    for (std::size_t l = 0; l < index.of_loop.size(); ++l) {
      if (index.of_loop[l] == 0) continue;
      if (index.of_loop[l] != 1 || found != -1) refuse_index();
      found = static_cast<int>(l);
    }
    if (found == -1 || index.constant != 0) refuse_index();
    loops.push_back(found);
  }
  return loops;
}

problem::StatedUse access(const StatementAccesses::Piece& piece, const std::vector<Linear>& indices,
                          std::size_t loops) {
  problem::StatedUse use{piece.view, piece.type, piece.offset, std::vector<std::int64_t>(loops, 0)};
  for (std::size_t d = 0; d < indices.size(); ++d) {
    use.offset += piece.strides[d] * indices[d].constant;
    for (std::size_t l = 0; l < loops; ++l)
      use.strides[l] += piece.strides[d] * indices[d].of_loop[l];
  }
  return use;
}

StatementAccesses::Piece StatementAccesses::piece_of(MlirOperation access, MlirValue buffer,
                                                     MlirValue tensor) {
  MlirOperation subspan = ir_.defining_operation(buffer);
  while (ir_.is(subspan, "memref.assume_alignment"))
    subspan = ir_.defining_operation(ir_.operands(subspan).at(0));
  if (!ir_.is(subspan, "hal.interface.binding.subspan"))
    refuse("an operand of it is not read from a buffer as it is");
  const auto whole = kernel_.type(ir_.results(subspan).at(0)), part = kernel_.type(tensor);
  if (!whole || !part || is_dynamic(*whole) || is_dynamic(*part))
    refuse("a size of it is known only at run time");
  const std::size_t rank = whole->shape.size();
  const auto said = [&](const char* name, const std::vector<std::int64_t>& otherwise) {
    const MlirAttribute attribute = ir_.attribute(access, name);
    return !attribute ? otherwise : ir_.long_integers(attribute);
  };
  const std::vector<std::int64_t> offsets =
                                      said("static_offsets", std::vector<std::int64_t>(rank, 0)),
                                  sizes = said("static_sizes", whole->shape),
                                  steps =
                                      said("static_strides", std::vector<std::int64_t>(rank, 1));
  const auto is_known = [](std::int64_t value) { return value >= 0; };
  if (offsets.size() != rank || sizes.size() != rank || steps.size() != rank ||
      !std::ranges::all_of(offsets, is_known) || !std::ranges::all_of(sizes, is_known) ||
      !std::ranges::all_of(steps, is_known))
    refuse("a piece of a buffer is chosen at run time");
  Piece piece;
  piece.view = view_of(subspan);
  piece.type = whole->element;
  std::int64_t stride = 1;
  std::size_t next = part->shape.size();
  std::vector<std::int64_t> strides;
  for (std::size_t d = rank; d-- > 0;) {
    piece.offset += stride * offsets[d];
    // A dimension of size 1 may be left out of the tensor.
    if (next > 0 && part->shape[next - 1] == sizes[d]) {
      strides.push_back(stride * steps[d]);
      --next;
    } else if (sizes[d] != 1) {
      refuse("a buffer is read in another shape");
    }
    stride *= whole->shape[d];
  }
  if (next != 0) refuse("a buffer is read in another shape");
  piece.strides.assign(strides.rbegin(), strides.rend());
  return piece;
}

std::size_t StatementAccesses::view_of(MlirOperation subspan) {
  if (const auto known = places_.find(subspan); known != places_.end()) return known->second;
  const ViewPosition position = position_of(ir_, subspan);
  if (!position.known) refuse("where a view of it begins is computed");
  views_.push_back({position.ordinal, position.offset, position.words, position.multiple});
  return places_[subspan] = views_.size() - 1;
}

StatementAccesses::Piece StatementAccesses::loaded_piece(MlirValue tensor) {
  const MlirOperation load = ir_.defining_operation(tensor);
  if (!is_load(ir_.name(load)))
    refuse(!load ? "an operand of it is computed elsewhere"
                 : fmt::format("an operand of it is computed before it is read: {}",
                               in_words(ir_, load)));
  return piece_of(load, ir_.operands(load).at(0), tensor);
}

problem::StatedUse StatementAccesses::read_whole(MlirValue tensor) {
  const Piece piece = loaded_piece(tensor);
  return {piece.view, piece.type, piece.offset, piece.strides};
}

problem::StatedUse StatementAccesses::read(MlirValue tensor, MlirAttribute map) {
  const Piece piece = loaded_piece(tensor);
  const auto [read, loops] = walked(ir_, map, piece.strides.size());
  return access(piece, read, loops);
}

problem::StatedValue StatementAccesses::read_table(MlirValue tensor, MlirAttribute map) const {
  const auto type = kernel_.type(tensor);
  if (!type || is_dynamic(*type)) refuse("a size of it is known only at run time");
  Piece piece;
  piece.type = type->element;
  std::int64_t stride = 1;
  for (const std::int64_t size : type->shape) stride *= size;
  const auto bytes = to_index(stride * problem::byte_size(type->element));
  if (type->element == problem::ElementType::kI1 || bytes > kMostTableBytes)
    refuse(fmt::format("a table of {} constants of {} behind its root", stride,
                       problem::name_of(type->element)));
  for (const std::int64_t size : type->shape) piece.strides.push_back(stride /= size);
  problem::StatedValue table{"table", type->element};
  table.words.resize((bytes + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t));
  const MlirAttribute value = ir_.attribute(ir_.defining_operation(tensor), "value");
  std::memcpy(table.words.data(), ir_.api().mlirDenseElementsAttrGetRawData(value), bytes);
  const auto [read, loops] = walked(ir_, map, piece.strides.size());
  table.use = access(piece, read, loops);
  return table;
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
    for (std::size_t l = 0; l < root_loop.size(); ++l) all.at(to_index(root_loop[l])) += own.at(l);
    own = std::move(all);
  };
  place(use.strides);
  for (problem::StatedDimension& dimension : use.dimensions) place(dimension.of_loop);
  return use;
}

}  // namespace hone::iree
