#include "provider/external/external_kernel.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace hone::external {
namespace {

const std::vector<std::string> kKeys{
    "kernel",      "operation", "operands", "object", "source",        "build",
    "arguments",   "grid",      "block",    "knobs",  "shared_memory", "default",
    "constraints", "scratch",   "zeroed",   "behind", "processor"};

bool is_one_of(const std::string& name, const std::vector<std::string>& names) {
  return std::ranges::find(names, name) != names.end();
}

// Dimension names that layouts may use.
const std::vector<std::string>& dimensions_of(bool convolution) {
  static const std::vector<std::string> kOfMatmul{"batch", "M", "N", "K"};
  static const std::vector<std::string> kOfConvolution{"N",  "H",  "W",  "C", "O",
                                                       "HO", "WO", "KH", "KW"};
  return convolution ? kOfConvolution : kOfMatmul;
}

// Names other than knobs that the manifest's expressions may use, with the values 1. For a matmul:
// M, N, K, batch. For a convolution: the dimensions of its layouts, HO, WO, stride_h, stride_w,
// dilation_h and dilation_w. For the device: shared_bytes.
space::Names names_in_manifest(bool convolution) {
  space::Names names{{"shared_bytes", 1}};
  for (const std::string& dimension : dimensions_of(convolution)) names.emplace(dimension, 1);
  if (convolution)
    for (const char* name : {"stride_h", "stride_w", "dilation_h", "dilation_w"})
      names.emplace(name, 1);
  return names;
}

class Reader : private provider::ManifestReader {
  using Text = provider::KernelManifest::Text;

 public:
  explicit Reader(ExternalKernel& kernel) : ManifestReader(kernel), kernel_(kernel) {}

  Status read(const std::string& text) {
    HONE_TRY(read_keys(
        text, kKeys, {"kernel", "operation", "operands", "arguments", "grid", "block"},
        [this](const std::string& key, const YAML::Node& value) { return read_key(key, value); }));
    return check();
  }

 private:
  Status read_key(const std::string& key, const YAML::Node& node) {
    HONE_ASSIGN(const bool common, read_common(key, node));
    if (common) return {};
    if (key == "operation") return operation(node);
    if (key == "operands")
      return each(node, key, [this](const std::string& name, const YAML::Node& value) {
        return operand(name, value);
      });
    if (key == "object") return file(key, node, kernel_.object);
    if (key == "source") return file(key, node, kernel_.source);
    if (key == "build") return words(key, node, kernel_.build);
    if (key == "arguments") return words(key, node, kernel_.arguments);
    if (key == "behind") return words(key, node, kernel_.behind.emplace());
    if (key == "zeroed") return words(key, node, kernel_.zeroed);
    if (key == "block") return extents(key, node).map([&](auto read) { kernel_.block = read; });
    std::optional<Text>& one = key == "processor" ? kernel_.processor
                               : key == kScratch  ? kernel_.scratch
                                                  : kernel_.shared_memory;
    return scalar(key, node).map([&](auto read) { one = read; });
  }

  Status operation(const YAML::Node& node) {
    HONE_ASSIGN(const Text said, scalar("operation", node));
    if (said.text != "matmul" && said.text != "convolution")
      return at(said.line).error("operation is '{}'; it must be matmul or convolution", said.text);
    kernel_.convolution = said.text == "convolution";
    return {};
  }

  Status operand(const std::string& name, const YAML::Node& node) {
    ExternalKernel::Operand operand{name, {}, {}, node.Mark().line + 1};
    bool typed = false;
    HONE_TRY(each(
        node, "operands: " + name, [&](const std::string& key, const YAML::Node& value) -> Status {
          if (key == "layout") {
            if (!value.IsSequence())
              return at(value).error("operands: {}: layout must be a list: [M, K]", name);
            for (const YAML::Node& dimension : value) {
              HONE_ASSIGN(const Text read, scalar("operands: " + name + ": layout", dimension));
              operand.layout.push_back(read.text);
            }
            return {};
          }
          if (key != "type")
            return at(value).error("operands: {}: unknown key '{}'; there are type and layout",
                                   name, key);
          HONE_ASSIGN(const Text said, scalar("operands: " + name + ": type", value));
          const auto type = problem::element_type_from(said.text);
          if (!type)
            return at(said.line).error(
                "operands: {}: type is '{}'; it must be one like f16, bf16, "
                "f32, i8, i32",
                name, said.text);
          operand.type = *type;
          typed = true;
          return {};
        }));
    if (!typed || operand.layout.empty())
      return at(node).error("operands: {}: {} is missing", name, typed ? "layout" : "type");
    kernel_.operands.push_back(std::move(operand));
    return {};
  }

  Status file(const std::string& key, const YAML::Node& node, std::filesystem::path& path) {
    HONE_ASSIGN(const Text said, scalar(key, node));
    kernel_.object_line = said.line;
    path = std::filesystem::path(kernel_.manifest).parent_path() / said.text;
    const Result<std::string> bytes = read_file(path.string());
    if (!bytes) return at(said.line).error("{}: {}", key, bytes.error().message);
    kernel_.content = content_hash(kernel_.content + *bytes);
    return {};
  }

  // A list of words, or one text with blanks between them.
  Status words(const std::string& key, const YAML::Node& node, std::vector<Text>& into) {
    if (node.IsScalar()) {
      HONE_ASSIGN(const Text said, scalar(key, node));
      std::istringstream text(said.text);
      for (std::string word; text >> word;) into.push_back({word, said.line});
      return {};
    }
    if (!node.IsSequence()) return at(node).error("{} must be a list", key);
    for (const YAML::Node& word : node) {
      HONE_ASSIGN(Text read, scalar(key, word));
      into.push_back(std::move(read));
    }
    return {};
  }

