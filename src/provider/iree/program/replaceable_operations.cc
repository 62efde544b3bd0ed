#include "provider/iree/program/replaceable_operations.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "base/json_fields.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/program/root_operation.h"
#include "provider/iree/program/statement_accesses.h"

namespace hone::iree {
namespace {

constexpr char kPreprocessing[] = "preprocessing";

using Users = std::map<const void*, std::vector<MlirOperation>>;  // by value

Users users_in(const Ir& ir, MlirOperation module) {
  Users users;
  ir.walk(module, [&](MlirOperation operation) {
    for (const MlirValue operand : ir.operands(operation)) users[operand.ptr].push_back(operation);
  });
  return users;
}

std::string type_text(const Ir& ir, MlirValue value) {
  return ir.text(ir.api().mlirValueGetType(value));
}

// Whether its value is known before the program runs: what is made of it then is made by the
// compiler, or when the program is loaded.
bool is_constant(const Ir& ir, MlirValue tensor) {
  const MlirOperation made = ir.defining_operation(tensor);
  if (made.ptr == nullptr) return false;
  const bool global = ir.is(made, "util.global.load");
  return ir.is(made, "arith.constant") || ir.is(made, "flow.tensor.constant") ||
         (global && ir.attribute(made, "is_immutable").ptr != nullptr);
}

// Steps of the loops through a dense tensor, in elements, and through each of its dimensions.
// Nothing where its size is open or an index is no sum of loops.
std::optional<nlohmann::json> use_of(const Ir& ir, MlirValue tensor, MlirAttribute map, int view) {
  const auto type = parse_type(type_text(ir, tensor));
  const auto index_of = indices(ir.api(), map);
  if (!type || !index_of || index_of->size() != type->shape.size()) return std::nullopt;
  std::vector<std::int64_t> strides;
  nlohmann::json dimensions = nlohmann::json::array();
  std::int64_t pitch = 1, offset = 0;
  for (std::size_t d = type->shape.size(); d-- > 0;) {
    const Linear& index = (*index_of)[d];
    if (type->shape[d] <= 0) return std::nullopt;
    strides.resize(index.of_loop.size(), 0);
    for (std::size_t l = 0; l < strides.size(); ++l) strides[l] += pitch * index.of_loop[l];
    offset += pitch * index.constant;
    pitch *= type->shape[d];
    nlohmann::json dimension{{"size", type->shape[d]}};
    dimension["of_loop"] = index.of_loop;
    dimension["constant"] = index.constant;
    dimensions.insert(dimensions.begin(), std::move(dimension));
  }
  return nlohmann::json{{"view", view},
                        {"type", problem::name_of(type->element)},
                        {"offset", offset},
                        {"strides", strides},
                        {"dimensions", dimensions},
                        {"constant", is_constant(ir, tensor)}};
}

// One contraction or convolution and what is computed with it.
class Replaceable {
 public:
  Replaceable(const CompilerSession& session, const Users& users, MlirOperation root)
      : session_(session), ir_(session.api()), users_(users), root_(root), last_(root) {}

  ReplaceableOperation read() {
    std::vector<std::string> types;
    for (const MlirValue operand : ir_.operands(root_)) types.push_back(type_text(ir_, operand));
    ReplaceableOperation operation;
    operation.name = fmt::format("{}({})", ir_.name(root_), fmt::join(types, ", "));
    operation.count = 1;
    nlohmann::json said;
    const std::string why_not = state(said);
    if (why_not.empty()) {
      const MlirValue result = ir_.results(last_).front();
      operation.types = {types.at(0), types.at(1), type_text(ir_, result)};
      operation.dag = dag_text(operation.types);
    }
    operation.statement =
        why_not.empty() ? said.dump() : nlohmann::json{{"why_not", why_not}}.dump();
    return operation;
  }

