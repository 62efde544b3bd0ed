#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/program/attention_regions.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

using problem::LoopRole;

// Whether an operand's dimensions are the batch, if there is one, and then these.
bool has_dimensions(const AttentionProduct& product, std::size_t operand, LoopRole first,
                    LoopRole second) {
  const std::vector<int>& loops = product.described.operands.at(operand).loops;
  const std::size_t batches = loops.size() - std::min<std::size_t>(loops.size(), 2);
  for (std::size_t d = 0; d < loops.size(); ++d) {
    const LoopRole wanted = d < batches ? LoopRole::kBatch : d == batches ? first : second;
    if (loops[d] < 0 || product.described.loops[to_index(loops[d])].role != wanted) return false;
  }
  return batches <= 1;
}

// From the product with the values back to the product of queries and keys.
class AttentionReader {
 public:
  AttentionReader(const Ir& ir, const Readers& readers) : ir_(ir), readers_(readers) {}

  std::optional<AttentionRegion> read(MlirOperation values) {
    const auto product = product_of(values);
    if (!product || !has_dimensions(*product, 0, LoopRole::kM, LoopRole::kK) ||
        !has_dimensions(*product, 2, LoopRole::kM, LoopRole::kN))
      return std::nullopt;
    region_.values = *product;
    region_.last = values;
    region_.inside = {values};
    if (!follow_weights(operand(values, 0)) || !region_.scores.operation ||
        !has_dimensions(region_.scores, 2, LoopRole::kM, LoopRole::kN) || !fits())
      return std::nullopt;
    take_conversion();
    if (is_read_outside()) return std::nullopt;
    return std::move(region_);
  }

 private:
  std::vector<MlirOperation> readers_of(MlirValue value) const {
    const auto found = readers_.find(value);
    return found == readers_.end() ? std::vector<MlirOperation>() : found->second;
  }

  // Whether somebody else reads a value of the region, which then would be computed twice.
  bool is_read_outside() const {
    const auto is_outside = [&](MlirOperation reader) { return !region_.inside.contains(reader); };
    return std::ranges::any_of(region_.inside, [&](MlirOperation operation) {
      return operation != region_.last &&
             std::ranges::any_of(ir_.results(operation), [&](MlirValue value) {
               return std::ranges::any_of(readers_of(value), is_outside);
             });
    });
  }

  MlirValue operand(MlirOperation operation, std::size_t index) const {
    return ir_.operands(operation).at(index);
  }

  // Sums of products of two operands that begin at zero.
  std::optional<AttentionProduct> product_of(MlirOperation operation) const {
    if (!operation || !ir_.name(operation).starts_with("linalg.") ||
        !ir_.api().mlirLinalgIsAContractionOp(operation) || !adds_products(ir_, operation) ||
        ir_.operands(operation).size() != 3 ||
        fill_constant(ir_, ir_.defining_operation(operand(operation, 2))) != 0.0)
      return std::nullopt;
    const auto described = describe_operation(ir_, operation);
    const auto is_narrow_float = [](const problem::Operand& each) {
      constexpr std::int64_t kMostBytes = 4;
      return problem::is_float(each.type.element) &&
             problem::byte_size(each.type.element) <= kMostBytes;
    };
    if (!described || described->operands.size() != 3 ||
        !std::ranges::all_of(described->operands, is_narrow_float) ||
        std::ranges::any_of(described->loops,
                            [](const problem::Loop& loop) { return loop.size <= 0; }))
      return std::nullopt;
    for (const LoopRole role : {LoopRole::kM, LoopRole::kN, LoopRole::kK})
      if (problem::loops_with(*described, role).size() != 1) return std::nullopt;
    return AttentionProduct{operation, *described};
  }

  bool is_reshape(MlirOperation operation) const {
    return ir_.is(operation, "tensor.expand_shape") || ir_.is(operation, "tensor.collapse_shape");
  }

