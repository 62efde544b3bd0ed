#include "provider/iree/program/open_sizes.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/ranges.h"
#include "base/text.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

// A large prime, and steps to further ones' likes: no program has such an extent, and products and
// sums of two are none of them.
constexpr std::int64_t kFirstMark = 15485863, kMarkStep = 1000003;

// The function with fences has the same arguments (functions_of).
std::string_view public_name(std::string_view symbol) {
  constexpr std::string_view kTwin = "$async";
  return symbol.substr(0, symbol.size() - (symbol.ends_with(kTwin) ? kTwin.size() : 0));
}

// The function that has a value as its argument, and its number; nothing for another value.
std::optional<std::pair<std::string, int>> argument_of_function(const Ir& ir, MlirValue value) {
  const auto argument = ir.argument(value);
  if (!argument) return std::nullopt;
  return std::pair(std::string(public_name(ir.symbol(argument->of))),
                   static_cast<int>(argument->number));
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
    default:
      return {};
  }
}

}  // namespace

std::string OpenSizes::Extent::name() const {
  return fmt::format("input{}.{}", argument, dimension);
}

OpenSizes::OpenSizes(const std::vector<problem::Function>& functions, const SizeNames& names)
    : functions_(functions) {
  std::int64_t mark = kFirstMark;
  for (const problem::Function& function : functions)
    for (std::size_t i = 0; i < function.inputs.size(); ++i)
      for (std::size_t d = 0; d < function.inputs[i].shape.size(); ++d) {
        if (function.inputs[i].shape[d] != problem::kDynamic) continue;
        const Extent extent{function.name, static_cast<int>(i), static_cast<int>(d)};
        all_[extent] = sizes_.size();
        by_mark_[std::exchange(mark, mark + kMarkStep)] = extent;
        sizes_.push_back({{}, {}, {extent.name()}});
      }
  for (const auto& [name, extents] : names) {
    std::optional<std::size_t> first;
    for (const auto& [extent, size] : all_) {
      if (std::ranges::count(extents, extent.name()) == 0) continue;
      sizes_[size].names.insert(name);
      unite(first.value_or(size), size);
      first = first.value_or(size);
    }
  }
}

void OpenSizes::unite(std::size_t a, std::size_t b) {
  if (a == b) return;
  sizes_[a].names.merge(sizes_[b].names);
  sizes_[a].roles.merge(sizes_[b].roles);
  sizes_[a].arguments.merge(sizes_[b].arguments);
  sizes_[b] = {};
  for (auto& [extent, size] : all_)
    if (size == b) size = a;
}

Sizes OpenSizes::with(const Ir& ir, const std::map<Extent, std::int64_t>& values) const {
  const auto integer = [ir, values](MlirValue value) -> std::optional<std::int64_t> {
    const MlirOperation operation = ir.defining_operation(value);
    if (!ir.is(operation, "hal.buffer_view.dim")) return std::nullopt;
    const auto argument = argument_of_function(ir, ir.operands(operation).at(0));
    const auto dimension = ir.integer_value(ir.attribute(operation, "index"));
    if (!argument || !dimension) return std::nullopt;
    const auto found =
        values.find({argument->first, argument->second, static_cast<int>(*dimension)});
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const auto extents = [ir, values](MlirValue value) -> std::optional<std::vector<std::int64_t>> {
    const auto argument = argument_of_function(ir, value);
    auto type = ir.type(value);
    if (!argument || !type) return std::nullopt;
    for (std::size_t d = 0; d < type->shape.size(); ++d) {
      const auto found = values.find({argument->first, argument->second, static_cast<int>(d)});
      if (found != values.end()) type->shape[d] = found->second;
    }
    if (problem::is_dynamic(*type)) return std::nullopt;
    return type->shape;
  };
  return Sizes(ir, integer, extents, Turns::kFirst);
}

void OpenSizes::equate_in(const Ir& ir, const OwnedModule& program) {
  const Sizes sizes = marked(ir);
  ir.walk(program.get(), [&](MlirOperation operation) {
    if (!ir.name(operation).starts_with("linalg.")) return;
    auto described = describe_operation(ir, operation);
    if (described && set_sizes(ir, operation, sizes, *described)) equate_by(*described);
  });
}

Sizes OpenSizes::marked(const Ir& ir) const {
  std::map<Extent, std::int64_t> values;
  for (const auto& [mark, extent] : by_mark_) values[extent] = mark;
  return with(ir, values);
}

Sizes OpenSizes::given(const Ir& ir) const {
  std::map<Extent, std::int64_t> values;
  for (const auto& [extent, size] : all_)
    if (sizes_[size].value != problem::kDynamic) values[extent] = sizes_[size].value;
  return with(ir, values);
}

std::optional<std::size_t> OpenSizes::with_mark(std::int64_t mark) const {
  const auto found = by_mark_.find(mark);
  return found == by_mark_.end() ? std::nullopt : std::optional(all_.at(found->second));
}

void OpenSizes::equate_by(const problem::Operation& operation) {
  std::map<int, std::size_t> of_loop;
  for (const problem::Operand& operand : operation.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d) {
      const auto size = with_mark(operand.type.shape[d]);
      if (!size || operand.loops[d] < 0) continue;
      const auto [first, is_new] = of_loop.emplace(operand.loops[d], *size);
      if (!is_new) unite(first->second, *size);
    }
}

void OpenSizes::name_by(const problem::Operation& root) {
  for (const problem::Operand& operand : root.operands)
    for (std::size_t d = 0; d < operand.loops.size(); ++d) {
      if (operand.loops[d] < 0) continue;
      const problem::LoopRole role = root.loops[to_index(operand.loops[d])].role;
      const auto size = with_mark(operand.type.shape[d]);
      if (letter(role).empty() || !size) continue;
      const std::vector<int> alike = loops_with(root, role);
      const auto which = std::ranges::find(alike, operand.loops[d]) - alike.begin();
      sizes_[*size].roles.insert(alike.size() > 1 ? fmt::format("{}{}", letter(role), which)
                                                  : letter(role));
    }
}

Status OpenSizes::set(Size& size, std::int64_t value, const std::string& given_by) {
  if (size.value != problem::kDynamic && size.value != value)
    return input_error("{} contradicts {}: {} is one size of the program, given as {} and as {}",
                       given_by, size.given_by, fmt::join(names_of(size), ", "), size.value, value);
  size.value = value;
  size.given_by = given_by;
  return {};
}

Status OpenSizes::give_shape(const problem::GivenShape& given, const problem::Function& function) {
  const auto argument = to_index(given.argument);
  if (argument >= function.inputs.size()) return {};
  const std::vector<std::int64_t>& shape = function.inputs[argument].shape;
  const auto fits = [&](std::int64_t declared, std::int64_t each) {
    return declared == problem::kDynamic || declared == each;
  };
  // Ignore a shape that does not fit: the call of the function reports it.
  if (!std::ranges::equal(shape, given.shape, fits)) return {};
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == problem::kDynamic)
      HONE_TRY(set(sizes_[all_.at({function.name, given.argument, static_cast<int>(d)})],
                   given.shape[d], given.text));
  return {};
}

