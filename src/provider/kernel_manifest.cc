#include "provider/kernel_manifest.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace hone::provider {
namespace {

constexpr space::Value kMostValue = (space::Value{1} << 31) - 1;

template <class Values, class Value>
bool is_one_of(const Value& value, const Values& values) {
  return std::ranges::count(values, value) > 0;
}

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

Status ManifestReader::read_keys(
    const std::string& text, const std::vector<std::string>& keys,
    const std::vector<std::string>& needed,
    const std::function<Status(const std::string&, const YAML::Node&)>& read) const {
  if (readable(text) != text) return at(1).error("not UTF-8");
  YAML::Node document;
  try {
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return at(error.mark.line + 1).error("{}", error.msg);
  }
  if (!document.IsMap())
    return at(1).error("no manifest: it is a mapping with the keys {}", fmt::join(keys, ", "));
  HONE_TRY(each(document, "", [&](const std::string& key, const YAML::Node& value) -> Status {
    if (!is_one_of(key, keys))
      return at(value).error("'{}' is no key of a manifest{}; there are {}", key,
                             did_you_mean(key, keys), fmt::join(keys, ", "));
    return read(key, value);
  }));
  for (const std::string& key : needed)
    if (!document[key]) return at(1).error("{} is missing", key);
  return {};
}

Status ManifestReader::each(
    const YAML::Node& node, const std::string& what,
    const std::function<Status(const std::string&, const YAML::Node&)>& use) const {
  if (!node.IsMap()) return at(node).error("{} must be a mapping: name: value", what);
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!is_identifier(key)) return at(entry.first).error("{}: '{}' is no name", what, key);
    if (!seen.insert(key).second)
      return at(entry.first).error("{}{}{} is given twice", what, what.empty() ? "" : ": ", key);
    HONE_TRY(use(key, entry.second));
  }
  return {};
}

Result<KernelManifest::Text> ManifestReader::scalar(const std::string& what,
                                                    const YAML::Node& node) const {
  if (!node.IsScalar() || node.Scalar().empty())
    return at(node).error("{} must be a word or an expression", what);
  return KernelManifest::Text{node.Scalar(), node.Mark().line + 1};
}

Result<space::Value> ManifestReader::number(const std::string& what, const YAML::Node& node) const {
  space::Value value = 0;
  if (!node.IsScalar() || !YAML::convert<space::Value>::decode(node, value) || value < 0 ||
      value > kMostValue)
    return at(node).error("{} is '{}'; it must be a whole number from 0 to 2147483647", what,
                          node.IsScalar() ? node.Scalar() : "a list or a mapping");
  return value;
}

Result<std::vector<KernelManifest::Text>> ManifestReader::extents(const std::string& what,
                                                                  const YAML::Node& node) const {
  const bool list = node.IsSequence();
  const std::size_t count = list ? node.size() : 1;
  if (count < 1 || count > 3)
    return at(node).error("{} has {} extents; it may have 1 to 3", what, count);
  std::vector<KernelManifest::Text> read;
  for (std::size_t i = 0; i < count; ++i) {
    HONE_ASSIGN(KernelManifest::Text text, scalar(what, list ? node[i] : node));
    if (list && node.Style() == YAML::EmitterStyle::Flow &&
        std::ranges::count(text.text, '(') != std::ranges::count(text.text, ')'))
      return at(text.line).error("{}: '{}': in [ ] an expression with a comma needs quotes", what,
                                 text.text);
    read.push_back(std::move(text));
  }
  return read;
}

Result<bool> ManifestReader::read_common(const std::string& key, const YAML::Node& node) {
  if (key == "kernel") {
    HONE_ASSIGN(common_->function, scalar(key, node));
  } else if (key == "grid") {
    HONE_ASSIGN(common_->grid, extents(key, node));
  } else if (key == "knobs") {
    HONE_TRY(each(node, key, [this](const std::string& name, const YAML::Node& values) {
      return read_knob(name, values);
    }));
  } else if (key == "constraints") {
    HONE_TRY(read_rules(node));
  } else if (key == "default") {
    common_->defaults_line = node.Mark().line + 1;
    HONE_TRY(each(node, key, [this](const std::string& name, const YAML::Node& value) {
      return number("default: " + name, value).map([&](auto n) { common_->defaults[name] = n; });
    }));
  } else {
    return false;
  }
  return true;
}

Status ManifestReader::read_knob(const std::string& name, const YAML::Node& node) {
  if (!node.IsSequence() || node.size() == 0)
    return at(node).error("knobs: {} must be the list of its values: [32, 64, 128]", name);
  KernelManifest::Knob knob{name, {}, node.Mark().line + 1};
  for (const YAML::Node& value : node) {
    HONE_ASSIGN(const space::Value read, number("knobs: " + name, value));
    knob.values.push_back(read);
  }
  common_->knobs.push_back(std::move(knob));
  return {};
}

