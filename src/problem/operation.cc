#include "problem/operation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/hash.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "problem/check.h"
#include "problem/dispatch.h"

namespace hone::problem {
namespace {

constexpr std::pair<OperationKind, std::string_view> kKinds[] = {
    {OperationKind::kMatmul, "matmul"},
    {OperationKind::kBatchMatmul, "batch_matmul"},
    {OperationKind::kContraction, "contraction"},
    {OperationKind::kMatvec, "matvec"},
    {OperationKind::kConvolution, "convolution"},
    {OperationKind::kReduction, "reduction"},
    {OperationKind::kElementwise, "elementwise"},
    {OperationKind::kAttention, "attention"},
    {OperationKind::kOther, "other"},
};

// Whether the operand's dimensions walk its loops in the loops' own order: row-major A (m,k),
// B (k,n) and C (m,n) in the usual loop order (batch, m, n, k) all but B do.
bool is_transposed(const Operation& operation, const Operand& operand, LoopRole first,
                   LoopRole second) {
  const auto position = [&](LoopRole role) {
    for (std::size_t d = 0; d < operand.loops.size(); ++d) {
      const int loop = operand.loops[d];
      if (loop >= 0 && operation.loops[static_cast<std::size_t>(loop)].role == role)
        return static_cast<int>(d);
    }
    return -1;
  };
  const int a = position(first), b = position(second);
  return a >= 0 && b >= 0 && a > b;
}

std::string extents_text(const Operation& operation) {
  std::vector<std::string> extents;
  for (const auto& [role, name] : kLoopRoles)
    for (const int loop : loops_with(operation, role)) {
      const Loop& each = operation.loops[static_cast<std::size_t>(loop)];
      extents.push_back((each.size == kDynamic ? "" : std::to_string(each.size)) +
                        (each.size == kDynamic || each.open ? "?" : ""));
    }
  return fmt::format("{}", fmt::join(extents, "x"));
}

}  // namespace

std::string_view name_of(OperationKind kind) {
  return name_in(kKinds, kind);
}

Result<OperationKind> operation_kind_from(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [value, known] : kKinds) {
    if (known == name) return value;
    names.emplace_back(known);
  }
  return input_error("'{}' is no operation{}; known: {}", name, did_you_mean(name, names),
                     fmt::join(names, ", "));
}

bool is_contraction(OperationKind kind) {
  return kind == OperationKind::kMatmul || kind == OperationKind::kBatchMatmul ||
         kind == OperationKind::kContraction || kind == OperationKind::kMatvec;
}

bool is_dynamic(const Operation& operation) {
  return std::ranges::any_of(operation.loops,
                             [](const Loop& loop) { return loop.size == kDynamic; });
}

bool has_open_sizes(const Operation& operation) {
  return std::ranges::any_of(operation.loops,
                             [](const Loop& loop) { return loop.open || loop.size == kDynamic; });
}

bool reduces(const Operation& operation) {
  return std::ranges::any_of(operation.loops, &Loop::reduction);
}

std::int64_t iterations(const Operation& operation, bool reduction) {
  std::int64_t count = 1;
  for (const Loop& loop : operation.loops)
    if (loop.reduction == reduction) count *= std::max<std::int64_t>(1, loop.size);
  return count;
}

Operation as_stated(Operation operation) {
  for (Loop& loop : operation.loops)
    if (loop.open) loop.size = kDynamic;
  for (Operand& operand : operation.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d)
      if (operand.loops[d] >= 0 && operation.loops[static_cast<std::size_t>(operand.loops[d])].open)
        operand.type.shape[d] = kDynamic;
  return operation;
}

std::vector<int> loops_with(const Operation& operation, LoopRole role) {
  std::vector<int> loops;
  for (std::size_t i = 0; i < operation.loops.size(); ++i)
    if (operation.loops[i].role == role) loops.push_back(static_cast<int>(i));
  return loops;
}

