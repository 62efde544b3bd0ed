#include "provider/iree/program/operation_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

std::vector<std::string> types_of(const Ir& ir, const std::vector<MlirValue>& values) {
  std::vector<std::string> types;
  for (const MlirValue value : values) types.push_back(ir.type_text(value));
  return types;
}

std::vector<std::string> parameters_of(const std::vector<std::string>& types) {
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < types.size(); ++i)
    parameters.push_back(fmt::format("%arg{}: {}", i, types[i]));
  return parameters;
}

// A function that the compiler has parsed, into which operations are cloned.
class Frame {
 public:
  // Failures with the compiler's words. `before`: of the module, ahead of the function.
  static Result<Frame> create(const CompilerSession& session, const std::string& name,
                              const std::vector<std::string>& parameters, const std::string& result,
                              const std::string& before = {}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < parameters.size(); ++i) names.push_back(fmt::format("%arg{}", i));
    Invocation parse(session);
    if (!parse.parse(
            name, fmt::format("{4}func.func @{0}({1}) -> {3} {{\n"
                              "  %r = builtin.unrealized_conversion_cast {2} : {5} to {3}\n"
                              "  return %r : {3}\n}}\n",
                              name, fmt::join(parameters_of(parameters), ", "),
                              fmt::join(names, ", "), result, before, fmt::join(parameters, ", "))))
      return failure("an operation cannot be written anew: {}", parse.diagnostics());
    Frame frame(session, name, parse.take_module());
    frame.marker_ = frame.ir_.find(frame.module_.get(), "builtin.unrealized_conversion_cast");
    if (!frame.marker_) return failure("the compiler changed the function around an operation");
    return frame;
  }

  MlirValue argument(std::size_t index) const { return ir_.operands(marker_).at(index); }
  MlirOperation module() const { return module_.get(); }

  MlirOperation clone(MlirOperation operation, const std::vector<MlirValue>& operands) const {
    const MlirOperation copy = ir_.copy_before(marker_, operation);
    for (std::size_t i = 0; i < operands.size(); ++i) ir_.set_operand(copy, i, operands[i]);
    return copy;
  }

  // Makes this the function's result; nothing is cloned any more.
  void finish(MlirValue result) {
    ir_.set_operand(ir_.api().mlirOperationGetNextInBlock(marker_), 0, result);
    ir_.api().mlirOperationDestroy(marker_);
  }

  // Returns the name of the function's result in the lines: "%3".
  std::string value() const {
    constexpr std::string_view kReturn = "    return ";
    const std::string text = ir_.text(module_.get());
    const std::size_t at = text.rfind(kReturn) + kReturn.size();
    return text.substr(at, text.find(' ', at) - at);
  }

  // Lines of the function, with attribute aliases ("#map = ...") expanded.
  std::string body() const {
    std::vector<std::pair<std::string, std::string>> aliases;
    const std::string text = ir_.text(module_.get());
    const std::string head = "func.func @" + name_ + "(";
    std::string body;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("#") && line.find(" = ") != std::string::npos) {
        const std::size_t equals = line.find(" = ");
        aliases.emplace_back(line.substr(0, equals), line.substr(equals + 3));
      } else if (line.find(head) != std::string::npos) {
        inside = true;
      } else if (line.find("    return ") == 0) {
        inside = false;
      } else if (inside) {
        body += "  " + line + "\n";
      }
    }
    // Longest first: #map1 before #map.
    std::ranges::sort(aliases, std::greater(), [](const auto& each) { return each.first.size(); });
    for (const auto& [alias, stands_for] : aliases)
      for (std::size_t found = body.find(alias); found != std::string::npos;
           found = body.find(alias, found + stands_for.size()))
        body.replace(found, alias.size(), stands_for);
    // Write calls in the generic form. The transform dialect makes them without tied operands,
    // which the short form cannot express.
    constexpr std::string_view kCall = "util.call @";
    for (std::size_t at = body.find(kCall); at != std::string::npos; at = body.find(kCall, at)) {
      const std::size_t open = body.find('(', at), close = body.find(')', open) + 1;
      const std::string callee = body.substr(at + kCall.size(), open - at - kCall.size());
      body.replace(at, close - at,
                   fmt::format("\"util.call\"{} <{{callee = @{}}}>",
                               body.substr(open, close - open), callee));
    }
    return body;
  }

 private:
  Frame(const CompilerSession& session, std::string name, OwnedModule module)
      : ir_(session.api()), name_(std::move(name)), module_(std::move(module)) {}

  Ir ir_;
  std::string name_;
  OwnedModule module_;
  MlirOperation marker_{};  // ahead of the return
};