 private:
  // Why it is of another form; empty when `said` is what it computes.
  std::string state(nlohmann::json& said) {
    const auto described = describe_operation(ir_, root_);
    const std::vector<MlirValue> operands = ir_.operands(root_), results = ir_.results(root_);
    const std::vector<MlirAttribute> maps = maps_of(ir_, root_);
    if (!described) return described.error().message;
    if (operands.size() != 3 || results.size() != 1 || maps.size() != 3 ||
        !adds_products(ir_, root_))
      return "it does more than to add up products of two operands";
    if (operands[0].ptr == operands[1].ptr) return "both its operands are one tensor";
    const MlirOperation fill = ir_.defining_operation(operands[2]);
    const auto start = fill.ptr == nullptr ? std::nullopt : fill_constant(ir_, fill);
    if (!start) return "its sums begin at values that are read";
    take_conversion(results.front());
    const auto lhs = use_of(ir_, operands[0], maps[0], 0),
               rhs = use_of(ir_, operands[1], maps[1], 1);
    // The conversion keeps the shape.
    auto stored = use_of(ir_, results.front(), maps[2], 2);
    if (!lhs || !rhs || !stored) return "a size of it is known only at run time";
    const auto type = parse_type(type_text(ir_, ir_.results(last_).front()));
    if (!type) return "its result is of a type that hone does not know";
    (*stored)["type"] = problem::name_of(type->element);
    (*stored)["value"] = 0;
    said = {{"kind", "contraction"},
            {"entry", ""},
            {"bindings", 3},
            {"constants", 0},
            {"views", views()},
            {"loops", loops(*described, *lhs, *rhs)},
            {"lhs", *lhs},
            {"rhs", *rhs},
            {"start", *start},
            {"values", {{{"op", "root"}, {"operands", nlohmann::json::array()}}}},
            {"stores", {*stored}}};
    return {};
  }

  static nlohmann::json views() {
    nlohmann::json views = nlohmann::json::array();
    for (int binding = 0; binding < 3; ++binding)
      views.push_back({{"binding", binding}, {"offset", 0}, {"words", nlohmann::json::array()}});
    return views;
  }

  static nlohmann::json loops(const problem::Operation& described, const nlohmann::json& lhs,
                              const nlohmann::json& rhs) {
    nlohmann::json loops = nlohmann::json::array();
    for (std::size_t l = 0; l < described.loops.size(); ++l) {
      const bool in_lhs = lhs["strides"][l] != 0, in_rhs = rhs["strides"][l] != 0;
      const char* role = in_lhs && in_rhs ? "batch" : in_rhs ? "n" : "m";
      if (described.loops[l].reduction) role = "k";
      loops.push_back({{"size", described.loops[l].size}, {"role", role}});
    }
    return loops;
  }

  // The one reader of the sums, where it does nothing but convert them.
  void take_conversion(MlirValue sums) {
    const auto readers = users_.find(sums.ptr);
    if (readers == users_.end() || readers->second.size() != 1) return;
    const MlirOperation reader = readers->second.front();
    if (!ir_.is(reader, "linalg.generic")) return;
    const auto operands = ir_.operands(reader);
    const MlirOperation into = operands.size() == 2 ? ir_.defining_operation(operands[1]) : reader;
    const auto maps = maps_of(ir_, reader);
    const std::vector<MlirOperation> body = ir_.children(reader);
    if (into.ptr == nullptr || !ir_.is(into, "tensor.empty") || maps.size() != 2 ||
        ir_.text(maps[0]) != ir_.text(maps[1]) || !is_identity(maps[0]) || body.size() != 2)
      return;
    if (ir_.is(body[0], "arith.truncf") || ir_.is(body[0], "arith.extf")) last_ = reader;
  }

  bool is_identity(MlirAttribute map) const {
    const auto read = indices(ir_.api(), map);
    if (!read) return false;
    for (std::size_t d = 0; d < read->size(); ++d)
      for (std::size_t l = 0; l < (*read)[d].of_loop.size(); ++l)
        if ((*read)[d].constant != 0 || (*read)[d].of_loop[l] != (l == d ? 1 : 0)) return false;
    return true;
  }

  // The operations are cloned into a function that the compiler has parsed, and printed there: no
  // printed operation of the program is read again.
  std::string dag_text(const std::vector<std::string>& types) const {
    const std::string frame = fmt::format(
        "func.func @dag(%lhs: {0}, %rhs: {1}) -> {2} {{\n"
        "  %r = builtin.unrealized_conversion_cast %lhs, %rhs : {0}, {1} to {2}\n"
        "  return %r : {2}\n}}\n",
        types.at(0), types.at(1), types.at(2));
    Invocation parse(session_);
    if (!parse.parse("dag", frame)) return {};
    const OwnedModule module = parse.take_module();
    const auto named = [&](std::string_view name) {
      return ir_.find(module.get(),
                      [&](MlirOperation operation) { return ir_.is(operation, name); });
    };
    const MlirOperation marker = named("builtin.unrealized_conversion_cast");
    const MlirOperation end = named("func.return");
    if (marker.ptr == nullptr || end.ptr == nullptr) return {};
    std::map<const void*, MlirValue> known;
    const std::vector<MlirValue> read = ir_.operands(root_), arguments = ir_.operands(marker);
    known[read[0].ptr] = arguments[0];
    known[read[1].ptr] = arguments[1];
    if (!clone_before(marker, last_, known)) return {};
    ir_.api().mlirOperationSetOperand(end, 0, known.at(ir_.results(last_).front().ptr));
    ir_.api().mlirOperationDestroy(marker);
    return body_of(ir_.text(module.get()));
  }

