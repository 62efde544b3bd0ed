#include "provider/iree/program/contraction_statement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

using problem::LoopRole;

// Coefficients of the loops, and what is added to them.
struct Linear {
  std::vector<std::int64_t> of_loop;
  std::int64_t constant = 0;
};

// Nothing for an index that is no sum of multiples of loops.
std::optional<Linear> linear(const CApi& api, MlirAffineExpr expression, std::size_t loops) {
  Linear sum{std::vector<std::int64_t>(loops, 0)};
  if (api.mlirAffineExprIsAConstant(expression)) {
    sum.constant = api.mlirAffineConstantExprGetValue(expression);
    return sum;
  }
  if (api.mlirAffineExprIsADim(expression)) {
    sum.of_loop.at(static_cast<std::size_t>(api.mlirAffineDimExprGetPosition(expression))) = 1;
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

// The indices of one operand.
std::optional<std::vector<Linear>> indices(const CApi& api, MlirAttribute attribute) {
  const MlirAffineMap map = api.mlirAffineMapAttrGetValue(attribute);
  const auto loops = static_cast<std::size_t>(api.mlirAffineMapGetNumDims(map));
  std::vector<Linear> results;
  for (std::intptr_t i = 0; i < api.mlirAffineMapGetNumResults(map); ++i) {
    auto index = linear(api, api.mlirAffineMapGetResult(map, i), loops);
    if (!index) return std::nullopt;
    results.push_back(std::move(*index));
  }
  return results;
}

std::vector<MlirAttribute> maps_of(const Ir& ir, MlirOperation operation) {
  MlirAttribute attribute = ir.attribute(operation, "indexing_maps");
  if (attribute.ptr == nullptr) attribute = ir.api().mlirLinalgGetIndexingMapsAttribute(operation);
  return ir.elements(attribute);
}

// By the numbers of MLIR's arith::CmpFPredicate and CmpIPredicate.
constexpr std::array kFloatPredicates = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
constexpr std::array kIntegerPredicates = {"eq",  "ne",  "slt", "sle", "sgt",
                                           "sge", "ult", "ule", "ugt", "uge"};

// A tensor that is computed behind the root: its typical element, and the root's loop that walks
// each of its dimensions.
struct Computed {
  int value = -1;
  std::vector<int> loops;
};

struct NotOfThisForm {
  std::string reason;
};

// Leaves by NotOfThisForm, which state_contraction() catches: every step may find out that it has
// no words for what is there.
class Statement {
 public:
  Statement(const Ir& ir, const Sizes& kernel) : ir_(ir), kernel_(kernel) {}

  nlohmann::json of(MlirOperation function, MlirOperation root) {
    describe(root);
    for (const MlirOperation operation : structured_behind(function, root)) compute(operation);
    ir_.walk(function, [&](MlirOperation operation) {
      const std::string_view name = ir_.name(operation);
      if (name == "iree_tensor_ext.dispatch.tensor.store" || name == "iree_codegen.store_to_buffer")
        store(operation);
    });
    if (stores_.empty()) throw NotOfThisForm{"nothing that it computes is stored as it is"};
    said_["values"] = std::move(values_);
    said_["stores"] = std::move(stores_);
    said_["views"] = std::move(views_);
    return std::move(said_);
  }

 private:
  [[noreturn]] static void refuse(std::string reason) { throw NotOfThisForm{std::move(reason)}; }

  void describe(MlirOperation root) {
    const auto described = describe_operation(ir_, root);
    if (!described) refuse(described.error().message);
    const bool convolves = described->kind == problem::OperationKind::kConvolution;
    if (!convolves && !is_contraction(described->kind))
      refuse(fmt::format("its root is no product: {}", name_of(described->kind)));
    const std::vector<MlirValue> operands = ir_.operands(root), results = ir_.results(root);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root);
    if (operands.size() != 3 || results.size() != 1 || maps.size() != 3 ||
        !adds_products(ir_, root))
      refuse("its root does more than to add up products of two operands");
    const MlirOperation init = ir_.defining_operation(operands[2]);
    const auto start = init.ptr == nullptr ? std::nullopt : fill_constant(ir_, init);
    if (!start) refuse("its sums begin at values that are read");
    root_loops_ = described->loops;
    for (const problem::Loop& loop : root_loops_)
      if (loop.size <= 0 || loop.open) refuse("a size of it is known only at run time");

    const nlohmann::json lhs = read(operands[0], maps[0]), rhs = read(operands[1], maps[1]);
    nlohmann::json loops = nlohmann::json::array();
    for (std::size_t l = 0; l < root_loops_.size(); ++l) {
      const bool in_lhs = lhs["strides"][l] != 0, in_rhs = rhs["strides"][l] != 0;
      const char* role = in_lhs && in_rhs ? "batch" : in_rhs ? "n" : "m";
      if (root_loops_[l].reduction) role = "k";
      if (root_loops_[l].size > 1 && !in_lhs && !in_rhs) refuse("a loop of it walks no operand");
      loops.push_back({{"size", root_loops_[l].size}, {"role", role}});
    }
    const problem::ElementType sums = type_of(results[0]);
    said_["loops"] = std::move(loops);
    said_["lhs"] = lhs;
    said_["rhs"] = rhs;
    said_["accumulator"] = problem::name_of(sums);
    said_["start"] = *start;
    Computed computed{add({{"op", "root"}, {"type", problem::name_of(sums)}}), {}};
    computed.loops = single_loops(maps[2]);
    known_[results[0].ptr] = std::move(computed);
  }

  // In the order of the function; those that read what was computed behind the root.
  std::vector<MlirOperation> structured_behind(MlirOperation function, MlirOperation root) const {
    std::vector<MlirOperation> behind;
    bool passed = false;
    ir_.walk(function, [&](MlirOperation operation) {
      if (passed && ir_.name(operation).starts_with("linalg.") &&
          ir_.results(operation).size() > 0 && !ir_.is(operation, "linalg.fill") &&
          !ir_.is(operation, "linalg.index"))
        behind.push_back(operation);
      passed = passed || operation.ptr == root.ptr;
    });
    return behind;
  }

  problem::ElementType type_of(MlirValue value) const {
    const std::string text = ir_.text(ir_.api().mlirValueGetType(value));
    if (text == "i1") return problem::ElementType::kI1;
    const auto type = parse_type(text);
    if (!type) refuse(fmt::format("it computes with {}", text));
    return type->element;
  }

  // The loop of each index; where one is no single loop the tensor cannot be followed further.
  std::vector<int> single_loops(MlirAttribute map) const {
    const auto read = indices(ir_.api(), map);
    std::vector<int> loops;
    for (const Linear& index : read.value_or(std::vector<Linear>())) {
      int found = -1;
      for (std::size_t l = 0; l < index.of_loop.size(); ++l)
        if (index.of_loop[l] != 0)
          found = index.of_loop[l] == 1 && found == -1 ? static_cast<int>(l) : refuse_index();
      if (found == -1 || index.constant != 0) refuse_index();
      loops.push_back(found);
    }
    return loops;
  }
  [[noreturn]] static int refuse_index() { refuse("a result of it is not walked loop by loop"); }

  int add(nlohmann::json value) {
    if (!value.contains("operands")) value["operands"] = nlohmann::json::array();
    values_.push_back(std::move(value));
    return static_cast<int>(values_.size()) - 1;
  }

  // What a tensor that is loaded, or stored to, is of its view.
  struct Piece {
    int view = -1;
    problem::ElementType type = problem::ElementType::kF32;
    std::int64_t offset = 0;            // elements
    std::vector<std::int64_t> strides;  // by dimension of the tensor
  };

  Piece piece_of(MlirOperation access, MlirValue buffer, MlirValue tensor) {
    MlirOperation subspan = ir_.defining_operation(buffer);
    while (subspan.ptr != nullptr && ir_.is(subspan, "memref.assume_alignment"))
      subspan = ir_.defining_operation(ir_.operands(subspan).at(0));
    if (subspan.ptr == nullptr || !ir_.is(subspan, "hal.interface.binding.subspan"))
      refuse("an operand of it is not read from a buffer as it is");
    const auto whole = kernel_.type(ir_.results(subspan).at(0)), part = kernel_.type(tensor);
    if (!whole || !part || is_dynamic(*whole) || is_dynamic(*part))
      refuse("a size of it is known only at run time");
    const std::size_t rank = whole->shape.size();
    const auto said = [&](const char* name, const std::vector<std::int64_t>& otherwise) {
      const MlirAttribute attribute = ir_.attribute(access, name);
      return attribute.ptr == nullptr ? otherwise : ir_.long_integers(attribute);
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

  int view_of(MlirOperation subspan) {
    if (const auto known = view_places_.find(subspan.ptr); known != view_places_.end())
      return known->second;
    const ViewPosition position = position_of(ir_, subspan);
    if (!position.known) refuse("where a view of it begins is computed");
    views_.push_back({{"binding", position.ordinal},
                      {"offset", position.offset},
                      {"words", position.words},
                      {"multiple", position.multiple}});
    return view_places_[subspan.ptr] = static_cast<int>(views_.size()) - 1;
  }

  static nlohmann::json access(const Piece& piece, const std::vector<Linear>& indices,
                               std::size_t loops) {
    std::int64_t offset = piece.offset;
    std::vector<std::int64_t> strides(loops, 0);
    for (std::size_t d = 0; d < indices.size(); ++d) {
      offset += piece.strides[d] * indices[d].constant;
      for (std::size_t l = 0; l < loops; ++l)
        strides[l] += piece.strides[d] * indices[d].of_loop[l];
    }
    return {{"view", piece.view},
            {"type", problem::name_of(piece.type)},
            {"offset", offset},
            {"strides", strides}};
  }

  // An operand of the operation with this map, over its loops.
  nlohmann::json read(MlirValue tensor, MlirAttribute map) {
    const MlirOperation load = ir_.defining_operation(tensor);
    const bool is_load =
        load.ptr != nullptr && (ir_.is(load, "iree_tensor_ext.dispatch.tensor.load") ||
                                ir_.is(load, "iree_codegen.load_from_buffer"));
    if (!is_load)
      refuse(load.ptr == nullptr ? "an operand of it is computed elsewhere"
                                 : fmt::format("an operand of it is computed before it is read: {}",
                                               in_words(ir_, load)));
    const Piece piece = piece_of(load, ir_.operands(load).at(0), tensor);
    const auto read = indices(ir_.api(), map);
    if (!read || read->size() != piece.strides.size())
      refuse("an operand's index is no sum of loops");
    const std::size_t loops = static_cast<std::size_t>(
        ir_.api().mlirAffineMapGetNumDims(ir_.api().mlirAffineMapAttrGetValue(map)));
    return access(piece, *read, loops);
  }

  // An operation behind the root, element by element.
  void compute(MlirOperation operation) {
    const std::vector<MlirValue> operands = ir_.operands(operation),
                                 results = ir_.results(operation);
    const std::vector<MlirAttribute> maps = maps_of(ir_, operation);
    const auto described = describe_operation(ir_, operation);
    if (!described || maps.size() != operands.size() ||
        std::ranges::any_of(described->loops, &problem::Loop::reduction))
      refuse("behind its root: " + in_words(ir_, operation));
    // Which of the root's loops each of its own is.
    std::vector<int> root_loop(described->loops.size(), -1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto known = known_.find(operands[i].ptr);
      if (known == known_.end()) continue;
      const std::vector<int> own = single_loops(maps[i]);
      for (std::size_t d = 0; d < own.size(); ++d)
        root_loop.at(static_cast<std::size_t>(own[d])) = known->second.loops.at(d);
    }
    if (std::ranges::count(root_loop, -1) > 0)
      refuse("it computes something beside its root: " + in_words(ir_, operation));

    const MlirBlock block =
        ir_.api().mlirRegionGetFirstBlock(ir_.api().mlirOperationGetRegion(operation, 0));
    const MlirOperation yield = ir_.api().mlirBlockGetTerminator(block);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const MlirValue argument =
          ir_.api().mlirBlockGetArgument(block, static_cast<std::intptr_t>(i));
      const MlirOperation from = ir_.defining_operation(operands[i]);
      if (const auto known = known_.find(operands[i].ptr); known != known_.end())
        scalars_[argument.ptr] = known->second.value;
      else if (from.ptr != nullptr && ir_.is(from, "tensor.empty"))
        continue;
      else if (from.ptr != nullptr && ir_.name(from).starts_with("arith."))
        scalars_[argument.ptr] = scalar(operands[i]);
      else
        scalars_[argument.ptr] = loaded(operands[i], maps[i], root_loop);
    }
    const std::vector<MlirValue> yielded = ir_.operands(yield);
    for (std::size_t r = 0; r < results.size(); ++r) {
      Computed computed{scalar(yielded.at(r)), {}};
      for (const int loop : single_loops(maps.at(maps.size() - results.size() + r)))
        computed.loops.push_back(root_loop.at(static_cast<std::size_t>(loop)));
      known_[results[r].ptr] = std::move(computed);
    }
  }

  int loaded(MlirValue tensor, MlirAttribute map, const std::vector<int>& root_loop) {
    nlohmann::json own = read(tensor, map);
    std::vector<std::int64_t> strides(root_loops_.size(), 0);
    for (std::size_t l = 0; l < root_loop.size(); ++l)
      strides[static_cast<std::size_t>(root_loop[l])] += own["strides"][l].get<std::int64_t>();
    own["strides"] = strides;
    own["op"] = "load";
    return add(std::move(own));
  }

  // A value in a body, or one outside that bodies use.
  int scalar(MlirValue value) {
    if (const auto known = scalars_.find(value.ptr); known != scalars_.end()) return known->second;
    const MlirOperation operation = ir_.defining_operation(value);
    if (operation.ptr == nullptr) refuse("its results begin at values that are read");
    const std::string name(ir_.name(operation));
    nlohmann::json said{{"op", name}, {"type", problem::name_of(type_of(value))}};
    if (name == "arith.constant") {
      said["op"] = "constant";
      said["value"] = constant(operation);
    } else if (!name.starts_with("arith.") && !name.starts_with("math.")) {
      refuse(fmt::format("{} behind its root", name));
    } else {
      std::vector<int> operands;
      for (const MlirValue operand : ir_.operands(operation)) operands.push_back(scalar(operand));
      said["operands"] = operands;
    }
    if (const auto predicate = ir_.integer_value(ir_.attribute(operation, "predicate"))) {
      const auto number = static_cast<std::size_t>(*predicate);
      said["predicate"] =
          name == "arith.cmpf" ? kFloatPredicates.at(number) : kIntegerPredicates.at(number);
    }
    return scalars_[value.ptr] = add(std::move(said));
  }

  nlohmann::json constant(MlirOperation operation) const {
    MlirAttribute value = ir_.attribute(operation, "value");
    const CApi& api = ir_.api();
    if (api.mlirAttributeIsADenseElements(value)) {
      if (!api.mlirDenseElementsAttrIsSplat(value)) refuse("a table of constants behind its root");
      value = api.mlirDenseElementsAttrGetSplatValue(value);
    }
    if (api.mlirAttributeIsAFloat(value)) {
      const double number = api.mlirFloatAttrGetValueDouble(value);
      // JSON has no words for these; Python's float() reads them.
      if (std::isnan(number)) return "nan";
      if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
      return number;
    }
    const auto integer = ir_.integer_value(value);
    if (!integer) refuse("a constant behind its root is no number");
    return *integer;
  }

  void store(MlirOperation operation) {
    const std::vector<MlirValue> operands = ir_.operands(operation);
    const auto known = known_.find(operands.at(0).ptr);
    if (known == known_.end()) refuse("what it stores is another shape of what it computes");
    const Piece piece = piece_of(operation, operands.at(1), operands.at(0));
    if (piece.strides.size() != known->second.loops.size()) refuse("a result changes its shape");
    std::vector<std::int64_t> strides(root_loops_.size(), 0);
    for (std::size_t d = 0; d < piece.strides.size(); ++d)
      strides[static_cast<std::size_t>(known->second.loops[d])] += piece.strides[d];
    stores_.push_back({{"view", piece.view},
                       {"type", problem::name_of(piece.type)},
                       {"offset", piece.offset},
                       {"strides", strides},
                       {"value", known->second.value}});
  }

  const Ir& ir_;
  const Sizes& kernel_;
  std::vector<problem::Loop> root_loops_;
  nlohmann::json said_, values_ = nlohmann::json::array(), stores_ = nlohmann::json::array(),
                        views_ = nlohmann::json::array();
  std::map<const void*, Computed> known_;  // tensors
  std::map<const void*, int> scalars_;     // what bodies compute, by value
  std::map<const void*, int> view_places_;
};

}  // namespace

nlohmann::json state_contraction(const Ir& ir, MlirOperation function, MlirOperation root,
                                 const Sizes& kernel) {
  if (root.ptr == nullptr) return {{"why_not", "it has no root operation"}};
  try {
    return Statement(ir, kernel).of(function, root);
  } catch (const NotOfThisForm& form) {
    return {{"why_not", form.reason}};
  }
}

}  // namespace hone::iree
