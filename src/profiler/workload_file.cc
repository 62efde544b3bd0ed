#include "profiler/workload_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "provider/yaml_place.h"

namespace hone::profiler {
namespace {

using provider::Place;

// Returns the texts of a scalar or of a list of scalars.
Result<std::vector<std::string>> texts_of(const std::string& path, std::string_view key,
                                          const YAML::Node& node) {
  std::vector<std::string> texts;
  if (node.IsScalar()) return std::vector{node.Scalar()};
  if (!node.IsSequence() || node.size() == 0)
    return Place(path, node).error("'{}' has to be a value or a list of them", key);
  for (const YAML::Node& each : node) {
    if (!each.IsScalar())
      return Place(path, each).error("'{}' has to be a value or a list of them", key);
    texts.push_back(each.Scalar());
  }
  return texts;
}

Status read_key(const std::string& path, const std::string& key, const YAML::Node& node,
                Sweep& sweep) {
  HONE_ASSIGN(const std::vector<std::string> texts, texts_of(path, key, node));
  for (const std::string& text : texts) {
    if (key == "kind") {
      HONE_ASSIGN(const OperationKind kind, operation_kind_from(text));
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
  std::vector<std::string> names = {"kind", "types", "layouts"};
  const auto& extents = extent_names();
  names.insert(names.end(), extents.begin(), extents.end());
  if (std::ranges::find(names, key) != names.end()) return {};
  return input_error("'{}' is no key{}; there are: {}", key, did_you_mean(key, names),
                     fmt::join(names, ", "));
}

Result<std::vector<Operation>> read_sweep(const std::string& path, const YAML::Node& node) {
  Sweep sweep;
  for (const auto& each : node) {
    const YAML::Node& key = each.first;
    if (!key.IsScalar()) return Place(path, key).error("a key has to be a word");
    Status read = check_key(key.Scalar());
    if (read) read = read_key(path, key.Scalar(), each.second, sweep);
    if (!read) return Place(path, key).error("{}", read.error().message);
  }
  if (sweep.kinds.empty()) return Place(path, node).error("an entry has to say its kind");
  auto operations = chosen_operations(sweep);
  if (!operations) return Place(path, node).error("{}", operations.error().message);
  return operations;
}

Result<std::vector<Operation>> read_operations_of(const std::string& path, const YAML::Node& node) {
  if (node.IsMap()) return read_sweep(path, node);
  if (!node.IsScalar())
    return Place(path, node).error("an entry has to be an operation's name or a map with its kind");
  auto operation = parse_operation(node.Scalar());
  if (!operation) return Place(path, node).error("{}", operation.error().message);
  return std::vector{*operation};
}

Result<std::vector<Operation>> read_document(const std::string& path, const YAML::Node& document) {
  YAML::Node list = document;
  if (document.IsMap()) {
    for (const auto& each : document)
      if (!each.first.IsScalar() || each.first.Scalar() != "operations")
        return Place(path, each.first).error("the only key of a workload is 'operations'");
    list.reset(document["operations"]);
  }
  if (!list.IsSequence() || list.size() == 0)
    return input_error("{}: a workload has to be a list of operations", path);
  std::vector<Operation> operations;
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
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    const auto type = type_from(rest.substr(0, comma));
    if (!type) return input_error("{} '{}': {}", flag, text, type.error().message);
    read.push_back(*type);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (read.size() == 1) read = {read[0], read[0], read[0]};
  // A single i8 means i32 results: sums of bytes need more bits.
  if (read.size() == 3 && text.find(',') == std::string_view::npos &&
      read[0] == problem::ElementType::kI8)
    read[2] = problem::ElementType::kI32;
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

Result<std::vector<Operation>> read_workload(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  try {
    return read_document(path, YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return Place(path, error.mark.line + 1).error("no YAML: {}", error.msg);
  }
}

}  // namespace hone::profiler