  // Clones what `operation` is made of first. False where that is not known to be of the
  // operation's own.
  bool clone_before(MlirOperation marker, MlirOperation operation,
                    std::map<const void*, MlirValue>& known) const {
    const CApi& api = ir_.api();
    const std::vector<MlirValue> operands = ir_.operands(operation);
    for (const MlirValue operand : operands) {
      if (known.contains(operand.ptr)) continue;
      const MlirOperation made = ir_.defining_operation(operand);
      if (made.ptr == nullptr || !clone_before(marker, made, known)) return false;
    }
    const MlirOperation copy = api.mlirOperationClone(operation);
    for (std::size_t i = 0; i < operands.size(); ++i)
      api.mlirOperationSetOperand(copy, static_cast<std::intptr_t>(i), known.at(operands[i].ptr));
    api.mlirBlockInsertOwnedOperationBefore(api.mlirOperationGetBlock(marker), marker, copy);
    const std::vector<MlirValue> results = ir_.results(operation), copies = ir_.results(copy);
    for (std::size_t i = 0; i < results.size(); ++i) known[results[i].ptr] = copies[i];
    return true;
  }

  // Lines of the function, with what stands for attributes above it ("#map = ...") put in.
  static std::string body_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> aliases;
    std::string body;
    bool inside = false;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with("#") && line.find(" = ") != std::string::npos) {
        const std::size_t equals = line.find(" = ");
        aliases.emplace_back(line.substr(0, equals), line.substr(equals + 3));
      } else if (line.find("func.func @dag") != std::string::npos) {
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
    return body;
  }

  const CompilerSession& session_;
  Ir ir_;
  const Users& users_;
  MlirOperation root_;
  MlirOperation last_;  // of what is replaced: the root, or the conversion behind it
};

bool is_product(const Ir& ir, MlirOperation operation) {
  if (!ir.name(operation).starts_with("linalg.") || ir.results(operation).empty()) return false;
  return ir.api().mlirLinalgIsAContractionOp(operation) ||
         ir.api().mlirLinalgIsAConvolutionOp(operation);
}

constexpr auto kReplaceableFields = [](auto& operation, auto&& field) {
  field("name", operation.name);
  field("statement", operation.statement);
  field("types", operation.types);
  field("dag", operation.dag);
  field("count", operation.count);
};

}  // namespace

Result<std::vector<ReplaceableOperation>> replaceable_operations(
    const Library& library, const std::string& path, std::string_view bytes,
    const std::vector<std::string>& flags) {
  HONE_ASSIGN(const CompilerSession session, CompilerSession::create(library, flags));
  const Ir ir(session.api());
  Invocation invocation(session);
  if (!invocation.parse(path, bytes) || !invocation.run(kStart, kPreprocessing))
    return input_error("IREE cannot compile '{}':\n{}", path, invocation.diagnostics());
  const OwnedModule module = invocation.take_module();
  const Users users = users_in(ir, module.get());
  std::vector<MlirOperation> roots;
  ir.walk(module.get(), [&](MlirOperation operation) {
    if (is_product(ir, operation)) roots.push_back(operation);
  });
  std::vector<ReplaceableOperation> operations;
  for (const MlirOperation root : roots) {
    ReplaceableOperation read = Replaceable(session, users, root).read();
    const auto same = std::ranges::find_if(operations, [&](const ReplaceableOperation& each) {
      return each.name == read.name && each.statement == read.statement && each.dag == read.dag;
    });
    if (same == operations.end())
      operations.push_back(std::move(read));
    else
      ++same->count;
  }
  return operations;
}

void to_json(nlohmann::json& json, const ReplaceableOperation& operation) {
  write_fields(json, operation, kReplaceableFields);
}

void from_json(const nlohmann::json& json, ReplaceableOperation& operation) {
  read_fields(json, operation, kReplaceableFields);
}

}  // namespace hone::iree
