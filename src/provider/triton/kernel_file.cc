#include "provider/triton/kernel_file.h"

#include <nlohmann/json.hpp>

#include "base/process.h"
#include "base/text.h"

namespace hone::triton {
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

}  // namespace hone::triton