  // The value before it got another shape.
  MlirValue before_reshapes(MlirValue value) {
    for (MlirOperation made = ir_.defining_operation(value); is_reshape(made);
         made = ir_.defining_operation(value)) {
      region_.inside.insert(made);
      value = operand(made, 0);
    }
    return value;
  }

  // Whether it is a linalg.generic that reduces none of its loops and gives an element for each, or
  // one that reduces the last loop alone.
  bool is_generic(MlirOperation operation, bool reduces_last) const {
    if (!ir_.is(operation, "linalg.generic")) return false;
    const std::vector<IndexingMap> maps = indexing_maps(ir_, operation);
    const auto described = describe_operation(ir_, operation);
    if (!described || maps.empty() || described->loops.empty()) return false;
    for (std::size_t l = 0; l < described->loops.size(); ++l)
      if (described->loops[l].reduction != (reduces_last && l + 1 == described->loops.size()))
        return false;
    if (reduces_last) return is_of_rows(maps.at(maps.size() - ir_.results(operation).size()));
    return ir_.results(operation).size() == 1 && maps.back().is_identity();
  }

  // Whether a tensor has an element for each step of all loops but the last, in their order. It may
  // have a last dimension of its own.
  static bool is_of_rows(const IndexingMap& map) {
    for (std::size_t d = 0; d < map.results.size(); ++d)
      if (map.results[d] != (d + 1 < map.loops ? static_cast<int>(d) : -1)) return false;
    return map.results.size() + 1 >= map.loops;
  }

  // The input that a scalar of a body is; nothing if it is computed.
  std::optional<std::size_t> input_of(MlirOperation operation, MlirValue scalar) const {
    const std::vector<MlirValue> arguments = ir_.arguments(operation);
    const auto at = to_index(std::ranges::find(arguments, scalar) - arguments.begin());
    if (at + ir_.results(operation).size() >= arguments.size()) return std::nullopt;
    return at;
  }

  // The input as it is, element by element.
  std::optional<MlirValue> same_element(MlirOperation operation, MlirValue scalar) const {
    const auto input = input_of(operation, scalar);
    if (!input || !indexing_maps(ir_, operation).at(*input).is_identity()) return std::nullopt;
    return operand(operation, *input);
  }

  // An input with one element for each row of keys.
  std::optional<MlirValue> row_element(MlirOperation operation, MlirValue scalar) const {
    const auto input = input_of(operation, scalar);
    if (!input) return std::nullopt;
    const IndexingMap map = indexing_maps(ir_, operation).at(*input);
    const auto type = ir_.type(operand(operation, *input));
    if (!type || !is_of_rows(map) || (map.results.size() == map.loops && type->shape.back() != 1))
      return std::nullopt;
    return operand(operation, *input);
  }

  MlirOperation scalar_operation(MlirValue scalar, std::string_view name) const {
    const MlirOperation made = ir_.defining_operation(scalar);
    return ir_.is(made, name) ? made : MlirOperation{};
  }

  // The value before conversions from one floating-point type to another.
  MlirValue before_conversions(MlirValue scalar) const {
    for (MlirOperation made = ir_.defining_operation(scalar);
         ir_.is(made, "arith.extf") || ir_.is(made, "arith.truncf");
         made = ir_.defining_operation(scalar))
      scalar = operand(made, 0);
    return scalar;
  }

  // From the product with the values back to the softmax.
  bool follow_weights(MlirValue value) {
    value = before_reshapes(value);
    const MlirOperation made = ir_.defining_operation(value);
    if (ir_.is(made, "linalg.softmax")) return take_softmax(made);
    if (!is_generic(made, false)) return false;
    region_.inside.insert(made);
    const MlirValue scalar = before_conversions(ir_.yielded(made).at(0));
    if (const auto same = same_element(made, scalar)) return follow_weights(*same);
    const MlirOperation division = scalar_operation(scalar, "arith.divf");
    if (!division) return false;
    const auto exponentials = same_element(made, operand(division, 0));
    const auto sums = row_element(made, operand(division, 1));
    return exponentials && sums && are_sums_of(*sums, *exponentials) &&
           follow_exponentials(*exponentials);
  }

