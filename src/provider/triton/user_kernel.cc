#include "provider/triton/user_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "provider/triton/type_names.h"
#include "provider/triton/yaml_place.h"

namespace hone::triton {
namespace {

constexpr std::array<std::string_view, 8> kKeys{"kernel",      "arguments", "constants", "grid",
                                                "constraints", "knobs",     "default",   "scratch"};
constexpr std::array<std::string_view, 3> kOperands{"A", "B", "C"};
constexpr std::array<std::string_view, 14> kTypes{
    "A.dtype",    "B.dtype",        "C.dtype",       "tl.float16",  "tl.bfloat16",
    "tl.float32", "tl.float64",     "tl.float8e4nv", "tl.float8e5", "tl.float8e4b8",
    "tl.int8",    "tl.float8e5b16", "tl.int32",      "tl.int64"};
constexpr space::Value kMostValue = (space::Value{1} << 31) - 1;

template <class Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class Names>
std::vector<std::string> words(const Names& names) {
  return {names.begin(), names.end()};
}

bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

class Reader {
 public:
  explicit Reader(UserKernel kernel) : kernel_(std::move(kernel)) {}

  Result<UserKernel> read(const std::string& text) {
    YAML::Node document;
    try {
      document = YAML::Load(text);
    } catch (const YAML::Exception& error) {
      return Place(kernel_.manifest, error.mark.line + 1).error("{}", error.msg);
    }
    if (!document.IsMap())
      return Place(kernel_.manifest, 1)
          .error("no manifest: it is a mapping with the keys {}", fmt::join(kKeys, ", "));
    HONE_TRY(each(document, "", [this](const std::string& key, const YAML::Node& value) {
      return read_key(key, value);
    }));
    for (const char* key : {"kernel", "arguments", "grid", "knobs", "default"})
      if (!document[key]) return Place(kernel_.manifest, 1).error("{} is missing", key);
    HONE_TRY(check());
    return std::move(kernel_);
  }

 private:
  Place at(const YAML::Node& node) const { return {kernel_.manifest, node}; }
  Place at(int line) const { return {kernel_.manifest, line}; }

