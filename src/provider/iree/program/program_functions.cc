#include "provider/iree/program/program_functions.h"

#include <algorithm>
#include <optional>
#include <set>

#include "problem/types.h"
#include "provider/iree/compiler/ir.h"

namespace hone::iree {

namespace {

using problem::TensorType;

// Splits a list at the commas that are outside of <>, (), {} and [].
std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
    if (c != ',' || depth > 0) continue;
    std::string_view item = list.substr(begin, i - begin);
    begin = i + 1;
    item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

// Returns the text inside the outermost parentheses.
std::string_view inside(std::string_view text) {
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return text.substr(0, 0);
  return text.substr(open + 1, close - open - 1);
}

// "tensor<2x3xi4>", "f32", "index".
std::optional<problem::ArgumentType> declared_type(std::string_view text) {
  constexpr std::string_view kTensor = "tensor<";
  if (text.starts_with(kTensor) && text.ends_with('>'))
    return problem::argument_type_from(
        text.substr(kTensor.size(), text.size() - kTensor.size() - 1));
  if (text == "index") text = "i64";
  const auto scalar = problem::tensor_type_from(text);
  if (!scalar || !scalar->shape.empty()) return std::nullopt;
  return problem::ArgumentType{*scalar, problem::ArgumentForm::kScalar};
}

void take(const problem::ArgumentType& type, std::vector<TensorType>& types,
          std::vector<problem::ArgumentForm>& forms) {
  types.push_back(type.carrier);
  forms.push_back(type.form);
}

// An empty list says that all are plain.
void drop_where_plain(std::vector<problem::ArgumentForm>& forms) {
  const bool plain = std::ranges::all_of(
      forms, [](problem::ArgumentForm form) { return form == problem::ArgumentForm::kPlain; });
  if (plain) forms.clear();
}

// Takes the types of "%input0: tensor<2x3xf32> {...}, %input1: f32".
void take_declared(std::string_view list, std::vector<TensorType>& types,
                   std::vector<problem::ArgumentForm>& forms, std::string& unknown) {
  for (std::string_view item : items_of(list)) {
    if (const auto colon = item.find(": "); colon != std::string_view::npos)
      item.remove_prefix(colon + 2);
    item = item.substr(0, item.find(" {"));
    while (item.ends_with(' ')) item.remove_suffix(1);
    const auto type = declared_type(item);
    if (!type) {
      if (unknown.empty()) unknown = item;
      continue;
    }
    take(*type, types, forms);
  }
  drop_where_plain(forms);
}

std::optional<std::string> declaration_of(const Ir& ir, MlirOperation function) {
  const MlirAttribute reflection = ir.attribute(function, "iree.reflection");
  if (!reflection || !ir.api().mlirAttributeIsADictionary(reflection)) return {};
  return ir.string_value(
      ir.api().mlirDictionaryAttrGetElementByName(reflection, to_ref("iree.abi.declaration")));
}

problem::Function declared_function(std::string name, std::string_view declaration) {
  const auto arrow = declaration.find(" -> ");
  problem::Function function{std::move(name), {}, {}};
  take_declared(inside(declaration.substr(0, arrow)), function.inputs, function.input_forms,
                function.unknown_type);
  if (arrow != std::string_view::npos)
    take_declared(inside(declaration.substr(arrow + 4)), function.outputs, function.output_forms,
                  function.unknown_type);
  return function;
}

// A function of a *_benchmark.mlir file: it launches one kernel again and again, on zeros.
bool is_benchmark(const Ir& ir, MlirOperation function) {
  const MlirAttribute reflection = ir.attribute(function, "iree.reflection");
  return reflection && ir.api().mlirAttributeIsADictionary(reflection) &&
         ir.string_value(
             ir.api().mlirDictionaryAttrGetElementByName(reflection, to_ref("iree.benchmark")));
}

bool takes_fences(const Ir& ir, MlirOperation function) {
  return ir.string_value(ir.attribute(function, "iree.abi.model")) == "coarse-fences";
}

// "f32" of a number that a function takes as it is. Nothing of buffers and all else.
std::optional<problem::ArgumentType> scalar_type(std::string_view text) {
  return text.starts_with('!') || text.starts_with("tensor<") ? std::nullopt : declared_type(text);
}

// Describes a function without declaration by the types that `body` imports and exports. `body` is
// the function itself or its callee. `torch`: argument types in PyTorch's dialect, for arguments
// that `body` does not read.
std::optional<problem::Function> function_by_use(
    const Ir& ir, MlirOperation function, MlirOperation body,
    const std::vector<std::optional<TensorType>>& torch) {
  const std::string signature = ir.text(ir.attribute(function, "function_type"));
  const std::vector<std::string_view> taken =
      items_of(inside(std::string_view(signature).substr(0, signature.find(" -> "))));
  std::vector<std::optional<problem::ArgumentType>> inputs;
  for (const std::string_view item : taken) inputs.push_back(scalar_type(item));
  std::vector<MlirValue> returned;
  const auto tensor = [&](MlirOperation operation, std::string_view encoding) {
    const auto type = parse_type(ir.text(ir.attribute(operation, encoding)));
    return type ? std::optional(problem::ArgumentType{*type}) : std::nullopt;
  };
  ir.walk(body, [&](MlirOperation operation) {
    if (ir.is(operation, "util.return")) returned = ir.operands(operation);
    if (!ir.is(operation, "stream.tensor.import")) return;
    const auto argument = ir.argument(ir.operands(operation).at(0));
    if (argument && argument->number < inputs.size())
      inputs[argument->number] = tensor(operation, "result_encoding");
  });
  problem::Function found{ir.symbol(function), {}, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] && i < torch.size() && torch[i]) inputs[i] = problem::ArgumentType{*torch[i]};
    if (!inputs[i]) return std::nullopt;
    take(*inputs[i], found.inputs, found.input_forms);
  }
  for (const MlirValue value : returned) {
    std::optional<problem::ArgumentType> type = scalar_type(ir.type_text(value));
    const auto argument = ir.argument(value);
    if (argument && argument->number < inputs.size()) {
      type = inputs[argument->number];
    } else if (const MlirOperation operation = ir.defining_operation(value);
               ir.is(operation, "stream.tensor.export")) {
      type = tensor(operation, "source_encoding");
    }
    if (!type) return std::nullopt;
    take(*type, found.outputs, found.output_forms);
  }
  drop_where_plain(found.input_forms);
  drop_where_plain(found.output_forms);
  return found;
}

