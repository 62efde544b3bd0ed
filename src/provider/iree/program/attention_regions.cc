#include "provider/iree/program/attention_regions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/compiler/replacing_spec.h"
#include "provider/iree/program/operation_text.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

using problem::LoopRole;

// Loops of attention, by their names in the text.
constexpr std::string_view kQueries = "m", kKeys = "k2", kHead = "k1", kValues = "n";

// A product of the region, its loops by role.
struct Product {
  MlirOperation operation{};
  problem::Operation described;

  std::int64_t size(LoopRole role) const {
    std::int64_t size = 1;
    for (const std::size_t loop : problem::loops_with(described, role))
      size *= described.loops[loop].size;
    return size;
  }
  // Whether an operand's dimensions are the batch, if there is one, and then these.
  bool has_dimensions(std::size_t operand, LoopRole first, LoopRole second) const {
    const std::vector<int>& loops = described.operands.at(operand).loops;
    const std::size_t batches = loops.size() - std::min<std::size_t>(loops.size(), 2);
    for (std::size_t d = 0; d < loops.size(); ++d) {
      const LoopRole wanted = d < batches ? LoopRole::kBatch : d == batches ? first : second;
      if (loops[d] < 0 || described.loops[to_index(loops[d])].role != wanted) return false;
    }
    return batches <= 1;
  }
};

// Reads one region, from the product with the values back to the product of queries and keys.
class RegionReader {
 public:
  RegionReader(const Ir& ir, MlirOperation values) : ir_(ir), last_(values) {
    const auto product = product_of(values);
    if (product) values_ = *product;
  }

  // False if the operations are no attention.
  bool read(const std::map<MlirValue, std::vector<MlirOperation>>& users) {
    if (!values_.operation || !values_.has_dimensions(0, LoopRole::kM, LoopRole::kK) ||
        !values_.has_dimensions(2, LoopRole::kM, LoopRole::kN))
      return false;
    inside_ = {last_};
    if (!follow_weights(operand(last_, 0)) || !scores_.operation ||
        !scores_.has_dimensions(2, LoopRole::kM, LoopRole::kN) || !fits())
      return false;
    take_conversion(users);
    // A value that somebody else reads would be computed twice.
    return std::ranges::all_of(inside_, [&](MlirOperation operation) {
      return operation == last_ ||
             std::ranges::all_of(ir_.results(operation), [&](MlirValue value) {
               const auto readers = users.find(value);
               return readers == users.end() ||
                      std::ranges::all_of(readers->second, [&](MlirOperation reader) {
                        return inside_.contains(reader);
                      });
             });
    });
  }

  // In the order of the program.
  std::vector<MlirOperation> operations(const std::vector<MlirOperation>& all) const {
    std::vector<MlirOperation> ordered;
    for (const MlirOperation operation : all)
      if (inside_.contains(operation)) ordered.push_back(operation);
    return ordered;
  }

  std::vector<Given> given() const {
    std::vector<Given> given{
        {scores_.operation, 0}, {scores_.operation, 1}, {values_.operation, 1}};
    if (mask_) given.push_back(*mask_);
    return given;
  }

  std::string name() const {
    return fmt::format("attention {}x{}x{}x{}x{}", scores_.size(LoopRole::kBatch),
                       scores_.size(LoopRole::kM), scores_.size(LoopRole::kK),
                       scores_.size(LoopRole::kN), values_.size(LoopRole::kN));
  }

  // A util.func that computes the region as one operation.
  std::string function(const std::string& called) const {
    std::vector<std::string> lines, names, types, maps, parameters;
    const std::vector<Given> given = this->given();
    for (std::size_t i = 0; i < given.size(); ++i)
      parameters.push_back(
          fmt::format("%arg{}: {}", i, ir_.type_text(operand(given[i].operation, given[i].index))));
    const auto add = [&](const Shaped& shaped) {
      names.push_back(shaped.name);
      types.push_back(shaped.type);
      maps.push_back(map_of(shaped.loops));
    };
    add(expanded("%arg0", scores_, 0, lines));
    add(expanded("%arg1", scores_, 1, lines));
    add(expanded("%arg2", values_, 1, lines));
    lines.push_back(fmt::format("%scale = arith.constant {:.9e} : f32", scale_));
    add({"%scale", "f32", {}});
    if (mask_) add(mask_text(lines));
    const MlirValue result = ir_.results(last_).front();
    const std::string returned = ir_.type_text(result);
    std::vector<std::string> loops = named_loops(values_, 2);
    const std::string whole = expanded_type(result, loops);
    maps.push_back(map_of(loops));
    lines.push_back(fmt::format("%empty = tensor.empty() : {}", whole));
    lines.push_back(
        fmt::format("%attention = iree_linalg_ext.attention <{{indexing_maps = [{}]}}>\n"
                    "        ins({} : {})\n        outs(%empty : {}) {{\n    ^bb0(%score: f32):\n"
                    "      iree_linalg_ext.yield %score : f32\n    }} -> {}",
                    fmt::join(maps, ",\n        "), fmt::join(names, ", "), fmt::join(types, ", "),
                    whole, whole));
    std::string last = "%attention";
    if (whole != returned) {
      last = "%result";
      lines.push_back(fmt::format("%result = tensor.collapse_shape %attention {} : {} into {}",
                                  reassociation(loops), whole, returned));
    }
    return fmt::format(
        "  util.func private @{}({}) -> {} {{\n    {}\n    util.return {} : {}\n  }}\n", called,
        fmt::join(parameters, ", "), returned, fmt::join(lines, "\n    "), last, returned);
  }

