#include "provider/triton/user_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "provider/triton/type_names.h"

namespace hone::triton {
namespace {

constexpr std::array<std::string_view, 8> kKeys{"kernel",      "arguments", "constants", "grid",
                                                "constraints", "knobs",     "default",   "scratch"};
constexpr std::array<std::string_view, 3> kOperands{"A", "B", "C"};
constexpr std::array<std::string_view, 14> kTypes{
    "A.dtype",    "B.dtype",        "C.dtype",       "tl.float16",  "tl.bfloat16",
    "tl.float32", "tl.float64",     "tl.float8e4nv", "tl.float8e5", "tl.float8e4b8",
    "tl.int8",    "tl.float8e5b16", "tl.int32",      "tl.int64"};

template <class Names>
std::vector<std::string> words(const Names& names) {
  return {names.begin(), names.end()};
}

class Reader : private provider::ManifestReader {
 public:
  explicit Reader(UserKernel& kernel) : ManifestReader(kernel), kernel_(kernel) {}

  Status read(const std::string& text) {
    HONE_TRY(read_keys(
        text, words(kKeys), {"kernel", "arguments", "grid", "knobs", "default"},
        [this](const std::string& key, const YAML::Node& value) { return read_key(key, value); }));
    return check();
  }

 private:
  Status read_key(const std::string& key, const YAML::Node& node) {
    HONE_ASSIGN(const bool common, read_common(key, node));
    if (common) return {};
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
    return scratch(node);
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
      if (std::ranges::count(kTypes, text) == 0)
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

  // Checks keys of the manifest against one another.
  Status check() const {
    space::Names names = names_of(Gemm(), {});
    HONE_TRY(check_common(names, {"A", "B", "C", "bias", "scratch"}));
    std::set<std::string> passed;
    for (const auto& [name, text] : kernel_.arguments) {
      passed.insert(text.text);
      if (text.text == "scratch" && !kernel_.scratch)
        return at(text.line).error(
            "arguments: {} is scratch, and the key scratch, with its bytes, is missing", name);
      if (std::ranges::count(kOperands, text.text) > 0 || text.text == "bias" ||
          text.text == "scratch")
        continue;
      HONE_TRY(legal("arguments: " + name, text, names,
                     "; an argument is A, B, C, bias, scratch or an expression"));
    }
    for (const std::string_view operand : kOperands)
      if (!passed.contains(std::string(operand)))
        return at(1).error("arguments: none is {}", operand);
    for (const UserKernel::Constant& constant : kernel_.constants)
      if (constant.kind == "expression")
        HONE_TRY(legal("constants: " + constant.name, {constant.text, constant.line}, names,
                       "; a text stands in quotes"));
    if (kernel_.scratch) HONE_TRY(legal("scratch: bytes", kernel_.scratch->bytes, names));
    return {};
  }

  UserKernel& kernel_;
};

}  // namespace

Result<UserKernel> read_user_kernel(const std::string& manifest, const std::string& manifest_text,
                                    std::string path, std::string text) {
  if (readable(text) != text) return input_error("{}: not UTF-8", path);
  UserKernel kernel;
  kernel.manifest = manifest;
  kernel.path = std::move(path);
  kernel.text = std::move(text);
  HONE_TRY(Reader(kernel).read(manifest_text));
  return kernel;
}

}  // namespace hone::triton
