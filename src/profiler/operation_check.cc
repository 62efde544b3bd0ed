// Parsing of an operation's name, and the check that it can be generated.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "profiler/operation.h"

namespace hone::profiler {
namespace {

using problem::ElementType;

// Limits: extents up to 2^20 and tensors below 2^40 elements keep every computed product of them
// within 64 bits.
constexpr std::int64_t kMostExtent = std::int64_t{1} << 20;
constexpr double kMostElements = 1099511627776.0;  // 2^40
constexpr double kMostFlops = 4.6e18;              // 2^62

struct Extent {
  std::string_view what;
  std::int64_t value;
  std::int64_t least;
};

Status check_extents(const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  std::vector<Extent> extents = {{"batch", operation.batch, 1},
                                 {"m", operation.m, 1},
                                 {"n", operation.n, 1},
                                 {"k", operation.k, 1},
                                 {"split-K slices", operation.split_k_slices, 1}};
  if (is_convolution(operation.kind))
    extents = {{"number of images", c.images, 1},
               {"height", c.height, 1},
               {"width", c.width, 1},
               {"number of channels", c.channels, 1},
               {"number of filters", c.filters, 1},
               {"filter height", c.filter_height, 1},
               {"filter width", c.filter_width, 1},
               {"stride", std::min(c.stride_height, c.stride_width), 1},
               {"stride", std::max(c.stride_height, c.stride_width), 1},
               {"dilation", std::min(c.dilation_height, c.dilation_width), 1},
               {"dilation", std::max(c.dilation_height, c.dilation_width), 1},
               {"padding", std::min(c.padding_height, c.padding_width), 0},
               {"padding", std::max(c.padding_height, c.padding_width), 0},
               {"number of groups", c.groups, 1}};
  for (const Extent& extent : extents)
    if (extent.value < extent.least || extent.value > kMostExtent)
      return input_error("the {} of '{}' is {}; it may be {} to {}", extent.what, operation.name(),
                         extent.value, extent.least, kMostExtent);
  return {};
}

Status check_convolution(const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  if (c.channels % c.groups != 0 || c.filters % c.groups != 0)
    return input_error("the {} groups of '{}' do not divide its {} channels and {} filters",
                       c.groups, operation.name(), c.channels, c.filters);
  const auto reach = [](std::int64_t filter, std::int64_t dilation) {
    return dilation * (filter - 1) + 1;
  };
  if (reach(c.filter_height, c.dilation_height) > c.height + 2 * c.padding_height ||
      reach(c.filter_width, c.dilation_width) > c.width + 2 * c.padding_width)
    return input_error(
        "the filter of '{}', {}x{} with its dilation, is larger than the padded input, {}x{}",
        operation.name(), reach(c.filter_height, c.dilation_height),
        reach(c.filter_width, c.dilation_width), c.height + 2 * c.padding_height,
        c.width + 2 * c.padding_width);
  return {};
}

Status check_types(const NamedOperation& operation) {
  const Types types = {operation.lhs, operation.rhs, operation.result};
  const auto known = generated_types();
  if (std::ranges::find(known, types) == known.end()) {
    std::vector<std::string> names;
    for (const Types& each : known)
      names.push_back(type_name(each[0]) + "," + type_name(each[1]) + "," + type_name(each[2]));
    return input_error(
        "'{}' is of element types that are not generated; those are, as lhs,rhs,result: {}",
        operation.name(), fmt::join(names, "; "));
  }
  if (operation.kind == kMatmulBiasGelu && !problem::is_float(operation.result))
    return input_error("'{}' asks for the gelu of integers; it is of f16, bf16 or f32",
                       operation.name());
  if (operation.kind == kAttention && operation.lhs != operation.result)
    return input_error("'{}': the result of attention is of its inputs' type, f16, bf16 or f32",
                       operation.name());
  return {};
}

Status check_sizes(const NamedOperation& operation) {
  std::vector<problem::TensorType> tensors = operation.inputs();
  tensors.push_back(operation.output());
  for (const problem::TensorType& type : tensors) {
    double elements = 1;
    for (const std::int64_t extent : type.shape) elements *= static_cast<double>(extent);
    if (elements >= kMostElements)
      return input_error("a tensor of '{}' would have {:.2g} elements; hone takes fewer than 2^40",
                         operation.name(), elements);
  }
  const NamedOperation::Product p = operation.product();
  const double flops = 4.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                       static_cast<double>(p.n) * static_cast<double>(p.k);
  if (flops >= kMostFlops)
    return input_error("'{}' takes {:.2g} operations; hone takes fewer than 2^62", operation.name(),
                       flops);
  return {};
}

// Reads "34x34x128" behind `prefix` into `values`; false unless it has that many numbers.
bool read_numbers(std::string_view text, std::string_view prefix,
                  std::initializer_list<std::int64_t*> values) {
  if (!text.starts_with(prefix)) return false;
  const auto parts = split(text.substr(prefix.size()), 'x');
  if (parts.size() != values.size()) return false;
  auto part = parts.begin();
  for (std::int64_t* const value : values) {
    const char* const end = part->data() + part->size();
    const auto read = std::from_chars(part->data(), end, *value);
    if (read.ec != std::errc() || read.ptr != end) return false;
    ++part;
  }
  return true;
}

bool read_tensor(std::string_view text, std::string_view layout, ElementType& type) {
  if (!text.ends_with(layout)) return false;
  text.remove_suffix(layout.size());
  const auto read = type_from(text);
  if (!read || type_name(*read) != text) return false;
  type = *read;
  return true;
}

bool read_matrix(std::string_view text, ElementType& type, Layout& layout) {
  layout = text.ends_with('n') ? kColumnMajor : kRowMajor;
  return read_tensor(text, layout == kRowMajor ? "t" : "n", type);
}

// Reads the parts of the name behind the kind; false if they do not fit.
bool read_convolution(const std::vector<std::string_view>& parts, NamedOperation& operation) {
  ConvDims& c = operation.conv;
  if (parts.size() != 9) return false;
  c.layout = parts[6].ends_with("nchw") ? kNchw : kNhwc;
  const bool nhwc = c.layout == kNhwc;
  const std::string_view image = nhwc ? "nhwc" : "nchw";
  return read_numbers(parts[0], "", {&c.images, &c.height, &c.width, &c.channels}) &&
         read_numbers(parts[1], "", {&c.filters, &c.filter_height, &c.filter_width}) &&
         read_numbers(parts[2], "s", {&c.stride_height, &c.stride_width}) &&
         read_numbers(parts[3], "d", {&c.dilation_height, &c.dilation_width}) &&
         read_numbers(parts[4], "p", {&c.padding_height, &c.padding_width}) &&
         read_numbers(parts[5], "g", {&c.groups}) && read_tensor(parts[6], image, operation.lhs) &&
         read_tensor(parts[7], nhwc ? "hwcf" : "fchw", operation.rhs) &&
         read_tensor(parts[8], image, operation.result);
}

bool read_product(const std::vector<std::string_view>& parts, NamedOperation& operation) {
  const bool split_k = operation.kind == kSplitKMatmul;
  if (parts.size() != (split_k ? 5U : 4U)) return false;
  const bool sized =
      is_batched(operation.kind)
          ? read_numbers(parts[0], "", {&operation.batch, &operation.m, &operation.n, &operation.k})
          : read_numbers(parts[0], "", {&operation.m, &operation.n, &operation.k});
  return sized && read_matrix(parts[1], operation.lhs, operation.lhs_layout) &&
         read_matrix(parts[2], operation.rhs, operation.rhs_layout) &&
         read_tensor(parts[3], "t", operation.result) &&
         (!split_k || read_numbers(parts[4], "parallel", {&operation.split_k_slices}));
}

// Returns the kind with the longest name that `name` begins with.
std::optional<NamedOperationKind> kind_of(std::string_view name) {
  std::optional<NamedOperationKind> found;
  for (const NamedOperationKind kind : kOperationKinds) {
    const std::string_view text = name_of(kind);
    const bool begins = name.starts_with(text) && name.substr(text.size()).starts_with('_');
    if (begins && (!found || text.size() > name_of(*found).size())) found = kind;
  }
  return found;
}

std::string_view form_of(NamedOperationKind kind) {
  if (is_convolution(kind))
    return "NxHxWxC_FxRxS_sHxW_dHxW_pHxW_gG_f16nhwc_f16hwcf_f16nhwc (or nchw and fchw)";
  if (kind == kSplitKMatmul) return "MxNxK_f16t_f16t_f16t_parallelSLICES";
  return is_batched(kind) ? "BxMxNxK_f16t_f16t_f16t" : "MxNxK_f16t_f16t_f16t";
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

bool takes_types(const NamedOperation& operation) {
  return check_types(operation).has_value();
}

Status check(const NamedOperation& operation) {
  HONE_TRY(check_extents(operation));
  HONE_TRY(check_types(operation));
  if (is_convolution(operation.kind)) HONE_TRY(check_convolution(operation));
  if (operation.kind == kSplitKMatmul && operation.k % operation.split_k_slices != 0)
    return input_error("k of '{}' is {}, which {} slices do not divide", operation.name(),
                       operation.k, operation.split_k_slices);
  if (operation.kind == kAttention &&
      (operation.lhs_layout != kRowMajor || operation.rhs_layout != kRowMajor))
    return input_error("'{}': attention is generated of row-major inputs only (t)",
                       operation.name());
  return check_sizes(operation);
}

Result<NamedOperation> parse_operation(std::string_view name) {
  const auto kind = kind_of(name);
  if (!kind) {
    std::vector<std::string_view> names;
    for (const NamedOperationKind each : kOperationKinds) names.push_back(name_of(each));
    return input_error("'{}' is no operation's name: it begins with none of {}", name,
                       fmt::join(names, ", "));
  }
  NamedOperation operation;
  operation.kind = *kind;
  const auto parts = split(name.substr(name_of(*kind).size() + 1), '_');
  const bool read =
      is_convolution(*kind) ? read_convolution(parts, operation) : read_product(parts, operation);
  if (!read || operation.name() != name)  // 064 is no way to write 64
    return input_error("'{}' is no operation's name: behind {}_ it has to be like {}", name,
                       name_of(*kind), form_of(*kind));
  HONE_TRY(check(operation));
  return operation;
}

}  // namespace hone::profiler