 private:
  // An operand of the attention, with the loop of each dimension.
  struct Shaped {
    std::string name, type;
    std::vector<std::string> loops;
  };

  MlirValue operand(MlirOperation operation, std::size_t index) const {
    return ir_.operands(operation).at(index);
  }

  // Sums of products of two operands that begin at zero.
  std::optional<Product> product_of(MlirOperation operation) const {
    if (!operation || !ir_.name(operation).starts_with("linalg.") ||
        !ir_.api().mlirLinalgIsAContractionOp(operation) || !adds_products(ir_, operation) ||
        ir_.operands(operation).size() != 3 ||
        fill_constant(ir_, ir_.defining_operation(operand(operation, 2))) != 0.0)
      return std::nullopt;
    const auto described = describe_operation(ir_, operation);
    if (!described || described->operands.size() != 3 ||
        std::ranges::any_of(described->loops,
                            [](const problem::Loop& loop) { return loop.size <= 0; }))
      return std::nullopt;
    for (const LoopRole role : {LoopRole::kM, LoopRole::kN, LoopRole::kK})
      if (problem::loops_with(*described, role).size() != 1) return std::nullopt;
    return Product{operation, *described};
  }

  bool is_reshape(MlirOperation operation) const {
    return ir_.is(operation, "tensor.expand_shape") || ir_.is(operation, "tensor.collapse_shape");
  }

  // The value before it got another shape.
  MlirValue before_reshapes(MlirValue value) {
    for (MlirOperation made = ir_.defining_operation(value); is_reshape(made);
         made = ir_.defining_operation(value)) {
      inside_.insert(made);
      value = operand(made, 0);
    }
    return value;
  }

  // A linalg.generic with `results` results, of which it walks all dimensions in order.
  bool is_generic(MlirOperation operation, bool reduces_last) const {
    if (!ir_.is(operation, "linalg.generic")) return false;
    const std::vector<IndexingMap> maps = indexing_maps(ir_, operation);
    const auto described = describe_operation(ir_, operation);
    if (!described || maps.empty() || described->loops.empty()) return false;
    for (std::size_t l = 0; l < described->loops.size(); ++l)
      if (described->loops[l].reduction != (reduces_last && l + 1 == described->loops.size()))
        return false;
    return reduces_last || (ir_.results(operation).size() == 1 && is_identity(maps.back()));
  }

  static bool is_identity(const IndexingMap& map) {
    for (std::size_t d = 0; d < map.results.size(); ++d)
      if (map.results[d] != static_cast<int>(d)) return false;
    return map.results.size() == map.loops;
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
    if (!input || !is_identity(indexing_maps(ir_, operation).at(*input))) return std::nullopt;
    return operand(operation, *input);
  }

  // An input with one element for each row of keys.
  std::optional<MlirValue> row_element(MlirOperation operation, MlirValue scalar) const {
    const auto input = input_of(operation, scalar);
    if (!input) return std::nullopt;
    const IndexingMap map = indexing_maps(ir_, operation).at(*input);
    const auto type = ir_.type(operand(operation, *input));
    for (std::size_t d = 0; d < map.results.size(); ++d)
      if (map.results[d] != (d + 1 < map.loops ? static_cast<int>(d) : -1)) return std::nullopt;
    if (!type || map.results.size() + 1 < map.loops ||
        (map.results.size() == map.loops && type->shape.back() != 1))
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
    inside_.insert(made);
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
    inside_.insert(softmax);
    return take_scores(scores);
  }