class Writer {
 public:
  Writer(const CompilerSession& session, const std::vector<MlirOperation>& operations,
         const std::vector<Given>& given)
      : session_(session), ir_(session.api()), operations_(operations), given_(given) {
    for (const Given& each : given)
      types_.push_back(ir_.type_text(ir_.operands(each.operation).at(each.index)));
    result_ = ir_.type_text(ir_.results(operations.back()).front());
  }

  Result<OperationText> write() {
    OperationText text;
    HONE_TRY(find_scalars(text.scalars));
    HONE_ASSIGN(Frame plain, Frame::create(session_, "operation", types_, result_));
    HONE_TRY(fill(plain, false));
    text.body = plain.body();
    text.value = plain.value();
    std::string functions;
    for (const ScalarFunction& scalar : text.scalars) functions += declared(scalar);
    HONE_ASSIGN(Frame pattern, Frame::create(session_, "dag", types_, result_, functions));
    templates_ = call_templates(pattern);
    HONE_TRY(fill(pattern, true));
    text.dag = pattern.body();
    return text;
  }

 private:
  // Scalar operations in the body of `operation` and the first operand of each from outside.
  std::vector<MlirOperation> with_constants(MlirOperation operation) const {
    return ir_.all(operation, [&](MlirOperation inner) {
      return inner != operation && std::ranges::any_of(ir_.operands(inner), [&](MlirValue value) {
               return is_outside(value, operation);
             });
    });
  }

  bool is_outside(MlirValue value, MlirOperation operation) const {
    const MlirOperation made = ir_.defining_operation(value);
    // A value without a defining operation is an argument of the body: products have no other
    // region.
    return made && !ir_.is_inside(made, operation);
  }

  // Fills names_, by operation.
  Status find_scalars(std::vector<ScalarFunction>& scalars) {
    for (const MlirOperation operation : operations_)
      for (const MlirOperation inner : with_constants(operation)) {
        HONE_ASSIGN(ScalarFunction scalar, scalar_of(inner, operation));
        names_[inner] = scalar.name;
        if (std::ranges::count(scalars, scalar) == 0) scalars.push_back(std::move(scalar));
      }
    return {};
  }

  Result<ScalarFunction> scalar_of(MlirOperation inner, MlirOperation around) const {
    ScalarFunction scalar;
    std::vector<MlirValue> values;
    for (const MlirValue value : ir_.operands(inner)) {
      if (!is_outside(value, around)) {
        values.push_back(value);
        continue;
      }
      const MlirOperation made = ir_.defining_operation(value);
      if (!ir_.is(made, "arith.constant"))
        return failure("its body reads what {} computes outside of it", ir_.name(made));
    }
    if (values.empty() || ir_.results(inner).size() != 1 ||
        ir_.api().mlirOperationGetNumRegions(inner) > 0)
      return failure("{} in its body reads constants alone", ir_.name(inner));
    scalar.parameters = types_of(ir_, values);
    scalar.result = ir_.type_text(ir_.results(inner).front());
    HONE_ASSIGN(Frame frame, Frame::create(session_, "scalar", scalar.parameters, scalar.result));
    std::vector<MlirValue> operands;
    std::size_t next = 0;
    for (const MlirValue value : ir_.operands(inner))
      operands.push_back(is_outside(value, around)
                             ? ir_.results(frame.clone(ir_.defining_operation(value), {})).front()
                             : frame.argument(next++));
    frame.finish(ir_.results(frame.clone(inner, operands)).front());
    scalar.body = frame.body();
    scalar.value = frame.value();
    scalar.name = "scalar_" + content_hash(scalar.body + scalar.result +
                                           fmt::format("{}", fmt::join(scalar.parameters, ",")))
                                  .substr(0, 12);
    return scalar;
  }

