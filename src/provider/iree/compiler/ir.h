// Reading MLIR through the C interface with C++ types. Handles (MlirOperation, MlirValue, ...)
// point into a module and are valid as long as it is; only OwnedModule owns.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/types.h"
#include "provider/iree/compiler/c_api.h"

namespace hone::iree {

// A builtin.module and everything in it.
class OwnedModule {
 public:
  OwnedModule() = default;
  OwnedModule(const CApi& api, MlirOperation operation) : api_(&api), operation_(operation) {}
  OwnedModule(OwnedModule&& other) noexcept;
  OwnedModule& operator=(OwnedModule&& other) noexcept;
  ~OwnedModule();

  MlirOperation get() const { return operation_; }
  MlirOperation release();  // the caller owns it from now on
  OwnedModule clone() const;

 private:
  const CApi* api_ = nullptr;
  MlirOperation operation_;
};

// Operations that read a value.
using Readers = std::map<MlirValue, std::vector<MlirOperation>>;

class Ir {
 public:
  explicit Ir(const CApi& api) : api_(&api) {}
  const CApi& api() const { return *api_; }

  // "linalg.matmul"; empty for a null handle.
  std::string_view name(MlirOperation operation) const;
  bool is(MlirOperation operation, std::string_view wanted) const;
  // A null handle when there is no such attribute.
  MlirAttribute attribute(MlirOperation operation, std::string_view name) const;
  void set_attribute(MlirOperation operation, std::string_view name, MlirAttribute value) const;
  // Parses the value, which must be valid.
  void set_attribute(MlirOperation operation, std::string_view name, const std::string& text) const;
  void remove_attribute(MlirOperation operation, std::string_view name) const;
  std::string symbol(MlirOperation operation) const;  // its sym_name, or ""

  std::vector<MlirValue> operands(MlirOperation operation) const;
  std::vector<MlirValue> results(MlirOperation operation) const;
  void set_operand(MlirOperation operation, std::size_t index, MlirValue value) const;
  MlirOperation defining_operation(MlirValue value) const;  // null for a block argument
  // Whether an operand of `reader` is a result of `producer`.
  bool reads(MlirOperation reader, MlirOperation producer) const;
  // Whether `operation` is `outer` or in one of its regions.
  bool is_inside(MlirOperation operation, MlirOperation outer) const;
  // Puts a copy in front of `next`.
  MlirOperation copy_before(MlirOperation next, MlirOperation operation) const;

  // Arguments of a region's first block, and operands of its terminator; none without such a
  // region.
  std::vector<MlirValue> arguments(MlirOperation operation) const;
  std::vector<MlirValue> yielded(MlirOperation operation, std::intptr_t region = 0) const;
  struct Argument {
    MlirOperation of;  // what its block is in
    std::size_t number = 0;
  };
  std::optional<Argument> argument(MlirValue value) const;  // nothing for a result

  // Returns the value that each branch to a block (cf.br, cf.cond_br) passes for its argument; a
  // null handle for another kind of branch. Empty for a block without branches to it, and for a
  // value that is no argument.
  std::vector<MlirValue> passed_to(MlirValue argument) const;
  // Whether a branch or a loop of the function decides how often `operation` runs in one call.
  bool in_branch_or_loop(MlirOperation operation) const;

  // Operations directly inside the regions of `operation`, in order.
  std::vector<MlirOperation> children(MlirOperation operation) const;
  std::vector<MlirOperation> children(MlirOperation operation, std::string_view named) const;
  // `operation` and everything in it, parents before children.
  void walk(MlirOperation operation, const std::function<void(MlirOperation)>& visit) const;
  // The first operation in walk order that satisfies `predicate`; a null handle when none does.
  MlirOperation find(MlirOperation operation,
                     const std::function<bool(MlirOperation)>& predicate) const;
  MlirOperation find(MlirOperation operation, std::string_view named) const;
  // Operations inside of `operation` by the value they read. One that reads it twice is there twice.
  Readers readers_in(MlirOperation operation) const;
  // All that satisfy it, in walk order.
  std::vector<MlirOperation> all(MlirOperation operation,
                                 const std::function<bool(MlirOperation)>& predicate) const;

  // Printed so that it parses again; locations are omitted.
  std::string text(MlirOperation operation) const;
  // Whether a constant of the module, nested in another attribute or not, is a dense_resource.
  bool holds_resources(MlirOperation module) const;
  std::string text(MlirAttribute attribute) const;  // "" for a null handle
  std::string type_text(MlirValue value) const;
  std::optional<problem::TensorType> type(MlirValue value) const;  // parse_type() of that

  // Attribute values; nothing when it is of another kind or null.
  std::optional<std::string> string_value(MlirAttribute attribute) const;
  std::optional<std::int64_t> integer_value(MlirAttribute attribute) const;
  // The number, or the common number of all elements; else nothing.
  std::optional<double> number(MlirAttribute attribute) const;
  // The common value if all elements are equal, a null handle if they differ. An attribute without
  // elements is returned as it is.
  MlirAttribute one_element(MlirAttribute attribute) const;
  std::vector<MlirAttribute> elements(MlirAttribute array) const;
  std::vector<int> integers(MlirAttribute dense_i32_array) const;
  std::vector<std::int64_t> long_integers(MlirAttribute dense_i64_array) const;
  std::string leaf_symbol(MlirAttribute symbol_reference) const;

  // Parses an attribute's text; a null handle and a diagnostic in `context` when it is wrong.
  MlirAttribute parse_attribute(MlirContext context, const std::string& text) const;

  // The integer an index or integer value is at compile time: constants and arithmetic on them.
  std::optional<std::int64_t> constant(MlirValue value) const;

 private:
  MlirBlock body(MlirOperation operation, std::intptr_t region) const;
  const CApi* api_;
};

MlirStringRef to_ref(std::string_view text);
std::string_view to_view(MlirStringRef ref);
// A MlirStringCallback for what is printed: `text` is a std::string.
void append_to_string(MlirStringRef chunk, void* text);
// Whether `kind` is one of these operations' names.
bool is_any_of(std::string_view kind, std::initializer_list<std::string_view> kinds);

// Reads "tensor<128x?xf32>", "memref<4xi8, ...>", "!iree_tensor_ext.dispatch.tensor<readonly:
// tensor<2x3xf16>>" or a scalar type ("f32", "index" as i64). Nothing for element types hone does
// not know.
std::optional<problem::TensorType> parse_type(std::string_view text);

}  // namespace hone::iree