Status ManifestReader::read_rules(const YAML::Node& node) {
  if (!node.IsSequence())
    return at(node).error("constraints must be a list of mappings with name, rule and reason");
  const std::vector<std::string> known{"name", "rule", "reason", "soft"};
  for (const YAML::Node& entry : node) {
    KernelManifest::Rule rule;
    rule.line = entry.Mark().line + 1;
    HONE_TRY(
        each(entry, "constraints", [&](const std::string& key, const YAML::Node& value) -> Status {
          if (!is_one_of(key, known))
            return at(value).error("constraints: unknown key '{}'{}; there are {}", key,
                                   did_you_mean(key, known), fmt::join(known, ", "));
          if (key == "soft") {
            if (!value.IsScalar() || !YAML::convert<bool>::decode(value, rule.soft))
              return at(value).error("constraints: soft must be true or false");
            return {};
          }
          HONE_ASSIGN(KernelManifest::Text text, scalar("constraints: " + key, value));
          if (key == "rule") rule.line = text.line;
          (key == "name" ? rule.name : key == "rule" ? rule.rule : rule.reason) = text.text;
          return {};
        }));
    for (const auto& [key, text] :
         {std::pair("name", &rule.name), {"rule", &rule.rule}, {"reason", &rule.reason}})
      if (text->empty()) return at(entry).error("constraints: {} is missing", key);
    common_->rules.push_back(std::move(rule));
  }
  return {};
}

Status ManifestReader::legal(const std::string& what, const KernelManifest::Text& text,
                             const space::Names& names, const char* more) const {
  const auto read = space::parse_expression(text.text, names);
  if (!read) return at(text.line).error("{}: {}{}", what, read.error().message, more);
  return {};
}

Status ManifestReader::check_common(space::Names& names,
                                    const std::vector<std::string>& taken) const {
  for (std::size_t i = 0; i < common_->knobs.size(); ++i) {
    const KernelManifest::Knob& knob = common_->knobs[i];
    if (names.contains(knob.name) || is_one_of(knob.name, taken))
      return at(knob.line).error("knobs: '{}' has a meaning already; call the knob another name",
                                 knob.name);
    names.emplace(knob.name, space::Expression::variable(i, knob.name));
  }
  for (const KernelManifest::Text& extent : common_->grid) HONE_TRY(legal("grid", extent, names));
  for (const KernelManifest::Rule& rule : common_->rules) {
    HONE_TRY(legal("constraints: " + rule.name, {rule.rule, rule.line}, names));
    if (!space::parse_expression(rule.rule, names)->is_boolean())
      return at(rule.line).error("constraints: {}: '{}' is a number; a rule is true or false",
                                 rule.name, rule.rule);
  }
  return check_defaults();
}

Status ManifestReader::check_defaults() const {
  std::vector<std::string> known;
  for (const KernelManifest::Knob& knob : common_->knobs) {
    known.push_back(knob.name);
    const auto found = common_->defaults.find(knob.name);
    if (found == common_->defaults.end())
      return at(common_->defaults_line).error("default: {} is missing", knob.name);
    if (!is_one_of(found->second, knob.values))
      return at(common_->defaults_line)
          .error("default: {} is {}; its values are {}", knob.name, found->second,
                 fmt::join(knob.values, ", "));
  }
  for (const auto& [name, value] : common_->defaults)
    if (!is_one_of(name, known))
      return at(common_->defaults_line)
          .error("default: '{}' is no knob{}", name, did_you_mean(name, known));
  return {};
}

Result<space::Space> manifest_space(const KernelManifest& manifest, space::Names names,
                                    const std::function<bool(const std::string&)>& is_knob,
                                    const std::string& what) {
  const auto at = [&](int line) { return YamlPlace(manifest.manifest, line); };
  space::SpaceBuilder builder;
  space::Configuration defaults;
  for (const KernelManifest::Knob& knob : manifest.knobs) {
    const space::Value value = manifest.defaults.at(knob.name);
    if (!is_knob(knob.name)) {
      names.emplace(knob.name, value);
      continue;
    }
    names.emplace(knob.name, builder.knob(knob.name, "of " + manifest.manifest, knob.values));
    defaults.values.push_back(value);
  }
  for (const KernelManifest::Rule& rule : manifest.rules) {
    auto expression = space::parse_expression(rule.rule, names);
    if (!expression)
      return at(rule.line).error("constraints: {}: {}", rule.name, expression.error().message);
    rule.soft ? builder.prefer(rule.name, rule.reason, *std::move(expression))
              : builder.require(rule.name, rule.reason, *std::move(expression));
  }
  HONE_ASSIGN(space::Space space, builder.build());
  for (const space::Violation& broken : space.check(defaults))
    if (broken.hardness == space::Hardness::kHard)
      return at(manifest.defaults_line)
          .error("default: breaks '{}' for {}: {}", broken.constraint, what, broken.reason);
  return space;
}

}  // namespace hone::provider
