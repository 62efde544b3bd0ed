#include "provider/iree/program/grouped_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ranges.h"

namespace hone::iree {
namespace {

// Loops of each operand's dimensions: n images, g groups, f filters of a group, c channels of a
// group, h and w of an image; 0 for the single element of a filter.
struct Layout {
  std::string_view operation, image, filter, result;
};
constexpr std::array kLayouts{
    Layout{"linalg.conv_2d_ngchw_gfchw", "n, g, c, h, w", "g, f, c, 0, 0", "n, g, f, h, w"},
    Layout{"linalg.conv_2d_ngchw_fgchw", "n, g, c, h, w", "f, g, c, 0, 0", "n, g, f, h, w"},
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

// Adds the conversion of the sums to a narrower type, behind the reshape between groups and filters
// as one dimension. Behind a reshape the compiler would make a dispatch of its own of it.
void take_conversion(const Ir& ir, MlirValue sums, const Readers& readers, Region& region) {
  const MlirOperation reshape = only_reader(sums, readers);
  const bool reshapes = ir.is(reshape, "tensor.collapse_shape");
  const MlirValue shaped = reshapes ? ir.results(reshape).front() : sums;
  const MlirOperation conversion = narrowing_reader(ir, shaped, readers);
  if (!conversion) return;
  const MlirValue result = ir.results(conversion).front();
  problem::TensorType narrow = *ir.type(sums);
  narrow.element = ir.type(result)->element;
  region.inside.insert(conversion);
  region.lines.push_back(fmt::format("%narrow = arith.truncf {} : {} to tensor<{}>", region.value,
                                     ir.type_text(sums), problem::to_string(narrow)));
  region.value = "%narrow";
  if (!reshapes) return;
  region.inside.insert(reshape);
  region.lines.push_back(
      fmt::format("%result = tensor.collapse_shape %narrow {} : tensor<{}> into {}",
                  ir.text(ir.attribute(reshape, "reassociation")), problem::to_string(narrow),
                  ir.type_text(result)));
  region.value = "%result";
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

  const std::string sums = ir.type_text(operands[2]);
  const std::string_view element = problem::name_of(image->element),
                         sum = problem::name_of(result->element);
  const bool widens = element != sum;
  const std::string widened = widens ? fmt::format(
                                           "      %x = arith.extf %image : {0} to {1}\n"
                                           "      %y = arith.extf %filter : {0} to {1}\n",
                                           element, sum)
                                     : std::string();
  const auto map = [](std::string_view loops) {
    return fmt::format("affine_map<(n, g, f, h, w, c) -> ({})>", loops);
  };
  Region region;
  region.name =
      fmt::format("{} products {}x{}x{}", size_of(*filter, layout->filter, 'g'),
                  size_of(*filter, layout->filter, 'f'),
                  size_of(*image, layout->image, 'n') * size_of(*image, layout->image, 'h') *
                      size_of(*image, layout->image, 'w'),
                  size_of(*image, layout->image, 'c'));
  region.inside = {operation};
  region.given = {{operation, 0}, {operation, 1}, {operation, 2}};
  region.lines = {
      fmt::format("%zero = arith.constant 0.0 : {}", sum),
      fmt::format("%place = tensor.empty() : {}", sums),
      fmt::format("%none = linalg.fill ins(%zero : {0}) outs(%place : {1}) -> {1}", sum, sums),
      fmt::format(
          "%products = linalg.generic {{indexing_maps = [{0}, {1}, {2}],\n"
          "        iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
          "\"parallel\", \"reduction\"]}}\n"
          "        ins(%arg0, %arg1 : {3}, {4}) outs(%none : {5}) {{\n"
          "    ^bb0(%image: {6}, %filter: {6}, %sum: {7}):\n{8}"
          "      %product = arith.mulf {9} : {7}\n"
          "      %next = arith.addf %sum, %product : {7}\n"
          "      linalg.yield %next : {7}\n    }} -> {5}",
          map(layout->image), map(layout->filter), map(layout->result), ir.type_text(operands[0]),
          ir.type_text(operands[1]), sums, element, sum, widened,
          widens ? "%x, %y" : "%image, %filter"),
      fmt::format("%biased = arith.addf %products, %arg2 : {}", sums)};
  region.value = "%biased";
  take_conversion(ir, ir.results(operation).front(), readers, region);
  return region;
}

}  // namespace hone::iree