  bool take_softmax(MlirOperation softmax) {
    const MlirValue scores = operand(softmax, 0);
    const auto type = ir_.type(scores);
    if (!type || ir_.integer_value(ir_.attribute(softmax, "dimension")) !=
                     static_cast<std::int64_t>(type->shape.size()) - 1)
      return false;
    region_.inside.insert(softmax);
    return take_scores(scores);
  }

  bool follow_exponentials(MlirValue exponentials) {
    MlirOperation made = ir_.defining_operation(exponentials);
    if (!is_generic(made, false)) return false;
    region_.inside.insert(made);
    const MlirOperation power = scalar_operation(ir_.yielded(made).at(0), "math.exp");
    if (!power) return false;
    MlirValue scalar = operand(power, 0);
    if (const auto differences = same_element(made, scalar)) {
      made = ir_.defining_operation(*differences);
      if (!is_generic(made, false)) return false;
      region_.inside.insert(made);
      scalar = ir_.yielded(made).at(0);
    }
    const MlirOperation difference = scalar_operation(scalar, "arith.subf");
    if (!difference) return false;
    const auto scores = same_element(made, operand(difference, 0));
    const auto largest = row_element(made, operand(difference, 1));
    return scores && largest && are_largest_of(*largest, *scores) && take_scores(*scores);
  }

  // Whether `value` is one of these operations over each row of `of`, from `most` or less on.
  bool is_reduction(MlirValue value, MlirValue of, std::initializer_list<std::string_view> names,
                    double most) {
    value = before_reshapes(value);
    const MlirOperation made = ir_.defining_operation(value);
    if (!made || ir_.results(made).front() != value || !is_generic(made, true)) return false;
    const std::vector<MlirValue> arguments = ir_.arguments(made);
    const auto start = fill_constant(ir_, ir_.defining_operation(operand(made, 1)));
    if (arguments.size() != ir_.results(made).size() + 1 || operand(made, 0) != of ||
        !indexing_maps(ir_, made).at(0).is_identity() || !start || *start > most)
      return false;
    const MlirOperation step = ir_.defining_operation(ir_.yielded(made).at(0));
    if (!step || !is_any_of(ir_.name(step), names)) return false;
    const std::vector<MlirValue> operands = ir_.operands(step);
    region_.inside.insert(made);
    return std::ranges::is_permutation(operands,
                                       std::vector<MlirValue>{arguments[0], arguments[1]});
  }

  bool are_sums_of(MlirValue sums, MlirValue of) {
    return is_reduction(sums, of, {"arith.addf"}, 0.0);
  }

  bool are_largest_of(MlirValue largest, MlirValue of) {
    return is_reduction(largest, of, {"arith.maximumf", "arith.maxnumf"},
                        std::numeric_limits<float>::lowest());
  }

  bool take_scores(MlirValue scores) {
    const auto type = ir_.type(scores);
    if (!type || is_dynamic(*type) || type->shape.size() < 2) return false;
    region_.shape = type->shape;
    return follow_scores(scores);
  }

  // From the softmax back to the product of queries and keys.
  bool follow_scores(MlirValue value) {
    value = before_reshapes(value);
    const MlirOperation made = ir_.defining_operation(value);
    if (const auto product = product_of(made)) {
      region_.scores = *product;
      region_.inside.insert(made);
      return true;
    }
    if (!is_generic(made, false)) return false;
    region_.inside.insert(made);
    return follow_scalar(made, ir_.yielded(made).at(0));
  }

