#include "provider/iree/program/region.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "provider/iree/compiler/replacing_spec.h"
#include "provider/iree/program/attention_regions.h"
#include "provider/iree/program/grouped_products.h"
#include "provider/iree/program/root_operation.h"

namespace hone::iree {
namespace {

// The spec's entry; `operations`: of the region, in the order of the program.
Result<Replacement> replacement(const CompilerSession& session, const Region& region,
                                const std::vector<MlirOperation>& operations, std::size_t number) {
  const Ir ir(session.api());
  HONE_ASSIGN(OperationText text, text_of_operations(session, operations, region.given));
  Replacement made;
  made.comment = region.name;
  made.name = fmt::format("region_{}", number);
  std::vector<std::string> parameters;
  for (const Given& each : region.given) {
    const std::string type = ir.type_text(ir.operands(each.operation).at(each.index));
    parameters.push_back(fmt::format("%arg{}: {}", made.operands.size(), type));
    made.operands.push_back(type);
  }
  made.function = fmt::format(
      "  util.func private @{0}({1}) -> {2} {{\n    {3}\n    util.return {4} : {2}\n  }}\n",
      made.name, fmt::join(parameters, ", "), ir.type_text(ir.results(operations.back()).front()),
      fmt::join(region.lines, "\n    "), region.value);
  made.dag = std::move(text.dag);
  made.scalars = std::move(text.scalars);
  return made;
}

}  // namespace

MlirOperation only_reader(MlirValue value, const Readers& readers) {
  const auto found = readers.find(value);
  const bool is_one = found != readers.end() && found->second.size() == 1;
  return is_one ? found->second.front() : MlirOperation{};
}

MlirOperation narrowing_reader(const Ir& ir, MlirValue value, const Readers& readers) {
  const MlirOperation reader = only_reader(value, readers);
  if (!ir.is(reader, "linalg.generic") || ir.operands(reader).size() != 2 ||
      ir.operands(reader).front() != value ||
      !std::ranges::all_of(indexing_maps(ir, reader), &IndexingMap::is_identity))
    return {};
  const MlirOperation conversion = ir.defining_operation(ir.yielded(reader).front());
  const bool narrows = ir.is(conversion, "arith.truncf") &&
                       ir.operands(conversion).front() == ir.arguments(reader).front();
  return narrows ? reader : MlirOperation{};
}

problem::Regions regions_in(const CompilerSession& session, MlirOperation module) {
  const Ir ir(session.api());
  const Readers readers = ir.readers_in(module);
  const std::vector<MlirOperation> all = ir.all(module, [](MlirOperation) { return true; });
  problem::Regions found;
  std::vector<Replacement> replacements;
  for (const MlirOperation operation : all) {
    std::optional<Region> region = attention_region(ir, operation, readers);
    if (!region) region = grouped_product(ir, operation, readers);
    if (!region) continue;
    std::vector<MlirOperation> inside;
    for (const MlirOperation each : all)
      if (region->inside.contains(each)) inside.push_back(each);
    Result<Replacement> made = replacement(session, *region, inside, replacements.size());
    const auto is_known = [&](const Replacement& each) { return each.dag == made->dag; };
    if (!made || std::ranges::any_of(replacements, is_known)) continue;
    replacements.push_back(*std::move(made));
    found.names.push_back(region->name);
  }
  if (!replacements.empty()) found.spec = replacing_spec(replacements);
  return found;
}

}  // namespace hone::iree