// The function with fences that `function` calls; itself where it calls none.
MlirOperation body_of(const Ir& ir, MlirOperation function,
                      const std::map<std::string, MlirOperation>& with_fences) {
  MlirOperation body = function;
  ir.walk(function, [&](MlirOperation operation) {
    if (!ir.is(operation, "util.call")) return;
    const auto found = with_fences.find(ir.leaf_symbol(ir.attribute(operation, "callee")));
    if (found != with_fences.end()) body = found->second;
  });
  return body;
}

}  // namespace

std::optional<TensorType> torch_type(std::string_view text) {
  if (!text.starts_with("!torch.vtensor<[") && !text.starts_with("!torch.tensor<["))
    return std::nullopt;
  const auto open = text.find('['), close = text.find(']'), end = text.rfind('>');
  if (close == std::string_view::npos || end == std::string_view::npos || end < close + 2)
    return std::nullopt;
  std::string shaped;
  for (const std::string_view extent : items_of(text.substr(open + 1, close - open - 1))) {
    shaped += extent;
    shaped += 'x';
  }
  std::string_view element = text.substr(close + 2, end - close - 2);
  if (element.starts_with("si") || element.starts_with("ui")) element.remove_prefix(1);
  return problem::tensor_type_from(shaped + std::string(element));
}

TorchArguments torch_arguments(const Ir& ir, const OwnedModule& parsed) {
  TorchArguments all;
  for (const MlirOperation function : ir.children(parsed.get(), "func.func")) {
    const std::string type = ir.text(ir.attribute(function, "function_type"));
    if (type.find("!torch.") == std::string::npos) continue;
    std::vector<std::optional<TensorType>>& arguments = all[ir.symbol(function)];
    for (const std::string_view item :
         items_of(inside(std::string_view(type).substr(0, type.find(" -> ")))))
      arguments.push_back(torch_type(item));
  }
  return all;
}