  bool follow_exponentials(MlirValue exponentials) {
    MlirOperation made = ir_.defining_operation(exponentials);
    if (!is_generic(made, false)) return false;
    inside_.insert(made);
    const MlirOperation power = scalar_operation(ir_.yielded(made).at(0), "math.exp");
    if (!power) return false;
    MlirValue scalar = operand(power, 0);
    if (const auto differences = same_element(made, scalar)) {
      made = ir_.defining_operation(*differences);
      if (!is_generic(made, false)) return false;
      inside_.insert(made);
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
        !is_identity(indexing_maps(ir_, made).at(0)) || !start || *start > most)
      return false;
    const MlirOperation step = ir_.defining_operation(ir_.yielded(made).at(0));
    if (!step || !is_any_of(ir_.name(step), names)) return false;
    const std::vector<MlirValue> operands = ir_.operands(step);
    inside_.insert(made);
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
    shape_ = type->shape;
    return follow_scores(scores);
  }

  // From the softmax back to the product of queries and keys.
  bool follow_scores(MlirValue value) {
    value = before_reshapes(value);
    const MlirOperation made = ir_.defining_operation(value);
    if (const auto product = product_of(made)) {
      scores_ = *product;
      inside_.insert(made);
      return true;
    }
    if (!is_generic(made, false)) return false;
    inside_.insert(made);
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
        const RegionReader before = *this;
        if (take_mask(around, operand(made, 1 - side)) &&
            follow_scalar(around, operand(made, side)))
          return true;
        restore(before);
      }
    return false;
  }

  void restore(const RegionReader& before) {
    inside_ = before.inside_;
    scores_ = before.scores_;
    mask_ = before.mask_;
    mask_loops_ = before.mask_loops_;
    scale_ = before.scale_;
  }

  bool scaled(double by) {
    scale_ *= by;
    return std::isfinite(scale_);
  }

  // A constant in the body, outside of it, or an input that holds one value.
  std::optional<double> constant_of(MlirOperation around, MlirValue scalar) const {
    if (const auto input = input_of(around, scalar)) scalar = operand(around, *input);
    const MlirOperation made = ir_.defining_operation(scalar);
    if (!ir_.is(made, "arith.constant")) return fill_constant(ir_, made);
    return ir_.number(ir_.attribute(made, "value"));
  }

  // A mask is added behind the scale.
  bool take_mask(MlirOperation around, MlirValue scalar) {
    const auto input = input_of(around, before_conversions(scalar));
    if (!input || mask_ || scale_ != 1) return false;
    const MlirValue tensor = operand(around, *input);
    const auto type = ir_.type(tensor);
    const auto read = indices(ir_.api(), maps_of(ir_, around).at(*input));
    if (!type || is_dynamic(*type) || !problem::is_float(type->element) || !read) return false;
    mask_loops_.assign(type->shape.size(), -1);
    for (std::size_t d = 0; d < read->size(); ++d) {
      if (type->shape[d] == 1) continue;
      const std::vector<std::int64_t>& of_loop = (*read)[d].of_loop;
      const auto loop = std::ranges::find(of_loop, 1);
      if (loop == of_loop.end() || (*read)[d].constant != 0 ||
          std::ranges::count(of_loop, 0) + 1 != std::ssize(of_loop))
        return false;
      mask_loops_[d] = static_cast<int>(loop - of_loop.begin());
    }
    if (std::ranges::count(mask_loops_, -1) == std::ssize(mask_loops_)) return false;
    mask_ = Given{around, *input};
    return true;
  }

  // Whether both products and the softmax walk the same queries and keys.
  bool fits() const {
    const std::int64_t batch = scores_.size(LoopRole::kBatch);
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 2 < shape_.size(); ++d) rows *= shape_[d];
    return values_.size(LoopRole::kBatch) == batch && rows == batch &&
           values_.size(LoopRole::kM) == shape_[shape_.size() - 2] &&
           scores_.size(LoopRole::kM) == shape_[shape_.size() - 2] &&
           values_.size(LoopRole::kK) == shape_.back() &&
           scores_.size(LoopRole::kN) == shape_.back();
  }

  // The result rounded to a narrower type belongs to the region.
  void take_conversion(const std::map<MlirValue, std::vector<MlirOperation>>& users) {
    const auto readers = users.find(ir_.results(last_).front());
    if (readers == users.end() || readers->second.size() != 1) return;
    const MlirOperation reader = readers->second.front();
    if (!is_generic(reader, false)) return;
    const MlirOperation conversion = scalar_operation(ir_.yielded(reader).at(0), "arith.truncf");
    if (!conversion || same_element(reader, operand(conversion, 0)) != ir_.results(last_).front())
      return;
    inside_.insert(reader);
    last_ = reader;
  }

  // Sizes of the batch: one for the products' own batch, or those of the softmax where a mask
  // differs along some of them. Sizes of 1 are left out.
  std::vector<std::int64_t> batch() const {
    std::vector<std::int64_t> sizes;
    const std::size_t batches = shape_.size() - 2;
    const bool masked = std::ranges::any_of(
        mask_loops_, [&](int loop) { return loop >= 0 && to_index(loop) < batches; });
    if (!masked) return {scores_.size(LoopRole::kBatch)};
    for (std::size_t d = 0; d < batches; ++d)
      if (shape_[d] != 1) sizes.push_back(shape_[d]);
    return sizes;
  }

  // Names of an operand's dimensions; a batch that is split has several.
  std::vector<std::string> named_loops(const Product& product, std::size_t operand) const {
    const bool second = product.operation == values_.operation;
    std::vector<std::string> names;
    for (const int loop : product.described.operands.at(operand).loops)
      switch (product.described.loops.at(to_index(loop)).role) {
        case LoopRole::kM:
          names.emplace_back(kQueries);
          break;
        case LoopRole::kN:
          names.emplace_back(second ? kValues : kKeys);
          break;
        case LoopRole::kK:
          names.emplace_back(second ? kKeys : kHead);
          break;
        default:
          for (std::size_t b = 0; b < batch().size(); ++b) names.push_back(fmt::format("b{}", b));
      }
    return names;
  }

  std::string map_of(const std::vector<std::string>& loops) const {
    std::vector<std::string> all;
    if (!problem::loops_with(scores_.described, LoopRole::kBatch).empty())
      for (std::size_t b = 0; b < batch().size(); ++b) all.push_back(fmt::format("b{}", b));
    for (const std::string_view loop : {kQueries, kHead, kKeys, kValues}) all.emplace_back(loop);
    return fmt::format("affine_map<({}) -> ({})>", fmt::join(all, ", "), fmt::join(loops, ", "));
  }

  // "[[0, 1], [2], [3]]": the dimensions of the batch become one.
  static std::string reassociation(const std::vector<std::string>& loops) {
    std::vector<std::string> groups;
    for (std::size_t d = 0; d < loops.size(); ++d)
      if (loops[d].starts_with("b") && !loops[d].starts_with("b0"))
        groups.back() += fmt::format(", {}", d);
      else
        groups.push_back(std::to_string(d));
    return fmt::format("[[{}]]", fmt::join(groups, "], ["));
  }

  // The type with the batch as it is split.
  std::string expanded_type(MlirValue value, const std::vector<std::string>& loops) const {
    const problem::TensorType type = *ir_.type(value);
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; const std::string& loop : loops) {
      if (!loop.starts_with("b")) {
        shape.push_back(type.shape.at(d++));
        continue;
      }
      shape.push_back(batch().at(to_index(std::stoi(loop.substr(1)))));
      if (shape.size() == batch().size() + d) ++d;
    }
    return fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), problem::name_of(type.element));
  }

  Shaped expanded(const std::string& name, const Product& product, std::size_t index,
                  std::vector<std::string>& lines) const {
    const MlirValue value = operand(product.operation, index);
    const std::string type = ir_.type_text(value);
    Shaped shaped{name, type, named_loops(product, index)};
    shaped.type = expanded_type(value, shaped.loops);
    if (shaped.type == type) return shaped;
    shaped.name += "_split";
    const std::string sizes = shaped.type.substr(7, shaped.type.rfind('x') - 7);
    std::string list = sizes;
    for (std::size_t at = list.find('x'); at != std::string::npos; at = list.find('x', at))
      list.replace(at, 1, ", ");
    lines.push_back(fmt::format("{} = tensor.expand_shape {} {} output_shape [{}] : {} into {}",
                                shaped.name, name, reassociation(shaped.loops), list, type,
                                shaped.type));
    return shaped;
  }

  Shaped mask_text(std::vector<std::string>& lines) const {
    const MlirValue value = operand(mask_->operation, mask_->index);
    const problem::TensorType type = *ir_.type(value);
    const std::string element(problem::name_of(type.element));
    const std::size_t batches = shape_.size() - 2;
    Shaped mask{"%arg3", ir_.type_text(value), {}};
    std::vector<std::string> groups;
    std::vector<std::int64_t> shape;
    std::string leading;
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      if (mask_loops_[d] < 0) {
        (groups.empty() ? leading : groups.back()) += fmt::format("{}, ", d);
        continue;
      }
      groups.push_back(leading + fmt::format("{}, ", d));
      leading.clear();
      shape.push_back(type.shape[d]);
      const std::size_t loop = to_index(mask_loops_[d]);
      if (loop >= batches)
        mask.loops.emplace_back(loop == batches ? kQueries : kKeys);
      else
        mask.loops.push_back(fmt::format(
            "b{}",
            loop - to_index(std::count(shape_.begin(), shape_.begin() + mask_loops_[d], 1))));
    }
    if (shape.size() < type.shape.size()) {
      for (std::string& group : groups) group.resize(group.size() - 2);
      const std::string flat = fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), element);
      lines.push_back(fmt::format("%mask = tensor.collapse_shape %arg3 [[{}]] : {} into {}",
                                  fmt::join(groups, "], ["), mask.type, flat));
      mask.name = "%mask";
      mask.type = flat;
    }
    if (ir_.is(ir_.defining_operation(value), "arith.constant")) keep_outside(mask, element, lines);
    return mask;
  }

  // With aggressive fusion the compiler copies a constant mask into the dispatch, as code. What is
  // computed from a constant it evaluates once instead. Values are as they were: none is above the
  // largest of its type.
  static void keep_outside(Shaped& mask, const std::string& element,
                           std::vector<std::string>& lines) {
    const std::string_view largest = element == "f16"    ? "65504.0"
                                     : element == "bf16" ? "3.38953139e+38"
                                                         : "3.40282347e+38";
    std::vector<std::string> loops;
    for (std::size_t d = 0; d < mask.loops.size(); ++d) loops.push_back(fmt::format("d{}", d));
    const std::vector<std::string> parallel(loops.size(), "\"parallel\"");
    const std::string map = fmt::format("affine_map<({0}) -> ({0})>", fmt::join(loops, ", "));
    lines.push_back(fmt::format("%largest = arith.constant {} : {}", largest, element));
    lines.push_back(fmt::format("%place = tensor.empty() : {}", mask.type));
    lines.push_back(fmt::format(
        "%evaluated = linalg.generic {{indexing_maps = [{0}, {0}], iterator_types = [{1}]}}\n"
        "        ins({2} : {3}) outs(%place : {3}) {{\n    ^bb0(%in: {4}, %out: {4}):\n"
        "      %bounded = arith.minimumf %in, %largest : {4}\n"
        "      linalg.yield %bounded : {4}\n    }} -> {3}",
        map, fmt::join(parallel, ", "), mask.name, mask.type, element));
    mask.name = "%evaluated";
  }

  Ir ir_;
  MlirOperation last_;  // whose result is the region's
  Product scores_, values_;
  std::set<MlirOperation> inside_;
  std::vector<std::int64_t> shape_;  // of the scores where the softmax reads them
  std::optional<Given> mask_;
  std::vector<int> mask_loops_;  // of the scores' dimensions, by the mask's; -1 for a size of 1
  double scale_ = 1;
};

}  // namespace