  // The function's declaration, and another function that holds a call of it to be cloned.
  static std::string declared(const ScalarFunction& scalar) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scalar.parameters.size(); ++i)
      names.push_back(fmt::format("%arg{}", i));
    return fmt::format(
        "util.func private @{0}({1}) -> {2}\nfunc.func private @calls_{0}({1}) {{\n"
        "  %0 = util.call @{0}({3}) : ({4}) -> {2}\n  return\n}}\n",
        scalar.name, fmt::join(parameters_of(scalar.parameters), ", "), scalar.result,
        fmt::join(names, ", "), fmt::join(scalar.parameters, ", "));
  }

  std::map<std::string, MlirOperation> call_templates(const Frame& frame) const {
    std::map<std::string, MlirOperation> found;
    ir_.walk(frame.module(), [&](MlirOperation operation) {
      if (ir_.is(operation, "util.call"))
        found[ir_.leaf_symbol(ir_.attribute(operation, "callee"))] = operation;
    });
    return found;
  }

  Status fill(Frame& frame, bool with_calls) const {
    std::map<MlirValue, MlirValue> known;
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (given_[i].is_everywhere)
        known[ir_.operands(given_[i].operation).at(given_[i].index)] = frame.argument(i);
    for (const MlirOperation operation : operations_)
      HONE_TRY(clone(frame, operation, known, with_calls));
    frame.finish(known.at(ir_.results(operations_.back()).front()));
    return {};
  }

  Status clone(const Frame& frame, MlirOperation operation, std::map<MlirValue, MlirValue>& known,
               bool with_calls) const {
    std::vector<MlirValue> operands = ir_.operands(operation);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto is_this = [&](const Given& each) {
        return each.operation == operation && each.index == i;
      };
      const auto argument = std::ranges::find_if(given_, is_this);
      if (argument != given_.end()) {
        operands[i] = frame.argument(static_cast<std::size_t>(argument - given_.begin()));
        continue;
      }
      if (!known.contains(operands[i])) {
        const MlirOperation made = ir_.defining_operation(operands[i]);
        if (!made) return failure("it reads a value that is not its own");
        HONE_TRY(clone(frame, made, known, with_calls));
      }
      operands[i] = known.at(operands[i]);
    }
    const std::vector<MlirOperation> inner = with_constants(operation);
    // Both lists have the same order, so copies correspond to originals by index.
    const MlirOperation copy = frame.clone(operation, operands);
    const std::vector<MlirOperation> copied = with_constants(copy);
    for (std::size_t i = 0; i < inner.size(); ++i)
      if (with_calls)
        call(copied.at(i), inner[i], operation, copy);
      else
        bring_constants(copied.at(i), copy);
    const std::vector<MlirValue> results = ir_.results(operation), copies = ir_.results(copy);
    for (std::size_t i = 0; i < results.size(); ++i) known[results[i]] = copies[i];
    return {};
  }

  // Puts a call of the operation's scalar function in its place.
  void call(MlirOperation copied, MlirOperation original, MlirOperation around,
            MlirOperation copy) const {
    const MlirOperation call = ir_.copy_before(copied, templates_.at(names_.at(original)));
    const std::vector<MlirValue> theirs = ir_.operands(original), ours = ir_.operands(copied);
    std::size_t next = 0;
    for (std::size_t i = 0; i < theirs.size(); ++i)
      if (!is_outside(theirs[i], around)) ir_.set_operand(call, next++, ours[i]);
    const MlirValue was = ir_.results(copied).front(), is = ir_.results(call).front();
    ir_.walk(copy, [&](MlirOperation reader) {
      const std::vector<MlirValue> operands = ir_.operands(reader);
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i] == was) ir_.set_operand(reader, i, is);
    });
    ir_.api().mlirOperationDestroy(copied);
  }

  void bring_constants(MlirOperation copied, MlirOperation around) const {
    const std::vector<MlirValue> operands = ir_.operands(copied);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!is_outside(operands[i], around)) continue;
      const MlirOperation constant = ir_.copy_before(around, ir_.defining_operation(operands[i]));
      ir_.set_operand(copied, i, ir_.results(constant).front());
    }
  }

  const CompilerSession& session_;
  Ir ir_;
  const std::vector<MlirOperation>& operations_;
  const std::vector<Given>& given_;
  std::vector<std::string> types_;
  std::string result_;
  std::map<MlirOperation, std::string> names_;  // of the scalar functions, by operation
  std::map<std::string, MlirOperation> templates_;
};

}  // namespace

Result<OperationText> text_of_operations(const CompilerSession& session,
                                         const std::vector<MlirOperation>& operations,
                                         const std::vector<Given>& given) {
  return Writer(session, operations, given).write();
}

}  // namespace hone::iree