namespace {

// The iterations of all loops that index either operand.
double iterations_over(const Operation& operation, const Operand& a, const Operand& b) {
  std::set<int> loops(a.loops.begin(), a.loops.end());
  loops.insert(b.loops.begin(), b.loops.end());
  double iterations = 1;
  for (const int loop : loops)
    if (loop >= 0 && static_cast<std::size_t>(loop) < operation.loops.size())
      iterations *= static_cast<double>(operation.loops[static_cast<std::size_t>(loop)].size);
  return iterations;
}

}  // namespace

double flop_count(const Operation& operation) {
  if (is_dynamic(operation) || operation.loops.empty()) return 0;
  if (operation.kind == OperationKind::kAttention && operation.operands.size() >= 4)
    return 2 * (iterations_over(operation, operation.operands[0], operation.operands[1]) +
                iterations_over(operation, operation.operands[2], operation.operands.back()));
  double iterations = 1;
  for (const Loop& loop : operation.loops) iterations *= static_cast<double>(loop.size);
  if (is_contraction(operation.kind) || operation.kind == OperationKind::kConvolution)
    return 2 * iterations;
  if (operation.kind != OperationKind::kReduction) return iterations;
  const auto results = std::ranges::count(operation.operands, true, &Operand::output);
  const bool multiplies = std::ssize(operation.operands) - results > 1;
  return (multiplies ? 2 : 1) * static_cast<double>(std::max<std::ptrdiff_t>(1, results)) *
         iterations;
}

double byte_count(const Operation& operation) {
  if (is_dynamic(operation)) return 0;
  double bytes = 0;
  for (const Operand& operand : operation.operands)
    bytes += static_cast<double>(element_count(operand.type)) *
             static_cast<double>(byte_size(operand.type.element));
  return bytes;
}

std::string describe(const Operation& operation) {
  std::vector<std::string_view> inputs, outputs;
  for (const Operand& operand : operation.operands)
    (operand.output ? outputs : inputs).push_back(name_of(operand.type.element));
  std::string text = fmt::format("{} {} {}->{}", name_of(operation.kind), extents_text(operation),
                                 fmt::join(inputs, ","), fmt::join(outputs, ","));
  if (is_contraction(operation.kind) && operation.operands.size() >= 3) {
    if (is_transposed(operation, operation.operands[0], LoopRole::kM, LoopRole::kK)) text += " ta";
    if (is_transposed(operation, operation.operands[1], LoopRole::kK, LoopRole::kN)) text += " tb";
  }
  return text;
}

std::string fingerprint(const Operation& operation) {
  // The compiler's name is omitted: a linalg.matmul and its generic form are the same operation.
  nlohmann::json json = operation;
  json.erase("name");
  return content_hash(json.dump());
}

// "open" is written only if true, so that fingerprints of older stores stay valid.
constexpr auto kLoopFields = [](auto& loop, auto&& field) {
  field("size", loop.size);
  field("reduction", loop.reduction);
  field.named("role", loop.role, kLoopRoles);
  field.when(loop.open, "open", loop.open);
};

constexpr auto kOperandFields = [](auto& operand, auto&& field) {
  field("type", operand.type);
  field("loops", operand.loops);
  field("output", operand.output);
};

constexpr auto kOperationFields = [](auto& operation, auto&& field) {
  field("name", operation.name);
  field.list("loops", operation.loops, kLoopFields);
  field.list("operands", operation.operands, kOperandFields);
};

void to_json(nlohmann::json& json, const Operation& operation) {
  write_fields(json, operation, kOperationFields);
  json["kind"] = name_of(operation.kind);
}

void from_json(const nlohmann::json& json, Operation& operation) {
  read_fields(json, operation, kOperationFields);
  const Result<OperationKind> kind = operation_kind_from(json.at("kind").get<std::string>());
  if (!kind) refuse_json(kind.error().message);
  operation.kind = *kind;
  refuse_unless(check(operation));
}

}  // namespace hone::problem
