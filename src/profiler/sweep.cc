#include "profiler/sweep.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "provider/yaml_place.h"

namespace hone::profiler {

namespace {

std::vector<Types> default_types(NamedOperationKind kind) {
  const auto all = generated_types();
  if (kind == kMatmul) return {all[0], all[1], all[2]};
  return {all[0], all[1]};
}

constexpr std::int64_t kMostExtents = 1'000'000;

// Default of an extent, and the dimensions that it sets: of a product, or of a convolution. There a
// square extent such as stride sets two.
struct ExtentRow {
  std::string_view name;
  std::vector<std::int64_t> values;
  std::int64_t NamedOperation::*of_product = nullptr;
  std::vector<std::int64_t ConvDims::*> of_conv = {};

  void set(NamedOperation& operation, std::int64_t value) const {
    if (of_product != nullptr) operation.*of_product = value;
    for (const auto field : of_conv) operation.conv.*field = value;
  }
};

const std::vector<ExtentRow>& extent_rows() {
  using O = NamedOperation;
  using C = ConvDims;
  static const std::vector<ExtentRow> kRows = {
      {"m", {256}, &O::m},
      {"n", {256}, &O::n},
      {"k", {256}, &O::k},
      {"batch", {16}, &O::batch},
      // The old tool's list also has 18, which does not divide its own k of 12288.
      {"split_k_slices", {2, 4, 16, 18}, &O::split_k_slices},
      {"images", {1}, nullptr, {&C::images}},
      {"height", {56}, nullptr, {&C::height}},
      {"width", {56}, nullptr, {&C::width}},
      {"channels", {64}, nullptr, {&C::channels}},
      {"filters", {64}, nullptr, {&C::filters}},
      {"filter_height", {3}, nullptr, {&C::filter_height}},
      {"filter_width", {3}, nullptr, {&C::filter_width}},
      {"stride", {1}, nullptr, {&C::stride_height, &C::stride_width}},
      {"dilation", {1}, nullptr, {&C::dilation_height, &C::dilation_width}},
      {"padding", {0}, nullptr, {&C::padding_height, &C::padding_width}},
      {"groups", {1}, nullptr, {&C::groups}}};
  return kRows;
}

bool takes(NamedOperationKind kind, const ExtentRow& row) {
  if (is_convolution(kind)) return !row.of_conv.empty();
  if (row.of_product == &NamedOperation::batch) return is_batched(kind);
  if (row.of_product == &NamedOperation::split_k_slices) return kind == kSplitKMatmul;
  return row.of_product != nullptr;
}

// Returns the extents of the kind; the batch comes first, so it varies slowest.
std::vector<ExtentRow> rows_of(NamedOperationKind kind) {
  std::vector<ExtentRow> rows;
  for (const ExtentRow& row : extent_rows())
    if (takes(kind, row)) rows.insert(row.name == "batch" ? rows.begin() : rows.end(), row);
  return rows;
}

std::vector<std::string> names_of(const std::vector<ExtentRow>& rows) {
  return mapped(rows, [](const ExtentRow& row) { return std::string(row.name); });
}

// Visits every combination of the rows' values, the last row fastest.
Status each_shape(const std::vector<ExtentRow>& rows, std::size_t at, NamedOperation& operation,
                  const std::function<Status(const NamedOperation&)>& visit) {
  if (at == rows.size()) return visit(operation);
  for (const std::int64_t value : rows[at].values) {
    rows[at].set(operation, value);
    HONE_TRY(each_shape(rows, at + 1, operation, visit));
  }
  return {};
}

// Sets the layout on the operation; false if the kind has no such layout.
bool set_layout(std::string_view layout, NamedOperation& operation) {
  if (is_convolution(operation.kind)) {
    operation.conv.layout = layout == "nchw" ? kNchw : kNhwc;
    return layout == "nhwc" || layout == "nchw";
  }
  if (layout.size() != 2 || layout.find_first_not_of("tn") != std::string_view::npos) return false;
  operation.lhs_layout = layout[0] == 't' ? kRowMajor : kColumnMajor;
  operation.rhs_layout = layout[1] == 't' ? kRowMajor : kColumnMajor;
  return true;
}

Result<std::vector<std::string>> layouts_of(const Sweep& sweep, NamedOperationKind kind) {
  std::vector<std::string> layouts;
  for (const std::string& layout : sweep.layouts) {
    NamedOperation of_product, of_convolution;
    of_convolution.kind = kConv2d;
    const bool conv = set_layout(layout, of_convolution);
    if (!conv && !set_layout(layout, of_product))
      return input_error(
          "'{}' is no layout; there are tt, tn, nt and nn (lhs and rhs, t row major, n column "
          "major), and nhwc and nchw of convolutions",
          layout);
    if (conv == is_convolution(kind)) layouts.push_back(layout);
  }
  if (layouts.empty()) layouts.emplace_back(is_convolution(kind) ? "nhwc" : "tt");
  return layouts;
}

// Returns whether to skip a combination whose extents do not divide, as the old tool does. Its
// values were meant for other combinations.
bool is_left_out(const NamedOperation& operation) {
  if (operation.kind == kSplitKMatmul)
    return operation.split_k_slices > 0 && operation.k % operation.split_k_slices != 0;
  const ConvDims& c = operation.conv;
  return is_convolution(operation.kind) && c.groups > 1 &&
         (c.channels % c.groups != 0 || c.filters % c.groups != 0);
}

Status add_kind(const Sweep& sweep, NamedOperationKind kind,
                std::vector<NamedOperation>& operations) {
  std::vector<ExtentRow> rows = rows_of(kind);
  std::size_t shapes = 1;
  for (ExtentRow& row : rows) {
    const auto* const given = value_at(sweep.extents, row.name);
    if (given != nullptr && !given->empty()) row.values = *given;
    shapes *= row.values.size();
    if (shapes > static_cast<std::size_t>(kMostExtents))
      return input_error("more than {} operations of {}; give fewer shapes", kMostExtents,
                         name_of(kind));
  }
  HONE_ASSIGN(const std::vector<std::string> layouts, layouts_of(sweep, kind));
  const std::vector<Types> types = sweep.types.empty() ? default_types(kind) : sweep.types;
  std::optional<NamedOperation> left_out;
  const std::size_t before = operations.size();
  NamedOperation shape;
  shape.kind = kind;
  HONE_TRY(each_shape(rows, 0, shape, [&](NamedOperation operation) -> Status {
    for (const Types& each : types)
      for (const std::string& layout : layouts) {
        operation.lhs = each[0], operation.rhs = each[1], operation.result = each[2];
        set_layout(layout, operation);
        if (is_left_out(operation)) {
          left_out = operation;
          continue;
        }
        HONE_TRY(check(operation));
        operations.push_back(operation);
      }
    return {};
  }));
  return operations.size() == before && left_out ? check(*left_out) : Status{};
}

Result<std::int64_t> read_extent(std::string_view flag, std::string_view whole,
                                 std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ptr != text.data() + text.size())
    return input_error(
        "{} '{}': '{}' is no number; write numbers or ranges start:end:increment with commas "
        "between, as 64,256:1024:128",
        flag, whole, text);
  if (read.ec != std::errc() || value < 0 || value > kMostExtents)
    return input_error("{} '{}': {} is out of range; it may be 0 to {}", flag, whole, text,
                       kMostExtents);
  return value;
}

Status read_range(std::string_view flag, std::string_view whole, std::string_view text,
                  std::vector<std::int64_t>& values) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first + 1);
  HONE_ASSIGN(const std::int64_t start, read_extent(flag, whole, text.substr(0, first)));
  HONE_ASSIGN(const std::int64_t end,
              read_extent(flag, whole, text.substr(first + 1, second - first - 1)));
  std::int64_t increment = 1;
  if (second != std::string_view::npos) {
    HONE_ASSIGN(increment, read_extent(flag, whole, text.substr(second + 1)));
  }
  if (end < start)
    return input_error("{} '{}': the range {} ends at {}, below its start {}", flag, whole, text,
                       end, start);
  if (increment < 1)
    return input_error("{} '{}': the increment of {} has to be 1 or more", flag, whole, text);
  if (end == start)
    return input_error("{} '{}': there is no number in the range {}, whose end is not in it", flag,
                       whole, text);
  for (std::int64_t value = start; value < end; value += increment) values.push_back(value);
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> read_extents(std::string_view flag, std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      HONE_TRY(read_range(flag, text, part, values));
      continue;
    }
    HONE_ASSIGN(const std::int64_t value, read_extent(flag, text, part));
    values.push_back(value);
  }
  return values;
}

