#include "device/library.h"

#include <dlfcn.h>

#include <algorithm>

#include "problem/contraction.h"

namespace hone::device {
namespace {

using problem::BindingUse;
using problem::Dispatch;
using problem::ElementType;
using problem::LoopRole;
using problem::Operand;
using problem::Operation;

// The operand's dimensions as roles, unit extents and leading batch loops omitted; "mk" for a
// row-major left operand. An input error when a batch loop comes later or an index is not a loop.
Result<std::string> layout_of(const Operation& operation, const Operand& operand) {
  std::string layout;
  for (const int index : operand.loops) {
    if (index < 0) return input_error("an operand of {} is not indexed by loops", operation.name);
    const problem::Loop& loop = operation.loops[static_cast<std::size_t>(index)];
    if (loop.size == 1) continue;
    switch (loop.role) {
      case LoopRole::kBatch:
        if (!layout.empty())
          return input_error("a library takes the batch dimensions first, {} has them elsewhere",
                             problem::describe(operation));
        break;
      case LoopRole::kM:
        layout += 'm';
        break;
      case LoopRole::kN:
        layout += 'n';
        break;
      case LoopRole::kK:
        layout += 'k';
        break;
      default:
        return input_error("{} is no matmul", problem::describe(operation));
    }
  }
  return layout;
}

std::vector<int> batch_loops(const Operation& operation, const Operand& operand) {
  std::vector<int> loops;
  for (const int index : operand.loops) {
    const problem::Loop& loop = operation.loops[static_cast<std::size_t>(index)];
    if (loop.role == LoopRole::kBatch && loop.size > 1) loops.push_back(index);
  }
  return loops;
}

// The extent of the one loop of `role` that is larger than 1; 1 when there is none.
Result<std::int64_t> extent_of(const Operation& operation, LoopRole role) {
  std::int64_t extent = 1;
  for (const int index : loops_with(operation, role)) {
    const std::int64_t size = operation.loops[static_cast<std::size_t>(index)].size;
    if (size == 1) continue;
    if (extent != 1)
      return input_error("{} has more than one {} loop; a library takes one",
                         problem::describe(operation), name_of(role));
    extent = size;
  }
  return extent;
}

// The layout is `wanted` or its reverse; `reversed` says which. Short ones are both.
Status match(const Operation& operation, std::string layout, std::string_view wanted,
             bool& reversed) {
  reversed = false;
  if (layout.size() < 2 || layout == wanted) return {};
  std::ranges::reverse(layout);
  if (layout != wanted)
    return input_error("a library cannot take the layouts of {}", problem::describe(operation));
  reversed = true;
  return {};
}

constexpr std::string_view kNarrowing = "elementwise(arith.truncf)";

// The bindings of A, B and the narrowed C, where the dispatch is a contraction of zeros with
// nothing but a narrowing behind it.
std::optional<std::array<std::size_t, 3>> narrowed_bindings(const Dispatch& dispatch) {
  std::size_t narrowings = 0;
  for (const std::string& fused : dispatch.fused) {
    if (fused == kNarrowing)
      ++narrowings;
    else if (fused != "fill" && fused != "linalg.fill")
      return std::nullopt;
  }
  const std::vector<Operand>& operands = dispatch.root.operands;
  if (narrowings != 1 || operands.size() != 3 || dispatch.bindings.size() != 3) return std::nullopt;
  std::array<std::size_t, 3> found{3, 3, 3};
  std::size_t next = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (dispatch.bindings[i].use == BindingUse::kOutput)
      found[2] = i;
    else if (next < 2)
      found[next++] = i;
  }
  if (found[1] == 3 || found[2] == 3) return std::nullopt;
  if (dispatch.root_bindings.size() == 3)
    for (std::size_t i = 0; i < 2; ++i) {
      if (dispatch.root_bindings[i] < 0) return std::nullopt;
      found[i] = static_cast<std::size_t>(dispatch.root_bindings[i]);
    }
  for (std::size_t i = 0; i < 3; ++i) {
    if (found[i] >= 3) return std::nullopt;
    const problem::TensorType &held = dispatch.bindings[found[i]].type, &wanted = operands[i].type;
    if (problem::element_count(held) != problem::element_count(wanted) ||
        (i < 2 && held.element != wanted.element))
      return std::nullopt;
  }
  return found;
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const std::vector<std::string>& names) {
  std::string reason = "no name to try";
  SharedLibrary library;
  for (const std::string& name : names) {
    library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    library.name_ = name;
    if (library.handle_ != nullptr) return library;
    reason = dlerror();
  }
  return environment_error("{}", reason);
}

void* SharedLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

Result<Product> plan_product(const Operation& operation) {
  if (!problem::is_contraction(operation.kind) || problem::is_dynamic(operation) ||
      operation.operands.size() != 3)
    return input_error("libraries have no counterpart to {}: it is no static matmul",
                       problem::describe(operation));
  const auto& operands = operation.operands;
  Product product;
  HONE_ASSIGN(const std::string left, layout_of(operation, operands[0]));
  HONE_ASSIGN(const std::string right, layout_of(operation, operands[1]));
  HONE_ASSIGN(const std::string output, layout_of(operation, operands[2]));
  const std::vector<int> batch = batch_loops(operation, operands[2]);
  if (batch_loops(operation, operands[0]) != batch || batch_loops(operation, operands[1]) != batch)
    return input_error("a library needs the same batch dimensions on every operand of {}",
                       problem::describe(operation));
  for (const int index : batch)
    product.batches *= operation.loops[static_cast<std::size_t>(index)].size;
  bool swapped = false;
  HONE_TRY(match(operation, left, "mk", product.transpose_a));
  HONE_TRY(match(operation, right, "kn", product.transpose_b));
  HONE_TRY(match(operation, output, "mn", swapped));
  HONE_ASSIGN(product.m, extent_of(operation, LoopRole::kM));
  HONE_ASSIGN(product.n, extent_of(operation, LoopRole::kN));
  HONE_ASSIGN(product.k, extent_of(operation, LoopRole::kK));
  product.input = operands[0].type.element;
  product.output = operands[2].type.element;
  if (swapped) {
    std::swap(product.m, product.n);
    std::swap(product.bindings[0], product.bindings[1]);
    const bool left_was_reversed = product.transpose_a;
    product.transpose_a = !product.transpose_b;
    product.transpose_b = !left_was_reversed;
  }
  return product;
}

Result<Product> dispatch_product(const Dispatch& dispatch) {
  HONE_ASSIGN(Product product, plan_product(dispatch.root));
  if (dispatch.root.operands[0].type.element != dispatch.root.operands[1].type.element)
    return input_error("a library multiplies operands of one type; {} has two",
                       problem::describe(dispatch.root));
  if (!dispatch.plain_products)
    return input_error("'{}' does not multiply and add as a library does", dispatch.name);
  std::array<std::size_t, 3> bindings{};
  const auto exact = problem::exact_bindings(dispatch);
  if (exact && !exact->bias) {
    bindings = {exact->lhs, exact->rhs, exact->output};
    product.output = dispatch.bindings[exact->output].type.element;
    product.accumulate = dispatch.fused.empty();
  } else if (const auto narrowed = narrowed_bindings(dispatch)) {
    bindings = *narrowed;
    product.output = dispatch.bindings[bindings[2]].type.element;
  } else {
    return input_error("a library computes the product alone; '{}' is fused with {}", dispatch.name,
                       fmt::join(dispatch.fused, ", "));
  }
  if (!dispatch.fused.empty() && dispatch.fill_value != 0)
    return input_error("a library's product starts from zero; that of '{}' from {}", dispatch.name,
                       dispatch.fill_value);
  for (std::size_t& binding : product.bindings) binding = bindings[binding];
  return product;
}

}  // namespace hone::device
