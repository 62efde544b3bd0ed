#include "provider/iree/program/open_sizes.h"

#include <algorithm>

#include "base/text.h"

namespace hone::iree {
namespace {

// A large prime, and steps to further ones' likes: no program has such an extent, and products and
// sums of two are none of them.
constexpr std::int64_t kFirstMark = 15485863, kMarkStep = 1000003;

std::string argument_name(std::pair<int, int> extent) {
  return fmt::format("input{}.{}", extent.first, extent.second);
}

// The extent of an argument that a value is read from; nothing for other values.
std::optional<std::pair<int, int>> argument_extent(const Ir& ir, MlirValue value) {
  const MlirOperation operation = ir.defining_operation(value);
  if (operation.ptr == nullptr || !ir.is(operation, "hal.buffer_view.dim")) return std::nullopt;
  const MlirValue view = ir.operands(operation).at(0);
  const auto dimension = ir.integer_value(ir.attribute(operation, "index"));
  if (ir.api().mlirValueIsAOpResult(view) || !dimension) return std::nullopt;
  return std::pair(static_cast<int>(ir.api().mlirBlockArgumentGetArgNumber(view)),
                   static_cast<int>(*dimension));
}

std::string letter(problem::LoopRole role) {
  switch (role) {
    case problem::LoopRole::kBatch:
      return "B";
    case problem::LoopRole::kM:
      return "M";
    case problem::LoopRole::kN:
      return "N";
    case problem::LoopRole::kK:
      return "K";
    case problem::LoopRole::kOther:
      break;
  }
  return {};
}

}  // namespace

OpenSizes OpenSizes::find(const Ir& ir, const OwnedModule& program) {
  OpenSizes open;
  ir.walk(program.get(), [&](MlirOperation operation) {
    if (!ir.is(operation, "hal.buffer_view.dim")) return;
    if (const auto extent = argument_extent(ir, ir.results(operation).at(0))) open.all_[*extent];
  });
  std::int64_t mark = kFirstMark;
  for (auto& [extent, each] : open.all_) each.mark = std::exchange(mark, mark + kMarkStep);
  return open;
}

Sizes OpenSizes::with(const Ir& ir, std::map<Extent, std::int64_t> values) const {
  return Sizes(ir,
               [ir, values = std::move(values)](MlirValue value) -> std::optional<std::int64_t> {
                 const auto extent = argument_extent(ir, value);
                 if (!extent) return std::nullopt;
                 const auto found = values.find(*extent);
                 return found == values.end() ? std::nullopt : std::optional(found->second);
               });
}

Sizes OpenSizes::marked(const Ir& ir) const {
  std::map<Extent, std::int64_t> values;
  for (const auto& [extent, each] : all_) values[extent] = each.mark;
  return with(ir, std::move(values));
}

Sizes OpenSizes::given(const Ir& ir) const {
  std::map<Extent, std::int64_t> values;
  for (const auto& [extent, each] : all_)
    if (each.size != problem::kDynamic) values[extent] = each.size;
  return with(ir, std::move(values));
}

void OpenSizes::name_by(const problem::Operation& root) {
  // By operand: two that share a loop may have it from two arguments.
  for (const problem::Operand& operand : root.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d) {
      if (operand.loops[d] < 0) continue;
      const problem::LoopRole role = root.loops[static_cast<std::size_t>(operand.loops[d])].role;
      if (letter(role).empty()) continue;
      const std::vector<int> alike = loops_with(root, role);
      const auto which = std::find(alike.begin(), alike.end(), operand.loops[d]) - alike.begin();
      for (auto& [extent, each] : all_)
        if (each.mark == operand.type.shape[d])
          each.roles.insert(alike.size() > 1 ? fmt::format("{}{}", letter(role), which)
                                             : letter(role));
    }
}

Status OpenSizes::give(const std::vector<problem::GivenSize>& sizes) {
  std::vector<std::string> known;
  for (const auto& [extent, each] : all_) {
    known.push_back(argument_name(extent));
    known.insert(known.end(), each.roles.begin(), each.roles.end());
  }
  for (const problem::GivenSize& given : sizes) {
    if (std::find(known.begin(), known.end(), given.name) == known.end())
      return input_error(
          "--dim {}={}: the program {}{}", given.name, given.size,
          all_.empty() ? "leaves no size open" : "has no such size; it leaves open: " + names(),
          did_you_mean(given.name, known));
    for (auto& [extent, each] : all_)
      if (each.roles.contains(given.name) && each.size == problem::kDynamic)
        each.size = given.size;
      else if (each.roles.contains(given.name) && each.size != given.size)
        return input_error("--dim {}={}: the same size was given as {} by another of its names: {}",
                           given.name, given.size, each.size, names());
  }
  for (const problem::GivenSize& given : sizes)
    for (auto& [extent, each] : all_)
      if (argument_name(extent) == given.name) each.size = given.size;
  return {};
}

void OpenSizes::fill_in(problem::Function& function) const {
  for (const auto& [extent, each] : all_) {
    const auto [argument, dimension] = extent;
    if (argument >= std::ssize(function.inputs)) continue;
    auto& shape = function.inputs[static_cast<std::size_t>(argument)].shape;
    if (dimension >= std::ssize(shape)) continue;
    std::int64_t& size = shape[static_cast<std::size_t>(dimension)];
    if (size == problem::kDynamic) size = each.size;
  }
}

std::string OpenSizes::names() const {
  std::vector<std::string> texts;
  for (const auto& [extent, each] : all_)
    texts.push_back(each.roles.empty() ? argument_name(extent)
                                       : fmt::format("{} ({})", fmt::join(each.roles, ", "),
                                                     argument_name(extent)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OpenSizes::how_to_give(std::int64_t mark) const {
  for (const auto& [extent, each] : all_)
    if (each.mark == mark)
      return each.roles.empty() ? fmt::format("--dim {}=SIZE", argument_name(extent))
                                : fmt::format("--dim {}=SIZE (or {}=SIZE)", *each.roles.begin(),
                                              argument_name(extent));
  if (all_.empty()) return "no argument of the program says it";
  return "--dim NAME=SIZE; open are: " + names();
}

Status set_sizes(const Ir& ir, MlirOperation root, const Sizes& sizes,
                 problem::Operation& described) {
  const std::vector<MlirValue> values = ir.operands(root);
  for (std::size_t i = 0; i < described.operands.size() && i < values.size(); ++i) {
    problem::Operand& operand = described.operands[i];
    if (!problem::is_dynamic(operand.type)) continue;
    const auto known = sizes.type(values[i]);
    for (std::size_t d = 0; d < operand.type.shape.size(); ++d) {
      if (operand.type.shape[d] != problem::kDynamic) continue;
      if (operand.loops[d] < 0)
        return input_error(
            "extent {} of operand {} is known only at run time, and no single loop's", d, i);
      problem::Loop& loop = described.loops[static_cast<std::size_t>(operand.loops[d])];
      loop.open = true;
      if (!known) continue;
      operand.type.shape[d] = known->shape[d];
      if (loop.size == problem::kDynamic) loop.size = known->shape[d];
    }
  }
  // An operand may state what another leaves open.
  for (problem::Operand& operand : described.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d)
      if (operand.loops[d] >= 0 && operand.type.shape[d] == problem::kDynamic)
        operand.type.shape[d] = described.loops[static_cast<std::size_t>(operand.loops[d])].size;
  return {};
}

}  // namespace hone::iree