const std::vector<std::string>& extent_names() {
  static const std::vector<std::string> kNames = names_of(extent_rows());
  return kNames;
}

Result<std::vector<NamedOperation>> operations_of(const Sweep& sweep) {
  for (const auto& [name, values] : sweep.extents)
    if (std::ranges::find(extent_names(), name) == extent_names().end())
      return input_error("'{}' is no dimension of an operation{}; there are: {}", name,
                         did_you_mean(name, extent_names()), fmt::join(extent_names(), ", "));
  std::vector<NamedOperation> operations;
  for (const NamedOperationKind kind : sweep.kinds) HONE_TRY(add_kind(sweep, kind, operations));
  return operations;
}

std::vector<std::string> extent_names_of(NamedOperationKind kind) {
  return names_of(rows_of(kind));
}

namespace {

using provider::YamlPlace;

// Returns the texts of a scalar or of a list of scalars.
Result<std::vector<std::string>> texts_of(const std::string& path, std::string_view key,
                                          const YAML::Node& node) {
  std::vector<std::string> texts;
  if (node.IsScalar()) return std::vector{node.Scalar()};
  const auto refused = [&](const YAML::Node& at) {
    return YamlPlace(path, at).error("'{}' has to be a value or a list of them", key);
  };
  if (!node.IsSequence() || node.size() == 0) return refused(node);
  for (const YAML::Node& each : node) {
    if (!each.IsScalar()) return refused(each);
    texts.push_back(each.Scalar());
  }
  return texts;
}

Status read_key(const std::string& path, const std::string& key, const YAML::Node& node,
                Sweep& sweep) {
  HONE_ASSIGN(const std::vector<std::string> texts, texts_of(path, key, node));
  for (const std::string& text : texts) {
    if (key == "kind") {
      HONE_ASSIGN(const NamedOperationKind kind, operation_kind_from(text));
      sweep.kinds.push_back(kind);
    } else if (key == "types") {
      HONE_TRY(read_types(key, text, sweep.types));
    } else if (key == "layouts") {
      HONE_TRY(read_layouts(key, text, sweep.layouts));
    } else {
      HONE_ASSIGN(const auto values, read_extents(key, text));
      auto& all = sweep.extents[key];
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return {};
}

Status check_key(const std::string& key) {
  std::vector<std::string> names = extent_names();
  names.insert(names.begin(), {"kind", "types", "layouts"});
  if (std::ranges::find(names, key) != names.end()) return {};
  return input_error("'{}' is no key{}; there are: {}", key, did_you_mean(key, names),
                     fmt::join(names, ", "));
}

// Returns `value`, or its error with the place of `node`.
template <class Value>
Result<Value> with_place(const std::string& path, const YAML::Node& node, Result<Value> value) {
  if (!value) return YamlPlace(path, node).error("{}", value.error().message);
  return value;
}

Result<std::vector<NamedOperation>> read_sweep(const std::string& path, const YAML::Node& node) {
  Sweep sweep;
  for (const auto& each : node) {
    const YAML::Node& key = each.first;
    if (!key.IsScalar()) return YamlPlace(path, key).error("a key has to be a word");
    HONE_TRY(with_place(path, key, check_key(key.Scalar())));
    HONE_TRY(with_place(path, key, read_key(path, key.Scalar(), each.second, sweep)));
  }
  if (sweep.kinds.empty()) return YamlPlace(path, node).error("an entry has to say its kind");
  return with_place(path, node, chosen_operations(sweep));
}

Result<std::vector<NamedOperation>> read_operations_of(const std::string& path,
                                                       const YAML::Node& node) {
  if (node.IsMap()) return read_sweep(path, node);
  if (!node.IsScalar())
    return YamlPlace(path, node)
        .error("an entry has to be an operation's name or a map with its kind");
  HONE_ASSIGN(NamedOperation operation, with_place(path, node, parse_operation(node.Scalar())));
  return std::vector{std::move(operation)};
}

Result<std::vector<NamedOperation>> read_document(const std::string& path,
                                                  const YAML::Node& document) {
  YAML::Node list = document;
  if (document.IsMap()) {
    for (const auto& each : document)
      if (!each.first.IsScalar() || each.first.Scalar() != "operations")
        return YamlPlace(path, each.first).error("the only key of a workload is 'operations'");
    list.reset(document["operations"]);
  }
  if (!list.IsSequence() || list.size() == 0)
    return input_error("{}: a workload has to be a list of operations", path);
  std::vector<NamedOperation> operations;
  for (const YAML::Node& entry : list) {
    HONE_ASSIGN(const auto more, read_operations_of(path, entry));
    operations.insert(operations.end(), more.begin(), more.end());
  }
  return operations;
}

}  // namespace

Status read_types(std::string_view flag, std::string_view text, std::vector<Types>& types) {
  if (text == "all") {
    const auto all = generated_types();
    types.insert(types.end(), all.begin(), all.end());
    return {};
  }
  std::vector<problem::ElementType> read;
  for (const std::string_view part : split(text, ',')) {
    const auto type = type_from(part);
    if (!type) return input_error("{} '{}': {}", flag, text, type.error().message);
    read.push_back(*type);
  }
  // A single i8 means i32 results: sums of bytes need more bits.
  if (read.size() == 1) read = {read[0], read[0], read[0] == kI8 ? kI32 : read[0]};
  if (read.size() != 3)
    return input_error("{} '{}': say one type for all, or those of lhs, rhs and result", flag,
                       text);
  types.push_back({read[0], read[1], read[2]});
  return {};
}

Status read_layouts(std::string_view flag, std::string_view text,
                    std::vector<std::string>& layouts) {
  const std::vector<std::string> all = {"tt", "tn", "nt", "nn", "nhwc", "nchw"};
  if (text == "all") {
    layouts.insert(layouts.end(), all.begin(), all.end());
    return {};
  }
  if (std::ranges::find(all, text) == all.end())
    return input_error("{} '{}' is no layout; there are: {}", flag, text, fmt::join(all, ", "));
  layouts.emplace_back(text);
  return {};
}

Result<std::vector<NamedOperation>> read_workload(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  try {
    return read_document(path, YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return YamlPlace(path, error.mark.line + 1).error("no YAML: {}", error.msg);
  }
}

}  // namespace hone::profiler