  Status check() const {
    if (kernel_.object.empty() == kernel_.source.empty())
      return at(1).error(
          "{}: the file with the kernel (object: PTX, hsaco, cubin), or what it is made of "
          "(source, and build)",
          kernel_.object.empty() ? "object is missing" : "object and source are both given");
    if (kernel_.source.empty() != kernel_.build.empty())
      return at(1).error(
          "{} is missing: a source and the command that makes the object of it go together",
          kernel_.build.empty() ? "build" : "source");
    space::Names names = names_in_manifest(kernel_.convolution);
    HONE_TRY(check_operands(names));
    std::vector<std::string> taken{"source", "object", "target", "entry", std::string(kScratch)};
    for (const ExternalKernel::Operand& operand : kernel_.operands) taken.push_back(operand.name);
    HONE_TRY(check_common(names, taken));
    for (const Text& extent : kernel_.block) HONE_TRY(legal("block", extent, names));
    if (kernel_.shared_memory) HONE_TRY(legal("shared_memory", *kernel_.shared_memory, names));
    if (kernel_.scratch) HONE_TRY(legal("scratch", *kernel_.scratch, names));
    HONE_TRY(check_arguments(names));
    std::vector<Text> filled = kernel_.build;
    filled.push_back(kernel_.function);
    for (const Text& word : filled) {
      const auto known = [&](const std::string& name) -> std::optional<std::string> {
        const bool given =
            name == "source" || name == "object" || name == "target" || name == "entry";
        return given || names.contains(name) ? std::optional("") : std::nullopt;
      };
      if (const auto read = filled_in(word.text, known); !read)
        return at(word.line).error("{}", read.error().message);
    }
    return {};
  }

  Status check_operands(const space::Names& names) const {
    const std::vector<std::string>& dimensions = dimensions_of(kernel_.convolution);
    std::set<std::string> found;
    for (const ExternalKernel::Operand& operand : kernel_.operands) {
      found.insert(operand.name);
      if (operand.name == kScratch)
        return at(operand.line)
            .error("operands: 'scratch' is the kernel's own memory; call the operand another name");
      if (names.contains(operand.name))
        return at(operand.line)
            .error("operands: '{}' is a size; call the operand another name", operand.name);
      std::set<std::string> seen;
      for (const std::string& dimension : operand.layout) {
        if (!is_one_of(dimension, dimensions))
          return at(operand.line)
              .error("operands: {}: there is no dimension '{}'{}; there are {}", operand.name,
                     dimension, did_you_mean(dimension, dimensions), fmt::join(dimensions, ", "));
        if (!seen.insert(dimension).second)
          return at(operand.line)
              .error("operands: {}: {} is in the layout twice", operand.name, dimension);
      }
    }
    const auto [lhs, rhs, result] = operand_names(kernel_.convolution);
    for (const std::string_view operand : {lhs, rhs, result})
      if (!found.contains(std::string(operand)))
        return at(1).error("operands: {} is missing: {} and {} are multiplied, {} is the result",
                           operand, lhs, rhs, result);
    for (const Text& zero : kernel_.zeroed)
      if (zero.text != result)
        return at(zero.line).error("zeroed: '{}'; what can be zeroed is the result, {}", zero.text,
                                   result);
    return {};
  }

  Status check_arguments(const space::Names& names) const {
    std::set<std::string> passed;
    for (const Text& argument : kernel_.arguments) {
      const bool operand = std::ranges::any_of(
          kernel_.operands, [&](const auto& each) { return each.name == argument.text; });
      if (operand || (argument.text == kScratch && kernel_.scratch))
        passed.insert(argument.text);
      else if (argument.text == kScratch)
        return at(argument.line)
            .error("arguments: one is scratch, and the key scratch, its bytes, is missing");
      else
        HONE_TRY(legal("arguments", argument, names,
                       "; an argument is the name of an operand, scratch or an expression"));
    }
    if (kernel_.scratch && !passed.contains(std::string(kScratch)))
      return at(kernel_.scratch->line).error("arguments: none is scratch");
    for (const ExternalKernel::Operand& operand : kernel_.operands)
      if (!passed.contains(operand.name))
        return at(operand.line).error("arguments: none is {}", operand.name);
    return {};
  }

  ExternalKernel& kernel_;
};

}  // namespace

OperandNames operand_names(bool convolution) {
  if (convolution) return {"image", "filter", "output"};
  return {"A", "B", "C"};
}

Result<std::string> filled_in(
    const std::string& text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = text.find('}', std::min(open, text.size()));
    if (open == std::string::npos || close == std::string::npos) return filled + text.substr(at);
    const std::string name = text.substr(open + 1, close - open - 1);
    const auto value = value_of(name);
    if (!value)
      return failure(
          "'{}': nothing is known of {{{}}}; a knob, a size, {{source}}, {{object}}, {{target}} or "
          "{{entry}} may stand there",
          text, name);
    filled += text.substr(at, open - at) + *value;
    at = close + 1;
  }
  return filled;
}

Result<ExternalKernel> read_external_kernel(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  ExternalKernel kernel;
  kernel.manifest = path;
  HONE_TRY(Reader(kernel).read(text));
  kernel.content = content_hash(kernel.content + text);
  return kernel;
}

}  // namespace hone::external
