#include "provider/iree/program/dispatch_statement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "provider/iree/program/element_loops.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

using problem::LoopRole;
using problem::ScalarKind;
using problem::StatedValue;
using problem::Statement;

// Names of MLIR's arith::CmpFPredicate and CmpIPredicate, by number.
constexpr std::array kFloatPredicates = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                         "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
constexpr std::array kIntegerPredicates = {"eq",  "ne",  "slt", "sle", "sgt",
                                           "sge", "ult", "ule", "ugt", "uge"};

// Stores of one value, each to another place.
constexpr std::size_t kMostRepeats = 16;

// A tensor that is computed behind the root: its typical element, and the root's loop that walks
// each of its dimensions; -1 for one along which the element repeats.
struct Computed {
  std::size_t value = 0;
  std::vector<int> loops;
};

// Throws NotOfThisForm.
class StatementWriter {
 public:
  StatementWriter(const Ir& ir, const Sizes& kernel) : ir_(ir), accesses_(ir, kernel) {}

  Statement of(MlirOperation function, MlirOperation root) {
    const auto described = describe_operation(ir_, root);
    if (!described) refuse(described.error().message);
    if (is_product(*described, root) || described->kind == problem::OperationKind::kAttention) {
      describe(root, *described);
      for (const MlirOperation operation : structured(function, root)) compute(operation);
    } else {
      describe_elements(function, root);
    }
    ir_.walk(function, [&](MlirOperation operation) {
      if (is_store(ir_.name(operation))) store(operation);
    });
    if (said_.stores.empty()) refuse("nothing that it computes is stored as it is");
    if (said_.kind == Statement::Kind::kElementwise) arrange_loops(said_);
    said_.views = accesses_.views();
    return std::move(said_);
  }

 private:
  bool is_product(const problem::Operation& described, MlirOperation root) const {
    return described.kind == problem::OperationKind::kConvolution ||
           is_contraction(described.kind) || !summed_products(ir_, root).empty();
  }

