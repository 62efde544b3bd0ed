#include "provider/iree/program/grouped_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/ranges.h"

namespace hone::iree {
namespace {

// Loops of each operand's dimensions: n images, g groups, f filters of a group, c channels of a
// group, h and w of an image; 0 for the single element of a filter.
struct Layout {
  std::string_view operation, image, filter, result;
  bool is_channels_first = false;
};
constexpr std::array kLayouts{
    Layout{"linalg.conv_2d_ngchw_gfchw", "n, g, c, h, w", "g, f, c, 0, 0", "n, g, f, h, w", true},
    Layout{"linalg.conv_2d_ngchw_fgchw", "n, g, c, h, w", "f, g, c, 0, 0", "n, g, f, h, w", true},
    Layout{"linalg.conv_2d_nhwgc_gfhwc", "n, h, w, g, c", "g, f, 0, 0, c", "n, h, w, g, f"}};

// Product of the sizes of the dimensions that this loop runs over.
std::int64_t size_of(const problem::TensorType& type, std::string_view loops, char loop) {
  constexpr std::size_t kStep = std::string_view("n, ").size();
  std::int64_t size = 1;
  for (std::size_t at = loops.find(loop); at < loops.size(); at = loops.find(loop, at + 1))
    size *= type.shape.at(at / kStep);
  return size;
}

// Whether it is a product: every size known, floats of at most 32 bits that are added up in their
// own type or a wider one, and the filter reads each element of the image where it stands.
bool is_product(const Layout& layout, const problem::TensorType& image,
                const problem::TensorType& filter, const problem::TensorType& result) {
  constexpr std::int64_t kMostBytes = 4;
  const auto is_usable = [](const problem::TensorType& type) {
    return std::ranges::count(type.shape, problem::kDynamic) == 0 &&
           problem::is_float(type.element) && problem::byte_size(type.element) <= kMostBytes;
  };
  const bool widens = problem::byte_size(image.element) < problem::byte_size(result.element);
  return is_usable(image) && is_usable(filter) && is_usable(result) &&
         image.element == filter.element && (image.element == result.element || widens) &&
         size_of(filter, layout.filter, '0') == 1 &&
         size_of(image, layout.image, 'h') == size_of(result, layout.result, 'h') &&
         size_of(image, layout.image, 'w') == size_of(result, layout.result, 'w');
}

using Order = std::vector<std::size_t>;  // of dimensions

problem::TensorType in_order(const problem::TensorType& type, const Order& order) {
  problem::TensorType permuted{type.element, {}};
  for (const std::size_t dimension : order) permuted.shape.push_back(type.shape.at(dimension));
  return permuted;
}

std::string tensor(const problem::TensorType& type) {
  return fmt::format("tensor<{}>", problem::to_string(type));
}

// Adds the lines that give `value` another order of dimensions, as `name`.
void transpose(const std::string& name, const std::string& value, const problem::TensorType& type,
               const Order& order, Region& region) {
  const std::string place = tensor(in_order(type, order));
  region.lines.push_back(fmt::format("{}_place = tensor.empty() : {}", name, place));
  region.lines.push_back(
      fmt::format("{0} = linalg.transpose ins({1} : {2}) outs({0}_place : {3}) permutation = [{4}]",
                  name, value, tensor(type), place, fmt::join(order, ", ")));
}

// Image that all groups of a convolution read, channels before points.
struct SharedImage {
  MlirOperation concatenation, reshape;
  MlirValue image;
};

// Takes a concatenation of the same transposed matrix for each group, which only the convolution
// reads: projections of a transformer that are written as one convolution. Read as rows of
// channels, the transposition before it goes away.
std::optional<SharedImage> shared_image(const Ir& ir, MlirOperation convolution,
                                        std::int64_t groups, const Readers& readers) {
  const MlirOperation reshape = ir.defining_operation(ir.operands(convolution).front());
  if (!ir.is(reshape, "tensor.expand_shape") || !only_reader(ir.results(reshape).front(), readers))
    return std::nullopt;
  const MlirOperation concatenation = ir.defining_operation(ir.operands(reshape).front());
  if (!ir.is(concatenation, "tensor.concat") ||
      ir.integer_value(ir.attribute(concatenation, "dim")) != 1 ||
      !only_reader(ir.results(concatenation).front(), readers))
    return std::nullopt;
  const std::vector<MlirValue> images = ir.operands(concatenation);
  const auto is_first = [&](MlirValue each) { return each == images.front(); };
  const auto type = ir.type(images.front());
  if (std::ssize(images) != groups || !std::ranges::all_of(images, is_first) || !type ||
      type->shape.size() != 4)
    return std::nullopt;
  MlirOperation source = ir.defining_operation(images.front());
  if (ir.is(source, "tensor.expand_shape"))
    source = ir.defining_operation(ir.operands(source).front());
  if (!ir.is(source, "linalg.transpose")) return std::nullopt;
  return SharedImage{concatenation, reshape, images.front()};
}

// The conversion of the sums to a narrower type, behind the reshape between groups and filters as
// one dimension. Behind a reshape the compiler would make a dispatch of its own of it.
struct Narrowing {
  MlirOperation reshape{}, conversion{};  // null where there is none
};

Narrowing narrowing_of(const Ir& ir, MlirValue sums, const Readers& readers) {
  Narrowing found{only_reader(sums, readers), {}};
  if (!ir.is(found.reshape, "tensor.collapse_shape")) found.reshape = {};
  found.conversion =
      narrowing_reader(ir, found.reshape ? ir.results(found.reshape).front() : sums, readers);
  if (!found.conversion) found.reshape = {};
  return found;
}

}  // namespace

std::optional<Region> grouped_product(const Ir& ir, MlirOperation operation,
                                      const Readers& readers) {
  const Layout* const layout = find_by(kLayouts, ir.name(operation), &Layout::operation);
  if (layout == nullptr) return std::nullopt;
  const std::vector<MlirValue> operands = ir.operands(operation);
  const auto image = ir.type(operands.at(0)), filter = ir.type(operands.at(1)),
             result = ir.type(operands.at(2));
  if (!image || !filter || !result || !is_product(*layout, *image, *filter, *result))
    return std::nullopt;

  // Channels behind points: of the image, and of results.
  const Order last_of_image{0, 2, 3, 1}, last{0, 3, 4, 1, 2};
  const std::int64_t groups = size_of(*filter, layout->filter, 'g'),
                     filters = size_of(*filter, layout->filter, 'f'),
                     channels = size_of(*image, layout->image, 'c'),
                     points = size_of(*image, layout->image, 'n') *
                              size_of(*image, layout->image, 'h') *
                              size_of(*image, layout->image, 'w');
  std::optional<SharedImage> shared;
  if (layout->is_channels_first) shared = shared_image(ir, operation, groups, readers);
  Region region;
  region.name = shared ? fmt::format("product {}x{}x{}", groups * filters, points, channels)
                       : fmt::format("{} products {}x{}x{}", groups, filters, points, channels);
  region.inside = {operation};
  region.given = {{operation, 0}, {operation, 1}, {operation, 2}};
  std::string read = "%arg0", bias = "%arg2";
  problem::TensorType read_type = *image, sums = *result;
  std::string_view loops = "n, g, f, h, w, c", image_loops = layout->image,
                   result_loops = layout->result;
  if (shared) {
    region.inside.insert({shared->concatenation, shared->reshape});
    region.given.front() = {shared->concatenation, 0, /*is_everywhere=*/true};
    transpose("%image", read, *ir.type(shared->image), last_of_image, region);
    transpose("%bias", bias, sums, last, region);
    read = "%image";
    bias = "%bias";
    read_type = in_order(*ir.type(shared->image), last_of_image);
    sums = in_order(sums, last);
    loops = "n, h, w, g, f, c";
    image_loops = "n, h, w, c";
    result_loops = "n, h, w, g, f";
  }
  const std::string_view element = problem::name_of(image->element),
                         sum = problem::name_of(result->element);
  const bool widens = element != sum;
  const std::string widened = widens ? fmt::format(
                                           "      %x = arith.extf %point : {0} to {1}\n"
                                           "      %y = arith.extf %weight : {0} to {1}\n",
                                           element, sum)
                                     : std::string();
  const auto map = [&](std::string_view operand) {
    return fmt::format("affine_map<({}) -> ({})>", loops, operand);
  };
  const std::vector<std::string> lines{
      fmt::format("%zero = arith.constant 0.0 : {}", sum),
      fmt::format("%place = tensor.empty() : {}", tensor(sums)),
      fmt::format("%none = linalg.fill ins(%zero : {0}) outs(%place : {1}) -> {1}", sum,
                  tensor(sums)),
      fmt::format(
          "%products = linalg.generic {{indexing_maps = [{0}, {1}, {2}],\n"
          "        iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
          "\"parallel\", \"reduction\"]}}\n"
          "        ins({10}, %arg1 : {3}, {4}) outs(%none : {5}) {{\n"
          "    ^bb0(%point: {6}, %weight: {6}, %sum: {7}):\n{8}"
          "      %product = arith.mulf {9} : {7}\n"
          "      %next = arith.addf %sum, %product : {7}\n"
          "      linalg.yield %next : {7}\n    }} -> {5}",
          map(image_loops), map(layout->filter), map(result_loops), tensor(read_type),
          ir.type_text(operands[1]), tensor(sums), element, sum, widened,
          widens ? "%x, %y" : "%point, %weight", read),
      fmt::format("%biased = arith.addf %products, {} : {}", bias, tensor(sums))};
  region.lines.insert(region.lines.end(), lines.begin(), lines.end());
  region.value = "%biased";
  const auto [reshape, conversion] = narrowing_of(ir, ir.results(operation).front(), readers);
  if (conversion) {
    problem::TensorType narrow = sums;
    narrow.element = ir.type(ir.results(conversion).front())->element;
    region.inside.insert(conversion);
    region.lines.push_back(
        fmt::format("%narrow = arith.truncf %biased : {} to {}", tensor(sums), tensor(narrow)));
    region.value = "%narrow";
    sums = narrow;
  }
  if (shared) {
    transpose("%channels_first", region.value, sums, last, region);
    region.value = "%channels_first";
    sums = in_order(sums, last);
  }
  if (reshape) {
    region.inside.insert(reshape);
    region.lines.push_back(fmt::format("%result = tensor.collapse_shape {} {} : {} into {}",
                                       region.value,
                                       ir.text(ir.attribute(reshape, "reassociation")),
                                       tensor(sums), ir.type_text(ir.results(conversion).front())));
    region.value = "%result";
  }
  return region;
}

}  // namespace hone::iree