ConsumedArguments consumed_arguments(const Ir& ir, const OwnedModule& program,
                                     const std::string& function) {
  std::set<int> consumed;
  bool is_declared = false;
  for (const MlirOperation each : ir.children(program.get(), "util.func")) {
    const std::string symbol = ir.symbol(each);
    if (symbol != function && symbol != function + "$async") continue;
    is_declared = is_declared || declaration_of(ir, each).has_value();
    ir.walk(each, [&](MlirOperation operation) {
      if (!ir.is(operation, "stream.tensor.import") || !ir.attribute(operation, "consume")) return;
      if (const auto argument = ir.argument(ir.operands(operation).at(0)))
        consumed.insert(static_cast<int>(argument->number));
    });
  }
  ConsumedArguments arguments{.any = !consumed.empty()};
  if (!is_declared) arguments.overwritten.assign(consumed.begin(), consumed.end());
  return arguments;
}

std::vector<problem::Function> functions_of(const Ir& ir, const OwnedModule& program,
                                            const TorchArguments& torch) {
  const std::vector<MlirOperation> all = ir.children(program.get(), "util.func");
  std::map<std::string, MlirOperation> with_fences;
  for (const MlirOperation function : all)
    if (takes_fences(ir, function)) with_fences.emplace(ir.symbol(function), function);
  std::vector<problem::Function> functions;
  for (const MlirOperation function : all) {
    const std::string name = ir.symbol(function);
    if (const auto declaration = declaration_of(ir, function)) {
      functions.push_back(declared_function(name, *declaration));
      continue;
    }
    if (takes_fences(ir, function) || is_benchmark(ir, function) ||
        !ir.attribute(function, "iree.abi.stub"))
      continue;
    const auto arguments = torch.find(name);
    if (auto found = function_by_use(
            ir, function, body_of(ir, function, with_fences),
            arguments == torch.end() ? TorchArguments::mapped_type() : arguments->second))
      functions.push_back(std::move(*found));
  }
  return functions;
}

namespace {

// Takes a quoted string off the front; a quote and a backslash inside are written behind another.
std::optional<std::string> take_string(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string content;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return content;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    content += text[i];
  }
  return std::nullopt;
}

// Parses the text after "parameter.named<".
std::optional<ProgramParameter> parameter_from(std::string_view text) {
  ProgramParameter parameter;
  const auto first = take_string(text);
  if (!first) return std::nullopt;
  parameter.key = *first;
  if (text.starts_with("::")) {
    text.remove_prefix(2);
    const auto second = take_string(text);
    if (!second) return std::nullopt;
    parameter.scope = *first;
    parameter.key = *second;
  }
  constexpr std::string_view kType = "> : tensor<";
  const auto type_at = text.find(kType);
  if (type_at == std::string_view::npos || type_at > text.find('\n')) return std::nullopt;
  text.remove_prefix(type_at + kType.size());
  const auto type = parse_type(text.substr(0, text.find_first_of(",>")));
  if (!type) return std::nullopt;
  parameter.type = *type;
  return parameter;
}

}  // namespace

std::vector<ProgramParameter> parameters_in(std::string_view program) {
  constexpr std::string_view kNamed = "parameter.named<";
  std::vector<ProgramParameter> parameters;
  std::set<std::pair<std::string, std::string>> known;
  for (std::size_t at = program.find(kNamed); at != std::string_view::npos;
       at = program.find(kNamed)) {
    program.remove_prefix(at + kNamed.size());
    // A type ends soon: looking for it must not go through all that follows.
    auto parameter = parameter_from(program.substr(0, 4096));
    if (parameter && known.emplace(parameter->scope, parameter->key).second)
      parameters.push_back(std::move(*parameter));
  }
  return parameters;
}

}  // namespace hone::iree