  void describe(MlirOperation root, const problem::Operation& described) {
    const bool attends = described.kind == problem::OperationKind::kAttention;
    root_loops_ = described.loops;
    for (const problem::Loop& loop : root_loops_)
      if (loop.size <= 0 || loop.open) refuse("a size of it is known only at run time");
    if (attends)
      describe_attention(root);
    else
      describe_contraction(root);
    for (std::size_t l = 0; l < root_loops_.size(); ++l)
      said_.loops.push_back({attends ? attention_role(l) : role(l), root_loops_[l].size});
    const std::vector<MlirValue> results = ir_.results(root);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root);
    for (std::size_t r = 0; r < results.size(); ++r) {
      StatedValue value = value_of("root", results[r]);
      value.product = r;
      known_[results[r]] = {add(std::move(value)),
                            single_loops(ir_.api(), maps.at(maps.size() - results.size() + r))};
    }
  }

  void describe_contraction(MlirOperation root) {
    const std::vector<MlirValue> operands = ir_.operands(root), results = ir_.results(root);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root);
    if (operands.size() != 1 + 2 * results.size() || maps.size() != operands.size() ||
        !adds_products(ir_, root))
      refuse("its root does more than to add up products of two operands");
    said_.operands.push_back(accesses_.read(operands[0], maps[0]));
    for (std::size_t r = 0; r < results.size(); ++r) {
      const auto start =
          fill_constant(ir_, ir_.defining_operation(operands[1 + results.size() + r]));
      if (!start) refuse("its sums begin at values that are read");
      if (r > 0 && *start != said_.start) refuse("its sums begin at several values");
      said_.start = *start;
      said_.operands.push_back(accesses_.read(operands[1 + r], maps[1 + r]));
      if (said_.operands.back().strides != said_.operands[1].strides)
        refuse("the right operands of its products lie differently in memory");
    }
    if (results.size() == 1) return;
    const auto products = summed_products(ir_, root);
    for (std::size_t r = 0; r < results.size(); ++r)
      if (products.at(r) != std::array<std::size_t, 2>{0, 1 + r})
        refuse("its products are not all of one left operand");
  }

  bool walks(std::size_t operand, std::size_t loop) const {
    return said_.operands.at(operand).strides.at(loop) != 0;
  }

  LoopRole role(std::size_t loop) const {
    if (root_loops_[loop].size > 1 && !walks(0, loop) && !walks(1, loop))
      refuse("a loop of it walks no operand");
    return contraction_role(said_.operands[0], said_.operands[1], loop,
                            root_loops_[loop].reduction);
  }

  // Operands: query, key, value, scale, perhaps a mask, and where the result goes.
  void describe_attention(MlirOperation root) {
    const std::vector<MlirValue> operands = ir_.operands(root);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root);
    if (!ir_.is(root, "iree_linalg_ext.attention"))
      refuse(fmt::format("its root is a part of attention: {}", ir_.name(root)));
    if ((operands.size() != 5 && operands.size() != 6) || maps.size() != operands.size() ||
        ir_.results(root).size() != 1)
      refuse("its attention has operands of its own");
    if (ir_.yielded(root).at(0) != ir_.arguments(root).at(0))
      refuse("its attention changes the scores");
    const MlirOperation scale = ir_.defining_operation(operands[3]);
    if (!ir_.is(scale, "arith.constant")) refuse("its attention's scale is computed");
    said_.kind = Statement::Kind::kAttention;
    for (const std::size_t operand : {0, 1, 2})
      said_.operands.push_back(accesses_.read(operands[operand], maps[operand]));
    said_.scale = static_cast<double>(constant(scale));
    if (!std::isfinite(said_.scale)) refuse("its attention's scale is no number");
    if (operands.size() == 6) said_.operands.push_back(mask(operands[4], maps[4]));
  }

  // States the mask, which is added to the scores. A mask of type i1 selects scores instead, by the
  // lowest bit of a byte.
  problem::StatedUse mask(MlirValue tensor, MlirAttribute map) {
    const MlirOperation from = ir_.defining_operation(tensor);
    if (!ir_.is(from, "arith.trunci")) {
      if (!problem::is_float(type_of(tensor)))
        refuse(fmt::format("its mask is of {}", problem::name_of(type_of(tensor))));
      return accesses_.read(tensor, map);
    }
    problem::StatedUse said = accesses_.read(ir_.operands(from).at(0), map);
    if (said.type != problem::ElementType::kI8)
      refuse("its mask is of truth values that are no bytes");
    said.type = problem::ElementType::kI1;
    return said;
  }

  LoopRole attention_role(std::size_t loop) const {
    const bool in_query = walks(0, loop), in_key = walks(1, loop), in_value = walks(2, loop),
               sums = root_loops_[loop].reduction;
    std::optional<LoopRole> found;
    if (sums && in_query && in_key && !in_value) found = LoopRole::kK1;
    if (sums && !in_query && in_key && in_value) found = LoopRole::kK2;
    if (!sums && in_query && in_key && in_value) found = LoopRole::kBatch;
    if (!sums && in_query && !in_key && !in_value) found = LoopRole::kM;
    if (!sums && !in_query && !in_key && in_value) found = LoopRole::kN;
    if (root_loops_[loop].size == 1 && !found) found = LoopRole::kBatch;
    if (!found) refuse("a loop of its attention is none of batch, m, n, k1 and k2");
    const bool masks = said_.operands.size() > 3 && walks(3, loop);
    if (masks && (found == LoopRole::kN || found == LoopRole::kK1))
      refuse("its mask has a value for each element of a head");
    return *found;
  }

  // Structured operations, or those behind the root, in the order of the function.
  std::vector<MlirOperation> structured(MlirOperation function,
                                        std::optional<MlirOperation> root = std::nullopt) const {
    std::vector<MlirOperation> behind;
    bool passed = !root;
    ir_.walk(function, [&](MlirOperation operation) {
      if (passed && ir_.name(operation).starts_with("linalg.") &&
          ir_.results(operation).size() > 0 && !ir_.is(operation, "linalg.fill") &&
          !ir_.is(operation, "linalg.index"))
        behind.push_back(operation);
      passed = passed || operation == *root;
    });
    return behind;
  }

  problem::ElementType type_of(MlirValue value) const {
    const auto type = ir_.type(value);
    if (!type) refuse(fmt::format("it computes with {}", ir_.type_text(value)));
    return type->element;
  }

  StatedValue value_of(problem::ScalarOperation operation, MlirValue value) const {
    return {std::move(operation), type_of(value)};
  }

  std::size_t add(StatedValue value) {
    said_.values.push_back(std::move(value));
    return said_.values.size() - 1;
  }

  // An operation behind the root, element by element.
  void compute(MlirOperation operation) {
    const std::vector<MlirValue> operands = ir_.operands(operation);
    const std::vector<MlirAttribute> maps = maps_of(ir_, operation);
    const auto described = describe_operation(ir_, operation);
    if (!described || maps.size() != operands.size() || reduces(*described))
      refuse("behind its root: " + in_words(ir_, operation));
    // The root loop of each of the operation's own loops.
    std::vector<int> root_loop(described->loops.size(), -1);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto known = known_.find(operands[i]);
      if (known == known_.end()) continue;
      const std::vector<int> own = single_loops(ir_.api(), maps[i]);
      for (std::size_t d = 0; d < own.size(); ++d)
        root_loop.at(static_cast<std::size_t>(own[d])) = known->second.loops.at(d);
    }
    const std::vector<MlirValue> results = ir_.results(operation);
    // A loop that only results walk repeats them: keys for each of a group of queries.
    for (std::size_t i = 0; i + results.size() < operands.size(); ++i)
      for (const Linear& index : indices(ir_.api(), maps[i]).value_or(std::vector<Linear>()))
        for (std::size_t loop = 0; loop < root_loop.size(); ++loop)
          if (root_loop[loop] < 0 && index.of_loop.at(loop) != 0)
            refuse("it computes something beside its root: " + in_words(ir_, operation));
    take_operands(operation, maps, root_loop);
    for (std::size_t r = 0; r < results.size(); ++r)
      known_[results[r]] = {scalar(ir_.yielded(operation).at(r)),
                            loops_of(maps.at(maps.size() - results.size() + r), root_loop)};
  }

  // The loops of a result with this map.
  std::vector<int> loops_of(MlirAttribute map, const std::vector<int>& root_loop) const {
    std::vector<int> loops;
    for (const int loop : single_loops(ir_.api(), map))
      loops.push_back(root_loop.at(static_cast<std::size_t>(loop)));
    return loops;
  }

  // Makes values of what the arguments of an operation's body are.
  void take_operands(MlirOperation operation, const std::vector<MlirAttribute>& maps,
                     const std::vector<int>& root_loop) {
    const std::vector<MlirValue> operands = ir_.operands(operation),
                                 arguments = ir_.arguments(operation);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const MlirValue argument = arguments.at(i);
      const MlirOperation from = ir_.defining_operation(operands[i]);
      if (const auto known = known_.find(operands[i]); known != known_.end())
        scalars_[argument] = known->second.value;
      else if (ir_.is(from, "tensor.empty") || ir_.is(from, "linalg.fill"))
        continue;
      else if (is_table(from))
        scalars_[argument] = loaded(accesses_.read_table(operands[i], maps[i]), root_loop);
      else if (ir_.name(from).starts_with("arith."))
        scalars_[argument] = scalar(operands[i]);
      else
        scalars_[argument] = loaded(load(accesses_.read(operands[i], maps[i])), root_loop);
    }
  }

  // A dispatch without a product: all of its operations, over the loops that they share.
  void describe_elements(MlirOperation function, MlirOperation root) {
    said_.kind = Statement::Kind::kElementwise;
    const std::vector<MlirOperation> operations = structured(function);
    if (operations.empty()) refuse(fmt::format("its root is {}", in_words(ir_, root)));
    const SharedLoops shared(ir_, operations, root);
    said_.loops = shared.loops();
    root_loops_.resize(said_.loops.size());
    for (const MlirOperation operation : operations) {
      if (ir_.is(operation, "linalg.softmax"))
        compute_softmax(operation, shared.of(operation));
      else
        compute_elements(operation, shared.of(operation));
    }
  }

  void compute_elements(MlirOperation operation, const std::vector<int>& root_loop) {
    const std::vector<MlirValue> operands = ir_.operands(operation),
                                 results = ir_.results(operation);
    const std::vector<MlirAttribute> maps = maps_of(ir_, operation);
    const bool reduces = check_reduced(operation, root_loop);
    check_known(operation, maps, root_loop);
    take_operands(operation, maps, root_loop);
    const std::size_t inputs = operands.size() - results.size();
    for (std::size_t r = 0; r < results.size(); ++r) {
      const MlirValue yielded = ir_.yielded(operation).at(r);
      known_[results[r]] = {reduces ? reduction(results[r], yielded, operands.at(inputs + r),
                                                ir_.arguments(operation).at(inputs + r))
                                    : scalar(yielded),
                            loops_of(maps.at(inputs + r), root_loop)};
    }
  }

  // Whether the operation reduces, which must be along all loops of role k.
  bool check_reduced(MlirOperation operation, const std::vector<int>& root_loop) const {
    const auto described = describe_operation(ir_, operation);
    if (!described) refuse(described.error().message);
    std::vector<int> reduced;
    for (std::size_t l = 0; l < described->loops.size(); ++l)
      if (described->loops[l].reduction) reduced.push_back(root_loop.at(l));
    for (std::size_t l = 0; l < said_.loops.size(); ++l)
      if (!reduced.empty() && said_.loops[l].role == LoopRole::kK &&
          std::ranges::count(reduced, static_cast<int>(l)) == 0)
        refuse("its reductions are along different loops");
    return !reduced.empty();
  }

  // Refuses a tensor that the operation walks otherwise than what computed it.
  void check_known(MlirOperation operation, const std::vector<MlirAttribute>& maps,
                   const std::vector<int>& root_loop) const {
    const std::vector<MlirValue> operands = ir_.operands(operation);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto known = known_.find(operands[i]);
      if (known != known_.end() && loops_of(maps.at(i), root_loop) != known->second.loops)
        refuse("it reads what it computes at another place: " + in_words(ir_, operation));
    }
  }

  // A reduction whose body yields its operand combined with `sum`, which begins at `start`.
  std::size_t reduction(MlirValue result, MlirValue yielded, MlirValue start, MlirValue sum) {
    const MlirOperation combining = ir_.defining_operation(yielded);
    const std::vector<MlirValue> both =
        combining ? ir_.operands(combining) : std::vector<MlirValue>();
    const problem::ScalarOperation combines =
        combining ? std::string(ir_.name(combining)) : std::string();
    const problem::ScalarFacts& facts = combines.facts();
    const bool known = facts.kind == ScalarKind::kSum || facts.kind == ScalarKind::kProduct ||
                       facts.kind == ScalarKind::kAnd || facts.kind == ScalarKind::kOr ||
                       (facts.selects() && facts.value != nullptr);
    if (!known || both.size() != 2 || (both[0] == sum) == (both[1] == sum))
      refuse("its reduction is neither a sum nor a product nor a choice");
    const auto begins = fill_constant(ir_, ir_.defining_operation(start));
    if (!begins) refuse("its sums begin at values that are read");
    StatedValue value = value_of("reduce", result);
    value.operands = {scalar(both[both[0] == sum ? 1 : 0])};
    value.combines = combines;
    value.constant = *begins;
    return add(std::move(value));
  }

  // exp(x - max) / sum of exp(x - max) along one dimension, in f32.
  void compute_softmax(MlirOperation operation, const std::vector<int>& root_loop) {
    using problem::ElementType;
    check_reduced(operation, root_loop);
    const MlirValue input = ir_.operands(operation).at(0), result = ir_.results(operation).at(0);
    const ElementType type = type_of(result);
    if (!problem::is_float(type) || type == ElementType::kF64)
      refuse(fmt::format("its softmax is of {}", problem::name_of(type)));
    const auto known = known_.find(input);
    if (known != known_.end() && known->second.loops != root_loop)
      refuse("it reads what it computes at another place: " + in_words(ir_, operation));
    std::size_t x = known != known_.end() ? known->second.value
                                          : loaded(load(accesses_.read_whole(input)), root_loop);
    const auto compute = [&](const char* name, std::vector<std::size_t> of,
                             ElementType to = ElementType::kF32) {
      return add({.operation = name, .type = to, .operands = std::move(of)});
    };
    const auto reduce = [&](const char* combines, std::size_t of, long double start) {
      const std::size_t made = compute("reduce", {of});
      said_.values[made].combines = combines;
      said_.values[made].constant = start;
      return made;
    };
    if (type != ElementType::kF32) x = compute("arith.extf", {x});
    const std::size_t largest =
        reduce("arith.maximumf", x, -std::numeric_limits<double>::infinity());
    const std::size_t weight = compute("math.exp", {compute("arith.subf", {x, largest})});
    std::size_t share = compute("arith.divf", {weight, reduce("arith.addf", weight, 0)});
    if (type != ElementType::kF32) share = compute("arith.truncf", {share}, type);
    known_[result] = {share, root_loop};
  }

  bool is_table(MlirOperation operation) const {
    return ir_.is(operation, "arith.constant") &&
           !ir_.one_element(ir_.attribute(operation, "value"));
  }

  static StatedValue load(problem::StatedUse use) {
    return {.operation = "load", .type = use.type, .use = std::move(use)};
  }

  // `own`: a load over the loops of its operation.
  std::size_t loaded(StatedValue own, const std::vector<int>& root_loop) {
    own.use = over_loops(std::move(own.use), root_loop, root_loops_.size());
    const auto known = std::ranges::find(said_.values, own);
    if (known != said_.values.end()) return static_cast<std::size_t>(known - said_.values.begin());
    return add(std::move(own));
  }

  // A value in a body, or one outside that bodies use.
  std::size_t scalar(MlirValue value) {
    if (const auto known = scalars_.find(value); known != scalars_.end()) return known->second;
    const MlirOperation operation = ir_.defining_operation(value);
    if (!operation) refuse("its results begin at values that are read");
    const std::string_view name = ir_.name(operation);
    StatedValue said = value_of(name, value);
    if (name == "arith.constant") {
      said.operation = "constant";
      said.constant = constant(operation);
    } else if (!problem::is_scalar_operation(name)) {
      refuse(fmt::format("{} behind its root", name));
    } else {
      for (const MlirValue operand : ir_.operands(operation))
        said.operands.push_back(scalar(operand));
    }
    if (const auto predicate = ir_.integer_value(ir_.attribute(operation, "predicate"))) {
      const auto number = static_cast<std::size_t>(*predicate);
      said.predicate =
          name == "arith.cmpf" ? kFloatPredicates.at(number) : kIntegerPredicates.at(number);
    }
    return scalars_[value] = add(std::move(said));
  }

  long double constant(MlirOperation operation) const {
    const MlirAttribute value = ir_.one_element(ir_.attribute(operation, "value"));
    if (!value) refuse("a table of constants as one value");
    if (const auto integer = ir_.integer_value(value)) return static_cast<long double>(*integer);
    const auto number = ir_.number(value);
    if (!number) refuse("a constant behind its root is no number");
    return *number;
  }

  void store(MlirOperation operation) {
    const std::vector<MlirValue> operands = ir_.operands(operation);
    const auto known = known_.find(operands.at(0));
    if (known == known_.end()) refuse("what it stores is another shape of what it computes");
    const StatementAccesses::Piece piece =
        accesses_.piece_of(operation, operands.at(1), operands.at(0));
    const std::vector<int>& loops = known->second.loops;
    if (piece.strides.size() != loops.size()) refuse("a result changes its shape");
    const std::vector<std::int64_t> shape = ir_.type(operands[0])->shape;
    std::vector<std::int64_t> strides, offsets{piece.offset};  // an offset for each repetition
    std::vector<int> root_loops;
    for (std::size_t d = 0; d < loops.size(); ++d) {
      if (loops[d] >= 0) {
        strides.push_back(piece.strides[d]);
        root_loops.push_back(loops[d]);
        continue;
      }
      std::vector<std::int64_t> repeated;
      for (std::int64_t step = 0; step < shape[d]; ++step)
        for (const std::int64_t offset : offsets)
          repeated.push_back(offset + step * piece.strides[d]);
      if (repeated.empty() || repeated.size() > kMostRepeats)
        refuse("a result is repeated too often");
      offsets = std::move(repeated);
    }
    for (const std::int64_t offset : offsets)
      said_.stores.push_back(
          {over_loops({piece.view, piece.type, offset, strides}, root_loops, root_loops_.size()),
           known->second.value});
  }

  const Ir& ir_;
  StatementAccesses accesses_;
  std::vector<problem::Loop> root_loops_;
  Statement said_;
  std::map<MlirValue, Computed> known_;       // tensors
  std::map<MlirValue, std::size_t> scalars_;  // what bodies compute, by value
};

}  // namespace

Statement state_dispatch(const Ir& ir, MlirOperation function, MlirOperation root,
                         const Sizes& kernel) {
  Statement other;
  try {
    if (root) return StatementWriter(ir, kernel).of(function, root);
    other.why_not = "it has no root operation";
  } catch (const NotOfThisForm& form) {
    other.why_not = form.reason;
  }
  return other;
}

}  // namespace hone::iree
