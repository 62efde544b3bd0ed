#include "provider/iree/program/replaceable_operations.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ranges.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/program/operation_text.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

// A contraction or convolution and the operations behind it, step by step.
class Replaceable {
 public:
  Replaceable(const CompilerSession& session, const Readers& readers, MlirOperation root)
      : session_(session), ir_(session.api()), readers_(readers), root_(root) {}

  // Returns the operation alone, and then with one more step behind it at a time.
  std::vector<ReplaceableOperation> read() {
    std::vector<std::string> types;
    for (const MlirValue operand : ir_.operands(root_)) types.push_back(ir_.type_text(operand));
    name_ = fmt::format("{}({})", ir_.name(root_), fmt::join(types, ", "));
    std::string why_not = state();
    if (!why_not.empty()) return {refused(std::move(why_not))};
    std::vector<ReplaceableOperation> found;
    do {
      auto written = written_so_far();
      if (!written && found.empty()) return {refused(written.error().message)};
      if (!written) {
        found.back().stopped_by = written.error().message;
        return found;
      }
      found.push_back(*std::move(written));
    } while (take_step());
    found.back().stopped_by = stopped_by_;
    return found;
  }

 private:
  ReplaceableOperation refused(std::string why_not) const {
    ReplaceableOperation operation;
    operation.name = name_;
    operation.count = 1;
    operation.statement.why_not = std::move(why_not);
    return operation;
  }

  // Why it is of another form; empty when said_ is what it computes.
  std::string state() {
    const auto described = describe_operation(ir_, root_);
    const std::vector<MlirValue> operands = ir_.operands(root_), results = ir_.results(root_);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root_);
    if (!described) return described.error().message;
    if (operands.size() != 3 || results.size() != 1 || maps.size() != 3 ||
        !adds_products(ir_, root_))
      return "it does more than to add up products of two operands";
    if (operands[0] == operands[1]) return "both its operands are one tensor";
    const auto start = fill_constant(ir_, ir_.defining_operation(operands[2]));
    if (!start) return "its sums begin at values that are read";
    const auto lhs = dense_use(ir_, operands[0], maps[0], 0),
               rhs = dense_use(ir_, operands[1], maps[1], 1),
               stored = dense_use(ir_, results.front(), maps[2], 2);
    if (!lhs || !rhs || !stored) return "a size of it is known only at run time";
    operations_ = {root_};
    given_ = {{root_, 0}, {root_, 1}};
    try {
      loops_ = single_loops(ir_.api(), maps[2]);
    } catch (const NotOfThisForm& form) {
      return form.reason;
    }
    for (std::size_t l = 0; l < described->loops.size(); ++l)
      said_.loops.push_back({contraction_role(*lhs, *rhs, l, described->loops[l].reduction),
                             described->loops[l].size});
    said_.operands = {*lhs, *rhs};
    said_.start = *start;
    said_.values = {{"root", stored->type}};
    said_.stores = {{*stored, 0}};
    for (int binding = 0; binding < 3; ++binding) add_view();
    return {};
  }

  void add_view() { said_.views.push_back({said_.bindings++, 0, {}}); }

  Result<ReplaceableOperation> written_so_far() const {
    ReplaceableOperation operation;
    HONE_ASSIGN(OperationText text, text_of_operations(session_, operations_, given_));
    operation.name = name_;
    if (!behind_.empty())
      operation.name += fmt::format(" and behind it {}", fmt::join(behind_, ", "));
    operation.statement = said_;
    operation.behind = behind_;
    for (const Given& each : given_)
      operation.types.push_back(ir_.type_text(ir_.operands(each.operation).at(each.index)));
    operation.types.insert(operation.types.begin() + kResultBinding,
                           ir_.type_text(ir_.results(operations_.back()).front()));
    operation.dag = std::move(text.dag);
    operation.scalars = std::move(text.scalars);
    operation.body = std::move(text.body);
    operation.value = std::move(text.value);
    operation.count = 1;
    return operation;
  }

  // Appends the only reader of the result so far if it computes element by element. False if there
  // is no such reader; stopped_by_ then says what is there.
  bool take_step() {
    const MlirValue sums = ir_.results(operations_.back()).front();
    const auto readers = readers_.find(sums);
    if (readers == readers_.end()) return false;
    if (readers->second.size() != 1) return stopped("it is read more than once");
    const MlirOperation reader = readers->second.front();
    const std::string name(ir_.name(reader));
    const bool leaves = !name.starts_with("linalg.") && !name.starts_with("tensor.");
    if (!ir_.is(reader, "linalg.generic")) return stopped(leaves ? std::string() : name);
    const auto described = describe_operation(ir_, reader);
    const auto maps = maps_of(ir_, reader);
    const std::vector<MlirValue> operands = ir_.operands(reader);
    if (!described || ir_.results(reader).size() != 1 || maps.size() != operands.size() ||
        reduces(*described))
      return stopped(name + ", which does not compute element by element");
    try {
      if (take(reader, operands, maps, sums)) return true;
    } catch (const NotOfThisForm&) {
    }
    return stopped(name + ", which reads or writes otherwise than element by element");
  }

  bool stopped(std::string by) {
    stopped_by_ = std::move(by);
    return false;
  }

  // Throws NotOfThisForm if an index is not a single loop.
  bool take(MlirOperation reader, const std::vector<MlirValue>& operands,
            const std::vector<MlirAttribute>& maps, MlirValue sums) {
    const auto at = to_index(std::ranges::find(operands, sums) - operands.begin());
    if (at + 1 >= operands.size()) return false;  // it adds to them
    // The product's loop of each of the reader's own loops.
    const std::vector<int> own = single_loops(ir_.api(), maps[at]);
    std::vector<int> root_loop(own.size(), -1);
    for (std::size_t d = 0; d < own.size(); ++d)
      if (to_index(own[d]) < root_loop.size())
        root_loop[to_index(own[d])] = loops_.at(d);
    if (loop_count(ir_, maps[at]) != root_loop.size() || std::ranges::count(root_loop, -1) > 0)
      return false;

    if (!ir_.is(ir_.defining_operation(operands.back()), "tensor.empty")) return false;
    problem::Statement said = said_;
    std::vector<Given> given = given_;
    for (std::size_t i = 0; i + 1 < operands.size(); ++i) {
      if (i == at || is_splat(operands[i])) continue;
      auto use = dense_use(ir_, operands[i], maps[i], given.size() + 1);
      if (!use) return false;
      *use = over_loops(std::move(*use), root_loop, said_.loops.size());
      said.values.push_back({.operation = "load", .type = use->type, .use = *use});
      given.push_back({reader, i});
    }
    auto stored = dense_use(ir_, ir_.results(reader).front(), maps.back(), 2);
    if (!stored) return false;
    std::vector<int> loops;
    for (const int loop : single_loops(ir_.api(), maps.back()))
      loops.push_back(root_loop.at(to_index(loop)));
    if (loops.size() != root_loop.size()) return false;

    said.stores[0].use = over_loops(*std::move(stored), root_loop, said_.loops.size());
    said_ = std::move(said);
    for (std::size_t i = given_.size(); i < given.size(); ++i) add_view();
    given_ = std::move(given);
    loops_ = std::move(loops);
    operations_.push_back(reader);
    for (const MlirOperation inner : ir_.children(reader)) add_name(inner);
    return true;
  }

  // Whether all elements are one constant: that is a part of the operation, not an operand of it.
  bool is_splat(MlirValue value) const {
    const MlirOperation made = ir_.defining_operation(value);
    if (!ir_.is(made, "arith.constant")) return fill_constant(ir_, made).has_value();
    return static_cast<bool>(ir_.one_element(ir_.attribute(made, "value")));
  }

  // Conversions are in the operands' types.
  void add_name(MlirOperation inner) {
    const std::string_view name = ir_.name(inner);
    if (!problem::is_scalar_operation(name) ||
        is_any_of(name, {"arith.truncf", "arith.extf", "arith.constant"}))
      return;
    behind_.emplace_back(name.substr(name.find('.') + 1));
  }

  const CompilerSession& session_;
  Ir ir_;
  const Readers& readers_;
  MlirOperation root_;
  std::string name_;
  problem::Statement said_;
  std::vector<MlirOperation> operations_;  // from the root on
  std::vector<Given> given_;               // what they read: lhs, rhs, then what is behind the sums
  std::vector<int> loops_;                 // the root's, by dimension of the last one's result
  std::vector<std::string> behind_;
  std::string stopped_by_;
};

