#include "provider/iree/program/attention_regions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ranges.h"

namespace hone::iree {
namespace {

using problem::LoopRole;

// Loops of attention, by their names in the text.
constexpr std::string_view kQueries = "m", kKeys = "k2", kHead = "k1", kValues = "n";

// A region as one operation.
class AttentionText {
 public:
  AttentionText(const Ir& ir, const AttentionRegion& region) : ir_(ir), region_(region) {}

  std::string name() const {
    return fmt::format("attention {}x{}x{}x{}x{}", region_.scores.size(LoopRole::kBatch),
                       region_.scores.size(LoopRole::kM), region_.scores.size(LoopRole::kK),
                       region_.scores.size(LoopRole::kN), region_.values.size(LoopRole::kN));
  }

  // Fills in what computes the region as one operation.
  void write(Region& region) const {
    std::vector<std::string>& lines = region.lines;
    std::vector<std::string> names, types, maps;
    const auto add = [&](const Shaped& shaped) {
      names.push_back(shaped.name);
      types.push_back(shaped.type);
      maps.push_back(map_of(shaped.loops));
    };
    add(expanded("%arg0", region_.scores, 0, lines));
    add(expanded("%arg1", region_.scores, 1, lines));
    add(expanded("%arg2", region_.values, 1, lines));
    lines.push_back(fmt::format("%scale = arith.constant {:.9e} : f32", region_.scale));
    add({"%scale", "f32", {}});
    if (region_.mask) add(mask_text(lines));
    const MlirValue result = ir_.results(region_.last).front();
    const std::string returned = ir_.type_text(result);
    std::vector<std::string> loops = named_loops(region_.values, 2);
    const std::string whole = expanded_type(result, loops);
    maps.push_back(map_of(loops));
    lines.push_back(fmt::format("%empty = tensor.empty() : {}", whole));
    lines.push_back(
        fmt::format("%attention = iree_linalg_ext.attention <{{indexing_maps = [{}]}}>\n"
                    "        ins({} : {})\n        outs(%empty : {}) {{\n    ^bb0(%score: f32):\n"
                    "      iree_linalg_ext.yield %score : f32\n    }} -> {}",
                    fmt::join(maps, ",\n        "), fmt::join(names, ", "), fmt::join(types, ", "),
                    whole, whole));
    region.value = "%attention";
    if (whole == returned) return;
    region.value = "%result";
    lines.push_back(fmt::format("%result = tensor.collapse_shape %attention {} : {} into {}",
                                reassociation(loops), whole, returned));
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

  // Sizes of the batch: one for the products' own batch, or those of the softmax where a mask
  // differs along some of them. Sizes of 1 are left out.
  std::vector<std::int64_t> batch() const {
    std::vector<std::int64_t> sizes;
    const std::size_t batches = region_.shape.size() - 2;
    const bool masked = std::ranges::any_of(
        region_.mask_loops, [&](int loop) { return loop >= 0 && to_index(loop) < batches; });
    if (!masked) return {region_.scores.size(LoopRole::kBatch)};
    for (std::size_t d = 0; d < batches; ++d)
      if (region_.shape[d] != 1) sizes.push_back(region_.shape[d]);
    return sizes;
  }

  // Names of an operand's dimensions; a batch that is split has several.
  std::vector<std::string> named_loops(const AttentionProduct& product, std::size_t operand) const {
    const bool second = product.operation == region_.values.operation;
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
    if (!problem::loops_with(region_.scores.described, LoopRole::kBatch).empty())
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

  Shaped expanded(const std::string& name, const AttentionProduct& product, std::size_t index,
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
    const MlirValue value = operand(region_.mask->operation, region_.mask->index);
    const problem::TensorType type = *ir_.type(value);
    const std::string element(problem::name_of(type.element));
    const std::size_t batches = region_.shape.size() - 2;
    Shaped mask{"%arg3", ir_.type_text(value), {}};
    std::vector<std::string> groups;
    std::vector<std::int64_t> shape;
    std::string leading;
    for (std::size_t d = 0; d < type.shape.size(); ++d) {
      if (region_.mask_loops[d] < 0) {
        (groups.empty() ? leading : groups.back()) += fmt::format("{}, ", d);
        continue;
      }
      groups.push_back(leading + fmt::format("{}, ", d));
      leading.clear();
      shape.push_back(type.shape[d]);
      const std::size_t loop = to_index(region_.mask_loops[d]);
      if (loop >= batches)
        mask.loops.emplace_back(loop == batches ? kQueries : kKeys);
      else
        mask.loops.push_back(fmt::format(
            "b{}", loop - to_index(std::count(region_.shape.begin(),
                                              region_.shape.begin() + region_.mask_loops[d], 1))));
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

  const Ir& ir_;
  const AttentionRegion& region_;
};

}  // namespace

std::optional<Region> attention_region(const Ir& ir, MlirOperation values, const Readers& readers) {
  const std::optional<AttentionRegion> attention = read_attention(ir, values, readers);
  if (!attention) return std::nullopt;
  const AttentionText text(ir, *attention);
  Region region{.name = text.name(), .inside = attention->inside, .given = attention->given()};
  text.write(region);
  return region;
}

}  // namespace hone::iree