Status OpenSizes::give(const problem::GivenSizes& given) {
  std::vector<std::string> known;
  for (const Size& size : sizes_)
    for (const auto* const names : {&size.names, &size.arguments, &size.roles})
      known.insert(known.end(), names->begin(), names->end());
  const auto text_of = [](const problem::GivenSize& each) {
    return fmt::format("--dim {}={}", each.name, each.size);
  };
  std::vector<const problem::GivenSize*> by_role;
  for (const problem::GivenSize& each : given.sizes) {
    if (std::ranges::count(known, each.name) == 0)
      return input_error(
          "{}: the program {}{}", text_of(each),
          all_.empty() ? "leaves no size open" : "has no such size; it leaves open: " + missing(),
          did_you_mean(each.name, known));
    bool is_role = true;
    for (Size& size : sizes_) {
      if (!size.names.contains(each.name) && !size.arguments.contains(each.name)) continue;
      is_role = false;
      HONE_TRY(set(size, each.size, text_of(each)));
    }
    if (is_role) by_role.push_back(&each);
  }
  // A role may belong to several sizes, some of which already have a value. It sets only the open
  // ones.
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    if (sizes_[i].value == problem::kDynamic) open.push_back(i);
  for (const problem::GivenSize* const each : by_role)
    for (const std::size_t i : open)
      if (sizes_[i].roles.contains(each->name))
        HONE_TRY(set(sizes_[i], each->size, text_of(*each)));
  for (const problem::GivenShape& shape : given.shapes)
    for (const problem::Function& function : functions_)
      if (given.function.empty() || given.function == function.name)
        HONE_TRY(give_shape(shape, function));
  return {};
}

void OpenSizes::fill_in(problem::Function& function) const {
  std::set<std::size_t> missing;
  for (const auto& [extent, index] : all_) {
    if (extent.function != function.name) continue;
    const Size& size = sizes_[index];
    function.inputs[to_index(extent.argument)].shape[to_index(extent.dimension)] = size.value;
    // A role may be another size's too.
    if (size.value == problem::kDynamic && missing.insert(index).second)
      function.missing_sizes.push_back(*(size.names.empty() ? size.arguments : size.names).begin());
  }
}

std::vector<std::string> OpenSizes::names_of(const Size& size) {
  std::vector<std::string> names(size.names.begin(), size.names.end());
  names.insert(names.end(), size.roles.begin(), size.roles.end());
  names.insert(names.end(), size.arguments.begin(), size.arguments.end());
  return names;
}

std::string OpenSizes::missing() const {
  std::vector<std::string> texts;
  for (const Size& size : sizes_) {
    if (size.arguments.empty() || size.value != problem::kDynamic) continue;
    const std::vector<std::string> names = names_of(size);
    texts.push_back(names.size() == 1 ? names.front()
                                      : fmt::format("{} ({})", names.front(),
                                                    fmt::join(std::span(names).subspan(1), ", ")));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OpenSizes::how_to_give(std::int64_t mark) const {
  if (const auto index = with_mark(mark)) {
    std::vector<std::string> ways;
    for (const std::string& name : names_of(sizes_[*index])) ways.push_back(name + "=SIZE");
    return fmt::format("--dim {}{}", ways.front(),
                       ways.size() == 1
                           ? std::string()
                           : fmt::format(" (or {})", fmt::join(std::span(ways).subspan(1), ", ")));
  }
  const std::string names = missing();
  if (names.empty()) return "no argument of the program says it";
  return "--dim NAME=SIZE; open are: " + names;
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
      problem::Loop& loop = described.loops[to_index(operand.loops[d])];
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
        operand.type.shape[d] = described.loops[to_index(operand.loops[d])].size;
  return {};
}

}  // namespace hone::iree