bool is_product(const Ir& ir, MlirOperation operation) {
  if (!ir.name(operation).starts_with("linalg.") || ir.results(operation).empty()) return false;
  return ir.api().mlirLinalgIsAContractionOp(operation) ||
         ir.api().mlirLinalgIsAConvolutionOp(operation);
}

// Counts `read` with an equal operation of the list, or appends it. Returns its index.
std::size_t add(std::vector<ReplaceableOperation>& operations, ReplaceableOperation read) {
  const auto same = std::ranges::find_if(operations, [&](const ReplaceableOperation& each) {
    return each.name == read.name && each.statement == read.statement && each.dag == read.dag;
  });
  const auto at = to_index(same - operations.begin());
  if (same == operations.end())
    operations.push_back(std::move(read));
  else
    ++same->count;
  return at;
}

}  // namespace

Result<std::vector<ReplaceableOperation>> replaceable_operations(
    const CompilerLibrary& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, flags));
  const Ir ir(session.api());
  Invocation invocation(session);
  if (!invocation.parse(path, bytes) || !invocation.run(kStart, kPreprocessing))
    return input_error("IREE cannot compile '{}':\n{}", path, invocation.diagnostics());
  const OwnedModule module = invocation.take_module();
  const Readers readers = ir.readers_in(module.get());
  const auto is_root = [&](MlirOperation operation) { return is_product(ir, operation); };
  std::vector<ReplaceableOperation> operations;
  for (const MlirOperation root : ir.all(module.get(), is_root)) {
    std::optional<std::size_t> product;
    for (ReplaceableOperation& read : Replaceable(session, readers, root).read()) {
      const std::size_t at = add(operations, std::move(read));
      if (!product) product = at;
      operations[at].product = static_cast<int>(*product);
    }
  }
  return operations;
}

std::string program_of(const ReplaceableOperation& operation) {
  std::vector<std::string> parameters = operation.types;
  const std::string result = parameters.at(kResultBinding);
  parameters.erase(parameters.begin() + kResultBinding);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    parameters[i] = fmt::format("%arg{}: {}", i, parameters[i]);
  return fmt::format("func.func @operation({}) -> {} {{\n{}    return {} : {}\n}}\n",
                     fmt::join(parameters, ", "), result, operation.body, operation.value, result);
}

}  // namespace hone::iree