Result<problem::Regions> attention_regions(const CompilerSession& session, MlirOperation module) {
  const Ir ir(session.api());
  std::map<MlirValue, std::vector<MlirOperation>> users;
  std::vector<MlirOperation> all;
  ir.walk(module, [&](MlirOperation operation) {
    all.push_back(operation);
    for (const MlirValue operand : ir.operands(operation)) users[operand].push_back(operation);
  });
  problem::Regions regions;
  std::vector<Replacement> replacements;
  for (const MlirOperation operation : all) {
    RegionReader reader(ir, operation);
    if (!reader.read(users)) continue;
    const std::vector<Given> given = reader.given();
    HONE_ASSIGN(OperationText text, text_of_operations(session, reader.operations(all), given));
    const bool known = std::ranges::any_of(
        replacements, [&](const Replacement& each) { return each.dag == text.dag; });
    if (known) continue;
    Replacement& replacement = replacements.emplace_back();
    replacement.name = fmt::format("attention_{}", replacements.size() - 1);
    replacement.comment = reader.name();
    replacement.function = reader.function(replacement.name);
    for (const Given& each : given)
      replacement.operands.push_back(ir.type_text(ir.operands(each.operation).at(each.index)));
    replacement.dag = std::move(text.dag);
    replacement.scalars = std::move(text.scalars);
    regions.names.push_back(replacement.comment);
  }
  if (!replacements.empty()) regions.spec = replacing_spec(replacements);
  return regions;
}

}  // namespace hone::iree