  // Calls `use` for each entry of a mapping.
  template <class Use>
  Status each(const YAML::Node& node, const std::string& what, Use use) const {
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

  Result<UserKernel::Text> scalar(const std::string& what, const YAML::Node& node) const {
    if (!node.IsScalar() || node.Scalar().empty())
      return at(node).error("{} must be a word or an expression", what);
    return UserKernel::Text{node.Scalar(), node.Mark().line + 1};
  }

  Result<space::Value> number(const std::string& what, const YAML::Node& node) const {
    space::Value value = 0;
    if (!node.IsScalar() || !YAML::convert<space::Value>::decode(node, value) || value < 0 ||
        value > kMostValue)
      return at(node).error("{} is '{}'; it must be a whole number from 0 to 2147483647", what,
                            node.IsScalar() ? node.Scalar() : "a list or a mapping");
    return value;
  }

  Status read_key(const std::string& key, const YAML::Node& node) {
    if (key == "kernel") return scalar(key, node).map([&](auto text) { kernel_.function = text; });
    if (key == "arguments")
      return each(node, key, [this](const std::string& name, const YAML::Node& value) -> Status {
        HONE_ASSIGN(UserKernel::Text text, scalar("arguments: " + name, value));
        kernel_.arguments.emplace_back(name, std::move(text));
        return {};
      });
    if (key == "constants")
      return each(node, key, [this](const std::string& name, const YAML::Node& value) {
        return constant(name, value);
      });
    if (key == "grid") return grid(node);
    if (key == "knobs")
      return each(node, key, [this](const std::string& name, const YAML::Node& values) {
        return knob(name, values);
      });
    if (key == "constraints") return constraints(node);
    if (key == "default") {
      kernel_.defaults_line = node.Mark().line + 1;
      return each(node, key, [this](const std::string& name, const YAML::Node& value) {
        return number("default: " + name, value).map([&](auto n) { kernel_.defaults[name] = n; });
      });
    }
    if (key == "scratch") return scratch(node);
    return at(node).error("'{}' is no key of a manifest{}; there are {}", key,
                          did_you_mean(key, words(kKeys)), fmt::join(kKeys, ", "));
  }

  Status constant(const std::string& name, const YAML::Node& node) {
    const int line = node.Mark().line + 1;
    const auto add = [&](const char* kind, std::string text) {
      kernel_.constants.push_back({name, kind, std::move(text), line});
      return Status();
    };
    if (node.IsNull()) return add("value", "null");
    if (!node.IsScalar())
      return at(node).error("constants: {} must be a word, a number or an expression", name);
    const std::string& text = node.Scalar();
    if (node.Tag() == "!")  // in quotes
      return add("value", nlohmann::json(readable(text)).dump());
    if (text == "None") return add("value", "null");
    if (text == "true" || text == "false") return add("value", text);
    if (text.starts_with("tl.") || text.ends_with(".dtype")) {
      if (!is_one_of(text, kTypes))
        return at(node).error("constants: {}: unknown type '{}'{}; there are {}", name, text,
                              did_you_mean(text, words(kTypes)), fmt::join(kTypes, ", "));
      return add("type", text);
    }
    double real = 0;
    if (text.find_first_of(".eE") != std::string::npos &&
        YAML::convert<double>::decode(node, real) && std::isfinite(real))
      return add("value", nlohmann::json(real).dump());
    return add("expression", text);
  }

  Status grid(const YAML::Node& node) {
    const bool list = node.IsSequence();
    const std::size_t extents = list ? node.size() : 1;
    if (extents < 1 || extents > 3)
      return at(node).error("grid has {} extents; it may have 1 to 3", extents);
    for (std::size_t i = 0; i < extents; ++i) {
      HONE_ASSIGN(UserKernel::Text text, scalar("grid", list ? node[i] : node));
      const auto parentheses = [&](char c) {
        return std::count(text.text.begin(), text.text.end(), c);
      };
      if (list && node.Style() == YAML::EmitterStyle::Flow && parentheses('(') != parentheses(')'))
        return at(text.line).error("grid: '{}': in [ ] an expression with a comma needs quotes",
                                   text.text);
      kernel_.grid.push_back(std::move(text));
    }
    return {};
  }

  Status knob(const std::string& name, const YAML::Node& node) {
    if (!node.IsSequence() || node.size() == 0)
      return at(node).error("knobs: {} must be the list of its values: [32, 64, 128]", name);
    UserKernel::Knob knob{name, {}, node.Mark().line + 1};
    for (const YAML::Node& value : node) {
      HONE_ASSIGN(const space::Value read, number("knobs: " + name, value));
      knob.values.push_back(read);
    }
    kernel_.knobs.push_back(std::move(knob));
    return {};
  }

  Status constraints(const YAML::Node& node) {
    if (!node.IsSequence())
      return at(node).error("constraints must be a list of mappings with name, rule and reason");
    for (const YAML::Node& each_rule : node) {
      UserKernel::Rule rule;
      rule.line = each_rule.Mark().line + 1;
      HONE_TRY(each(
          each_rule, "constraints", [&](const std::string& key, const YAML::Node& value) -> Status {
            if (key == "soft") {
              if (!value.IsScalar() || !YAML::convert<bool>::decode(value, rule.soft))
                return at(value).error("constraints: soft must be true or false");
              return {};
            }
            const std::vector<std::string> known{"name", "rule", "reason", "soft"};
            if (!is_one_of(key, known))
              return at(value).error("constraints: unknown key '{}'{}; there are {}", key,
                                     did_you_mean(key, known), fmt::join(known, ", "));
            HONE_ASSIGN(UserKernel::Text text, scalar("constraints: " + key, value));
            if (key == "rule") rule.line = text.line;
            (key == "name" ? rule.name : key == "rule" ? rule.rule : rule.reason) = text.text;
            return {};
          }));
      for (const auto& [key, text] :
           {std::pair("name", &rule.name), {"rule", &rule.rule}, {"reason", &rule.reason}})
        if (text->empty()) return at(each_rule).error("constraints: {} is missing", key);
      kernel_.rules.push_back(std::move(rule));
    }
    return {};
  }

  Status scratch(const YAML::Node& node) {
    kernel_.scratch = {{}, std::string(problem::name_of(problem::ElementType::kF32))};
    HONE_TRY(
        each(node, "scratch", [this](const std::string& key, const YAML::Node& value) -> Status {
          HONE_ASSIGN(UserKernel::Text text, scalar("scratch: " + key, value));
          if (key == "bytes") {
            kernel_.scratch->bytes = std::move(text);
            return {};
          }
          if (key != "type")
            return at(value).error("scratch: unknown key '{}'; there are bytes and type", key);
          const auto type = type_from_tune_gemm(text.text);
          if (!type)
            return at(value).error("scratch: type is '{}'; it must be one of {}", text.text,
                                   tune_gemm_type_names());
          kernel_.scratch->type = problem::name_of(*type);
          return {};
        }));
    if (kernel_.scratch->bytes.text.empty()) return at(node).error("scratch: bytes is missing");
    return {};
  }

  // What is said in one place and needed in another.
  Status check() const {
    space::Names names = names_of(Gemm(), {});
    for (std::size_t i = 0; i < kernel_.knobs.size(); ++i) {
      const UserKernel::Knob& knob = kernel_.knobs[i];
      if (names.contains(knob.name) || is_one_of(knob.name, kOperands) || knob.name == "bias" ||
          knob.name == "scratch")
        return at(knob.line).error("knobs: '{}' has a meaning already; call the knob another name",
                                   knob.name);
      names.emplace(knob.name, space::Expression::variable(i, knob.name));
    }
    const auto legal = [&](const std::string& what, const UserKernel::Text& text,
                           const char* more = "") -> Status {
      const auto read = space::parse_expression(text.text, names);
      if (!read) return at(text.line).error("{}: {}{}", what, read.error().message, more);
      return {};
    };
    std::set<std::string> passed;
    for (const auto& [name, text] : kernel_.arguments) {
      passed.insert(text.text);
      if (text.text == "scratch" && !kernel_.scratch)
        return at(text.line).error(
            "arguments: {} is scratch, and the key scratch, with its bytes, is missing", name);
      if (is_one_of(text.text, kOperands) || text.text == "bias" || text.text == "scratch")
        continue;
      HONE_TRY(legal("arguments: " + name, text,
                     "; an argument is A, B, C, bias, scratch or an expression"));
    }
    for (const std::string_view operand : kOperands)
      if (!passed.contains(std::string(operand)))
        return at(1).error("arguments: none is {}", operand);
    for (const UserKernel::Constant& constant : kernel_.constants)
      if (constant.kind == "expression")
        HONE_TRY(legal("constants: " + constant.name, {constant.text, constant.line},
                       "; a text stands in quotes"));
    for (const UserKernel::Text& extent : kernel_.grid) HONE_TRY(legal("grid", extent));
    if (kernel_.scratch) HONE_TRY(legal("scratch: bytes", kernel_.scratch->bytes));
    for (const UserKernel::Rule& rule : kernel_.rules) {
      HONE_TRY(legal("constraints: " + rule.name, {rule.rule, rule.line}));
      if (!space::parse_expression(rule.rule, names)->is_boolean())
        return at(rule.line).error("constraints: {}: '{}' is a number; a rule is true or false",
                                   rule.name, rule.rule);
    }
    return check_defaults();
  }

  Status check_defaults() const {
    std::vector<std::string> known;
    for (const UserKernel::Knob& knob : kernel_.knobs) {
      known.push_back(knob.name);
      const auto found = kernel_.defaults.find(knob.name);
      if (found == kernel_.defaults.end())
        return at(kernel_.defaults_line).error("default: {} is missing", knob.name);
      if (!is_one_of(found->second, knob.values))
        return at(kernel_.defaults_line)
            .error("default: {} is {}; its values are {}", knob.name, found->second,
                   fmt::join(knob.values, ", "));
    }
    for (const auto& [name, value] : kernel_.defaults)
      if (!is_one_of(name, known))
        return at(kernel_.defaults_line)
            .error("default: '{}' is no knob{}", name, did_you_mean(name, known));
    return {};
  }

  static bool is_one_of(space::Value value, const std::vector<space::Value>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }
  template <class Names>
  static bool is_one_of(std::string_view name, const Names& names) {
    return triton::is_one_of(name, names);
  }

  UserKernel kernel_;
};

}  // namespace

Result<UserKernel> read_user_kernel(const std::string& manifest, const std::string& manifest_text,
                                    std::string path, std::string text) {
  if (readable(text) != text) return input_error("{}: not UTF-8", path);
  if (readable(manifest_text) != manifest_text) return Place(manifest, 1).error("not UTF-8");
  UserKernel kernel;
  kernel.manifest = manifest;
  kernel.path = std::move(path);
  kernel.text = std::move(text);
  return Reader(std::move(kernel)).read(manifest_text);
}

}  // namespace hone::triton
