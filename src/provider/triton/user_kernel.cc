#include "provider/triton/user_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/process.h"
#include "base/text.h"
#include "provider/triton/gemm.h"

namespace hone::triton {
namespace {

const std::vector<std::string> kManifestKeys{"kernel",      "arguments", "constants", "grid",
                                             "constraints", "knobs",     "default",   "scratch"};
constexpr std::array<std::string_view, 3> kOperands{"A", "B", "C"};
const std::vector<std::string> kTypes{
    "A.dtype",    "B.dtype",        "C.dtype",       "tl.float16",  "tl.bfloat16",
    "tl.float32", "tl.float64",     "tl.float8e4nv", "tl.float8e5", "tl.float8e4b8",
    "tl.int8",    "tl.float8e5b16", "tl.int32",      "tl.int64"};

class UserKernelReader : private provider::ManifestReader {
 public:
  explicit UserKernelReader(UserKernel& kernel) : ManifestReader(kernel), kernel_(kernel) {}

  Status read(const std::string& text) {
    HONE_TRY(read_keys(
        text, kManifestKeys, {"kernel", "arguments", "grid", "knobs", "default"},
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
                              did_you_mean(text, kTypes), fmt::join(kTypes, ", "));
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
  HONE_TRY(UserKernelReader(kernel).read(manifest_text));
  return kernel;
}

namespace {

constexpr const char* kReader = R"(
import ast, json, pathlib, sys
path = pathlib.Path(sys.argv[1])
try:
    tree = ast.parse(path.read_bytes())
except (SyntaxError, ValueError) as error:
    print(json.dumps({"line": getattr(error, "lineno", 1) or 1, "message": getattr(error, "msg", str(error))}))
    sys.exit()
said = {"functions": {}, "imports": []}
for node in ast.walk(tree):
    names = ([each.name for each in node.names] if isinstance(node, ast.Import) else
             [node.module or "."] if isinstance(node, ast.ImportFrom) else [])
    for name in names:
        first = path.parent / name.split(".")[0]
        if getattr(node, "level", 0) or first.with_suffix(".py").exists() or (first / "__init__.py").exists():
            said["imports"].append([name, node.lineno])
for node in tree.body:
    if isinstance(node, ast.FunctionDef):
        ordered = [*node.args.posonlyargs, *node.args.args]
        defaults = [None] * (len(ordered) - len(node.args.defaults)) + node.args.defaults
        parameters = [*zip(ordered, defaults), *zip(node.args.kwonlyargs, node.args.kw_defaults)]
        said["functions"][node.name] = {
            "line": node.lineno,
            "jit": any("jit" in ast.unparse(each) for each in node.decorator_list),
            "parameters": [[each.arg, each.annotation is not None and "constexpr" in ast.unparse(each.annotation),
                            default is not None] for each, default in parameters]}
print(json.dumps(said))
)";

}  // namespace

Result<std::vector<KernelParameter>> kernel_parameters(const std::filesystem::path& python,
                                                       const std::string& path,
                                                       const std::string& function) {
  HONE_ASSIGN(const ProcessResult ran,
              run_process({{python.string(), "-c", kReader, path}}, {.seconds = 20}));
  const auto said = nlohmann::json::parse(ran.standard_output.text(), nullptr, false);
  if (!ran.succeeded() || !said.is_object())
    return environment_error("'{}' could not read '{}': {}", python.string(), path,
                             ran.standard_error.text());
  if (said.contains("message"))
    return input_error("{}:{}: {}", path, said["line"].get<int>(),
                       said["message"].get<std::string>());
  for (const auto& each : said["imports"])
    return input_error(
        "{}:{}: imports '{}' from its own folder; a kernel is one file, since its content is what "
        "results are kept by",
        path, each[1].get<int>(), each[0].get<std::string>());
  const auto found = said["functions"].find(function);
  if (found == said["functions"].end()) {
    std::vector<std::string> names;
    for (const auto& each : said["functions"].items()) names.push_back(each.key());
    return input_error("{}:1: there is no function '{}'{}", path, function,
                       did_you_mean(function, names));
  }
  if (!(*found)["jit"].get<bool>())
    return input_error("{}:{}: '{}' is no @triton.jit function", path, (*found)["line"].get<int>(),
                       function);
  std::vector<KernelParameter> parameters;
  for (const auto& each : (*found)["parameters"])
    parameters.push_back({each[0].get<std::string>(), each[1].get<bool>(), each[2].get<bool>()});
  return parameters;
}

namespace {

// Options of Triton's compilers, as python/user_kernel.py passes them.
constexpr std::array<std::string_view, 3> kCudaOptions{"num_warps", "num_stages", "maxnreg"};
constexpr std::array<std::string_view, 5> kHipOptions{"num_warps", "num_stages", "waves_per_eu",
                                                      "matrix_instr_nonkdim", "kpack"};

template <class Options>
bool is_in(const Options& options, const std::string& name) {
  return std::ranges::count(options, name) > 0;
}

bool is_option(const std::string& name) {
  return is_in(kCudaOptions, name) || is_in(kHipOptions, name);
}
bool is_knob_of(const std::string& name, const GemmDevice& device) {
  return !is_option(name) ||
         (device.is_cuda() ? is_in(kCudaOptions, name) : is_in(kHipOptions, name));
}

// The knobs that launches depend on.
std::set<std::string> knobs_in_expressions(const UserKernel& kernel) {
  space::Names names = names_of(Gemm(), {});
  for (std::size_t i = 0; i < kernel.knobs.size(); ++i)
    names.insert_or_assign(kernel.knobs[i].name,
                           space::Expression::variable(i, kernel.knobs[i].name));
  std::set<std::string> used;
  const auto add = [&](const std::string& text) {
    const auto expression = space::parse_expression(text, names);
    if (!expression) return;  // an operand's name
    for (const std::size_t i : space::variables_of(*expression)) used.insert(kernel.knobs[i].name);
  };
  for (const auto& argument : kernel.arguments) add(argument.second.text);
  for (const UserKernel::Constant& constant : kernel.constants) add(constant.text);
  for (const UserKernel::Text& extent : kernel.grid) add(extent.text);
  if (kernel.scratch) add(kernel.scratch->bytes.text);
  return used;
}

}  // namespace

space::Names names_of(const Gemm& gemm, const GemmDevice& device) {
  space::Names names{{"M", gemm.m},           {"N", gemm.n},
                     {"K", gemm.k},           {"batch", gemm.batch},
                     {"units", device.units}, {"shared_bytes", device.shared_bytes},
                     {"bias.stride(0)", 1}};
  const auto add = [&](const std::string& operand, std::int64_t rows, std::int64_t columns,
                       bool by_rows) {
    names.emplace(operand + ".stride(0)", by_rows ? columns : 1);
    names.emplace(operand + ".stride(1)", by_rows ? 1 : rows);
    names.emplace(operand + ".stride(batch)", rows * columns);
  };
  add("A", gemm.m, gemm.k, gemm.a_rows);
  add("B", gemm.k, gemm.n, gemm.b_rows);
  add("C", gemm.m, gemm.n, gemm.c_rows);
  return names;
}

Status check_parameters(const UserKernel& kernel, const std::vector<KernelParameter>& parameters) {
  std::vector<std::string> known;
  for (const KernelParameter& parameter : parameters) known.push_back(parameter.name);
  const auto find = [&](const std::string& name) {
    return std::ranges::find(parameters, name, &KernelParameter::name);
  };
  const auto at = [&](int line) { return provider::YamlPlace(kernel.manifest, line); };
  std::map<std::string, int> given;  // line by parameter
  const auto give = [&](const std::string& key, const std::string& name, int line) -> Status {
    if (find(name) == parameters.end())
      return at(line).error("{}: {} has no parameter '{}'{}; it has {}", key, kernel.function.text,
                            name, did_you_mean(name, known), fmt::join(known, ", "));
    if (const auto [other, fresh] = given.emplace(name, line); !fresh)
      return at(line).error("{}: {} is given in line {} too", key, name, other->second);
    return {};
  };
  for (const auto& [name, text] : kernel.arguments) {
    HONE_TRY(give("arguments", name, text.line));
    if (find(name)->constant)
      return at(text.line).error(
          "arguments: {} is a tl.constexpr; it belongs to constants or knobs", name);
  }
  for (const UserKernel::Constant& constant : kernel.constants)
    HONE_TRY(give("constants", constant.name, constant.line));
  const std::set<std::string> used = knobs_in_expressions(kernel);
  for (const UserKernel::Knob& knob : kernel.knobs) {
    if (find(knob.name) != parameters.end()) {
      HONE_TRY(give("knobs", knob.name, knob.line));
    } else if (!is_option(knob.name) && !used.contains(knob.name)) {
      known.insert(known.end(), kHipOptions.begin(), kHipOptions.end());
      known.emplace_back("maxnreg");
      return at(knob.line).error(
          "knobs: {} changes nothing: it is no parameter of {}, no option of the compiler and in "
          "no "
          "argument, constant, grid or scratch{}",
          knob.name, kernel.function.text, did_you_mean(knob.name, known));
    }
  }
  for (const KernelParameter& parameter : parameters)
    if (!parameter.has_default && !given.contains(parameter.name))
      return at(kernel.function.line)
          .error("kernel: the parameter {} of {} is given nowhere; it belongs to {}",
                 parameter.name, kernel.function.text,
                 parameter.constant ? "constants or knobs" : "arguments");
  return {};
}

Result<space::Space> user_kernel_space(const UserKernel& kernel, const Gemm& gemm,
                                       const GemmDevice& device) {
  const auto at = [&](int line) { return provider::YamlPlace(kernel.manifest, line); };
  const bool takes_bias = std::ranges::any_of(
      kernel.arguments, [](const auto& argument) { return argument.second.text == "bias"; });
  if (gemm.bias && !takes_bias)
    return at(kernel.function.line)
        .error("kernel: {} takes no bias, and {} has one", kernel.function.text, name_of(gemm));
  return provider::manifest_space(
      kernel, names_of(gemm, device),
      [&](const std::string& name) { return is_knob_of(name, device); }, name_of(gemm));
}

problem::Dispatch with_kernel(problem::Dispatch dispatch, const UserKernel& kernel) {
  nlohmann::json source = nlohmann::json::parse(dispatch.source, nullptr, false);
  source["kernel"] = kernel;
  // Replaces invalid UTF-8 of the manifest; the Python file is UTF-8.
  dispatch.source = source.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  dispatch.name += "_" + kernel.function.text;
  dispatch.executable = dispatch.name;
  return dispatch;
}

void to_json(nlohmann::json& json, const UserKernel& kernel) {
  // The folder is omitted, so that results hold wherever the kernel lies.
  json = {{"path", std::filesystem::path(kernel.path).filename().string()},
          {"text", kernel.text},
          {"function", kernel.function.text},
          {"arguments", nlohmann::json::array()},
          {"constants", nlohmann::json::array()},
          {"grid", nlohmann::json::array()},
          {"default", kernel.defaults}};
  for (const auto& [name, text] : kernel.arguments)
    json["arguments"].push_back(nlohmann::json::array({name, text.text}));
  for (const UserKernel::Constant& constant : kernel.constants) {
    nlohmann::json value = constant.text;
    if (constant.kind == "value") value = nlohmann::json::parse(constant.text, nullptr, false);
    json["constants"].push_back(
        nlohmann::json::array({constant.name, nlohmann::json{{constant.kind, value}}}));
  }
  for (const UserKernel::Text& extent : kernel.grid) json["grid"].push_back(extent.text);
  if (kernel.scratch)
    json["scratch"] = {{"bytes", kernel.scratch->bytes.text}, {"type", kernel.scratch->type}};
}

}  // namespace hone::triton
