#include "provider/iree/compiler/ir.h"

#include <algorithm>
#include <utility>

#include "base/ranges.h"
#include "problem/types.h"
#include "provider/iree/compiler/sizes.h"

namespace hone::iree {
namespace {

// Whether `walk` goes on.
bool walk_while(const Ir& ir, MlirOperation operation,
                const std::function<bool(MlirOperation)>& visit) {
  if (!visit(operation)) return false;
  for (const MlirOperation child : ir.children(operation))
    if (!walk_while(ir, child, visit)) return false;
  return true;
}

}  // namespace

OwnedModule::OwnedModule(OwnedModule&& other) noexcept
    : api_(other.api_), operation_(std::exchange(other.operation_, {})) {}

OwnedModule& OwnedModule::operator=(OwnedModule&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(operation_, other.operation_);
  return *this;
}

OwnedModule::~OwnedModule() {
  if (operation_) api_->mlirOperationDestroy(operation_);
}

MlirOperation OwnedModule::release() {
  return std::exchange(operation_, {});
}

OwnedModule OwnedModule::clone() const {
  return OwnedModule(*api_, api_->mlirOperationClone(operation_));
}

MlirStringRef to_ref(std::string_view text) {
  return {text.data(), text.size()};
}

std::string_view to_view(MlirStringRef ref) {
  return {ref.data, ref.length};
}

void append_to_string(MlirStringRef chunk, void* text) {
  *static_cast<std::string*>(text) += to_view(chunk);
}

bool is_any_of(std::string_view kind, std::initializer_list<std::string_view> kinds) {
  return std::ranges::count(kinds, kind) > 0;
}

std::string_view Ir::name(MlirOperation operation) const {
  if (!operation) return {};
  return to_view(api_->mlirIdentifierStr(api_->mlirOperationGetName(operation)));
}

bool Ir::is(MlirOperation operation, std::string_view wanted) const {
  return name(operation) == wanted;
}

MlirAttribute Ir::attribute(MlirOperation operation, std::string_view name) const {
  return api_->mlirOperationGetAttributeByName(operation, to_ref(name));
}

void Ir::set_attribute(MlirOperation operation, std::string_view name, MlirAttribute value) const {
  api_->mlirOperationSetAttributeByName(operation, to_ref(name), value);
}

void Ir::set_attribute(MlirOperation operation, std::string_view name,
                       const std::string& text) const {
  set_attribute(operation, name, parse_attribute(api_->mlirOperationGetContext(operation), text));
}

void Ir::remove_attribute(MlirOperation operation, std::string_view name) const {
  api_->mlirOperationRemoveAttributeByName(operation, to_ref(name));
}

std::string Ir::symbol(MlirOperation operation) const {
  return string_value(attribute(operation, "sym_name")).value_or("");
}

std::vector<MlirValue> Ir::operands(MlirOperation operation) const {
  std::vector<MlirValue> values;
  for (std::intptr_t i = 0; i < api_->mlirOperationGetNumOperands(operation); ++i)
    values.push_back(api_->mlirOperationGetOperand(operation, i));
  return values;
}

std::vector<MlirValue> Ir::results(MlirOperation operation) const {
  std::vector<MlirValue> values;
  for (std::intptr_t i = 0; i < api_->mlirOperationGetNumResults(operation); ++i)
    values.push_back(api_->mlirOperationGetResult(operation, i));
  return values;
}

void Ir::set_operand(MlirOperation operation, std::size_t index, MlirValue value) const {
  api_->mlirOperationSetOperand(operation, static_cast<std::intptr_t>(index), value);
}

MlirOperation Ir::defining_operation(MlirValue value) const {
  return api_->mlirValueIsAOpResult(value) ? api_->mlirOpResultGetOwner(value) : MlirOperation{};
}

bool Ir::reads(MlirOperation reader, MlirOperation producer) const {
  return std::ranges::any_of(
      operands(reader), [&](MlirValue value) { return defining_operation(value) == producer; });
}

bool Ir::is_inside(MlirOperation operation, MlirOperation outer) const {
  while (operation && operation != outer)
    operation = api_->mlirOperationGetParentOperation(operation);
  return operation == outer;
}

MlirOperation Ir::copy_before(MlirOperation next, MlirOperation operation) const {
  const MlirOperation copy = api_->mlirOperationClone(operation);
  api_->mlirBlockInsertOwnedOperationBefore(api_->mlirOperationGetBlock(next), next, copy);
  return copy;
}

MlirBlock Ir::body(MlirOperation operation, std::intptr_t region) const {
  if (region >= api_->mlirOperationGetNumRegions(operation)) return {};
  return api_->mlirRegionGetFirstBlock(api_->mlirOperationGetRegion(operation, region));
}

std::vector<MlirValue> Ir::arguments(MlirOperation operation) const {
  std::vector<MlirValue> values;
  if (const MlirBlock block = body(operation, 0))
    for (std::intptr_t i = 0; i < api_->mlirBlockGetNumArguments(block); ++i)
      values.push_back(api_->mlirBlockGetArgument(block, i));
  return values;
}

std::vector<MlirValue> Ir::yielded(MlirOperation operation, std::intptr_t region) const {
  const MlirBlock block = body(operation, region);
  return block ? operands(api_->mlirBlockGetTerminator(block)) : std::vector<MlirValue>();
}

std::optional<Ir::Argument> Ir::argument(MlirValue value) const {
  if (api_->mlirValueIsAOpResult(value)) return std::nullopt;
  return Argument{api_->mlirBlockGetParentOperation(api_->mlirBlockArgumentGetOwner(value)),
                  to_index(api_->mlirBlockArgumentGetArgNumber(value))};
}

std::vector<MlirOperation> Ir::children(MlirOperation operation) const {
  std::vector<MlirOperation> all;
  for (std::intptr_t i = 0; i < api_->mlirOperationGetNumRegions(operation); ++i)
    for (MlirBlock block =
             api_->mlirRegionGetFirstBlock(api_->mlirOperationGetRegion(operation, i));
         block; block = api_->mlirBlockGetNextInRegion(block))
      for (MlirOperation child = api_->mlirBlockGetFirstOperation(block); child;
           child = api_->mlirOperationGetNextInBlock(child))
        all.push_back(child);
  return all;
}

std::vector<MlirOperation> Ir::children(MlirOperation operation, std::string_view named) const {
  std::vector<MlirOperation> all = children(operation);
  std::erase_if(all, [&](MlirOperation child) { return !is(child, named); });
  return all;
}

void Ir::walk(MlirOperation operation, const std::function<void(MlirOperation)>& visit) const {
  walk_while(*this, operation, [&](MlirOperation each) {
    visit(each);
    return true;
  });
}

MlirOperation Ir::find(MlirOperation operation,
                       const std::function<bool(MlirOperation)>& predicate) const {
  MlirOperation found;
  walk_while(*this, operation, [&](MlirOperation each) {
    if (!predicate(each)) return true;
    found = each;
    return false;
  });
  return found;
}

MlirOperation Ir::find(MlirOperation operation, std::string_view named) const {
  return find(operation, [&](MlirOperation each) { return is(each, named); });
}

Readers Ir::readers_in(MlirOperation operation) const {
  Readers readers;
  walk(operation, [&](MlirOperation reader) {
    for (const MlirValue operand : operands(reader)) readers[operand].push_back(reader);
  });
  return readers;
}

std::vector<MlirOperation> Ir::all(MlirOperation operation,
                                   const std::function<bool(MlirOperation)>& predicate) const {
  std::vector<MlirOperation> found;
  walk(operation, [&](MlirOperation each) {
    if (predicate(each)) found.push_back(each);
  });
  return found;
}

std::vector<MlirValue> Ir::passed_to(MlirValue argument) const {
  std::vector<MlirValue> passed;
  if (api_->mlirValueIsAOpResult(argument)) return passed;
  const MlirBlock block = api_->mlirBlockArgumentGetOwner(argument);
  const auto number = to_index(api_->mlirBlockArgumentGetArgNumber(argument));
  for (std::intptr_t i = 0; i < api_->mlirBlockGetNumPredecessors(block); ++i) {
    const MlirOperation branch =
        api_->mlirBlockGetTerminator(api_->mlirBlockGetPredecessor(block, i));
    const std::vector<MlirValue> given = operands(branch);
    const std::vector<int> segments = integers(attribute(branch, "operandSegmentSizes"));
    std::size_t first = is(branch, "cf.cond_br") ? 1 : 0;  // behind the condition
    for (std::intptr_t s = 0; s < api_->mlirOperationGetNumSuccessors(branch); ++s) {
      const bool is_known =
          is(branch, "cf.br") || (is(branch, "cf.cond_br") && segments.size() > 2);
      if (api_->mlirOperationGetSuccessor(branch, s) == block)
        passed.push_back(is_known && first + number < given.size() ? given[first + number]
                                                                   : MlirValue{});
      if (segments.size() > 2) first += to_index(segments[1]);
    }
  }
  return passed;
}

bool Ir::in_branch_or_loop(MlirOperation operation) const {
  for (MlirOperation each = operation; each;) {
    const MlirOperation around = api_->mlirOperationGetParentOperation(each);
    if (!around || is(each, "util.func")) return false;
    if (name(around).starts_with("scf.") ||
        api_->mlirBlockGetNumPredecessors(api_->mlirOperationGetBlock(each)) > 0)
      return true;
    each = around;
  }
  return false;
}

std::string Ir::text(MlirOperation operation) const {
  std::string text;
  const MlirOpPrintingFlags flags = api_->mlirOpPrintingFlagsCreate();
  api_->mlirOperationPrintWithFlags(operation, flags, append_to_string, &text);
  api_->mlirOpPrintingFlagsDestroy(flags);
  return text;
}

bool Ir::holds_resources(MlirOperation module) const {
  // No interface lists what attributes of IREE's own dialects hold; their text does. __elided__ is
  // how large elements that are no resource are printed.
  constexpr std::string_view kResource = "dense_resource<", kElided = "__elided__>";
  const MlirOpPrintingFlags flags = api_->mlirOpPrintingFlagsCreate();
  api_->mlirOpPrintingFlagsElideLargeElementsAttrs(flags, 0);
  api_->mlirOpPrintingFlagsElideLargeResourceString(flags, 0);
  std::string text;
  api_->mlirOperationPrintWithFlags(module, flags, append_to_string, &text);
  api_->mlirOpPrintingFlagsDestroy(flags);
  for (auto at = text.find(kResource); at != std::string::npos; at = text.find(kResource, at + 1))
    if (!std::string_view(text).substr(at + kResource.size()).starts_with(kElided)) return true;
  return false;
}

std::string Ir::text(MlirAttribute attribute) const {
  std::string text;
  if (attribute) api_->mlirAttributePrint(attribute, append_to_string, &text);
  return text;
}

std::string Ir::type_text(MlirValue value) const {
  std::string text;
  api_->mlirTypePrint(api_->mlirValueGetType(value), append_to_string, &text);
  return text;
}

std::optional<problem::TensorType> Ir::type(MlirValue value) const {
  return parse_type(type_text(value));
}

std::optional<std::string> Ir::string_value(MlirAttribute attribute) const {
  if (!attribute || !api_->mlirAttributeIsAString(attribute)) return std::nullopt;
  return std::string(to_view(api_->mlirStringAttrGetValue(attribute)));
}

std::optional<std::int64_t> Ir::integer_value(MlirAttribute attribute) const {
  if (!attribute || !api_->mlirAttributeIsAInteger(attribute)) return std::nullopt;
  return api_->mlirIntegerAttrGetValueInt(attribute);
}

std::optional<double> Ir::number(MlirAttribute attribute) const {
  const MlirAttribute one = one_element(attribute);
  if (one && api_->mlirAttributeIsAFloat(one)) return api_->mlirFloatAttrGetValueDouble(one);
  const auto integer = integer_value(one);
  return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
}

MlirAttribute Ir::one_element(MlirAttribute attribute) const {
  if (!attribute || !api_->mlirAttributeIsADenseElements(attribute)) return attribute;
  return api_->mlirDenseElementsAttrIsSplat(attribute)
             ? api_->mlirDenseElementsAttrGetSplatValue(attribute)
             : MlirAttribute{};
}

std::vector<MlirAttribute> Ir::elements(MlirAttribute array) const {
  std::vector<MlirAttribute> all;
  if (!array || !api_->mlirAttributeIsAArray(array)) return all;
  for (std::intptr_t i = 0; i < api_->mlirArrayAttrGetNumElements(array); ++i)
    all.push_back(api_->mlirArrayAttrGetElement(array, i));
  return all;
}

std::vector<int> Ir::integers(MlirAttribute dense_i32_array) const {
  std::vector<int> all;
  if (!dense_i32_array || !api_->mlirAttributeIsADenseI32Array(dense_i32_array)) return all;
  for (std::intptr_t i = 0; i < api_->mlirDenseArrayGetNumElements(dense_i32_array); ++i)
    all.push_back(api_->mlirDenseI32ArrayGetElement(dense_i32_array, i));
  return all;
}

std::string Ir::leaf_symbol(MlirAttribute symbol_reference) const {
  if (!symbol_reference || !api_->mlirAttributeIsASymbolRef(symbol_reference)) return {};
  return std::string(to_view(api_->mlirSymbolRefAttrGetLeafReference(symbol_reference)));
}

MlirAttribute Ir::parse_attribute(MlirContext context, const std::string& text) const {
  return api_->mlirAttributeParseGet(context, to_ref(text));
}

std::optional<std::int64_t> Ir::constant(MlirValue value) const {
  return Sizes(*this).integer(value);
}

std::vector<std::int64_t> Ir::long_integers(MlirAttribute dense_i64_array) const {
  std::vector<std::int64_t> all;
  if (!dense_i64_array || !api_->mlirAttributeIsADenseI64Array(dense_i64_array)) return all;
  for (std::intptr_t i = 0; i < api_->mlirDenseArrayGetNumElements(dense_i64_array); ++i)
    all.push_back(api_->mlirDenseI64ArrayGetElement(dense_i64_array, i));
  return all;
}

std::optional<problem::TensorType> parse_type(std::string_view text) {
  // The innermost shaped type: what follows the last "tensor<" or "memref<".
  for (const std::string_view opening : {std::string_view("tensor<"), std::string_view("memref<")})
    if (const auto at = text.rfind(opening); at != std::string_view::npos) {
      text.remove_prefix(at + opening.size());
      text = text.substr(0, text.find_first_of(",>"));
      break;
    }
  if (text.ends_with("index")) {
    std::string as_integer(text.substr(0, text.size() - 5));
    return problem::tensor_type_from(as_integer + "i64");
  }
  return problem::tensor_type_from(text);
}

}  // namespace hone::iree