  bool follow_scalar(MlirOperation around, MlirValue scalar) {
    scalar = before_conversions(scalar);
    if (const auto same = same_element(around, scalar)) return follow_scores(*same);
    const MlirOperation made = ir_.defining_operation(scalar);
    if (ir_.is(made, "arith.divf")) {
      const auto by = constant_of(around, operand(made, 1));
      return by && scaled(1 / *by) && follow_scalar(around, operand(made, 0));
    }
    if (ir_.is(made, "arith.mulf"))
      for (const std::size_t side : {0, 1})
        if (const auto by = constant_of(around, operand(made, 1 - side)))
          return scaled(*by) && follow_scalar(around, operand(made, side));
    if (ir_.is(made, "arith.addf"))
      for (const std::size_t side : {0, 1}) {
        const AttentionRegion before = region_;
        if (take_mask(around, operand(made, 1 - side)) &&
            follow_scalar(around, operand(made, side)))
          return true;
        region_ = before;
      }
    return false;
  }

  bool scaled(double by) {
    region_.scale *= by;
    return std::isfinite(region_.scale);
  }

  // A constant in the body, outside of it, or an input that holds one value.
  std::optional<double> constant_of(MlirOperation around, MlirValue scalar) const {
    if (const auto input = input_of(around, scalar)) scalar = operand(around, *input);
    const MlirOperation made = ir_.defining_operation(scalar);
    if (!ir_.is(made, "arith.constant")) return fill_constant(ir_, made);
    return ir_.number(ir_.attribute(made, "value"));
  }

  // A mask is added behind the scale, in the shape in which the softmax reads the scores.
  bool take_mask(MlirOperation around, MlirValue scalar) {
    const auto input = input_of(around, before_conversions(scalar));
    const auto result = ir_.type(ir_.results(around).front());
    if (!input || region_.mask || region_.scale != 1 || !result || result->shape != region_.shape)
      return false;
    const MlirValue tensor = operand(around, *input);
    const auto type = ir_.type(tensor);
    const auto read = indices(ir_.api(), maps_of(ir_, around).at(*input));
    if (!type || is_dynamic(*type) || !problem::is_float(type->element) || !read) return false;
    region_.mask_loops.assign(type->shape.size(), -1);
    for (std::size_t d = 0; d < read->size(); ++d) {
      if (type->shape[d] == 1) continue;
      const std::vector<std::int64_t>& of_loop = (*read)[d].of_loop;
      const auto loop = std::ranges::find(of_loop, 1);
      if (loop == of_loop.end() || (*read)[d].constant != 0 ||
          std::ranges::count(of_loop, 0) + 1 != std::ssize(of_loop))
        return false;
      region_.mask_loops[d] = static_cast<int>(loop - of_loop.begin());
    }
    if (std::ranges::count(region_.mask_loops, -1) == std::ssize(region_.mask_loops)) return false;
    region_.mask = Given{around, *input};
    return true;
  }

  // Whether both products and the softmax walk the same queries and keys.
  bool fits() const {
    const std::int64_t batch = region_.scores.size(LoopRole::kBatch);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 2 < region_.shape.size(); ++d) rows *= region_.shape[d];
    return region_.values.size(LoopRole::kBatch) == batch && rows == batch &&
           region_.values.size(LoopRole::kM) == region_.shape[region_.shape.size() - 2] &&
           region_.scores.size(LoopRole::kM) == region_.shape[region_.shape.size() - 2] &&
           region_.values.size(LoopRole::kK) == region_.shape.back() &&
           region_.scores.size(LoopRole::kN) == region_.shape.back();
  }

  // The result rounded to a narrower type belongs to the region.
  void take_conversion() {
    const MlirOperation reader = narrowing_reader(ir_, ir_.results(region_.last).front(), readers_);
    if (!reader) return;
    region_.inside.insert(reader);
    region_.last = reader;
  }

  const Ir& ir_;
  const Readers& readers_;
  AttentionRegion region_;
};

}  // namespace

std::optional<AttentionRegion> read_attention(const Ir& ir, MlirOperation values,
                                              const Readers& readers) {
  return AttentionReader(ir, readers).read(values);
}

}  // namespace hone::iree
