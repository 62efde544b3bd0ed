#include "profiler/selection.h"

#include <algorithm>

#include "profiler/generation.h"
#include "profiler/tile_configuration.h"

namespace hone::profiler {

Result<Selection> select_dispatches(const std::filesystem::path& generated_dir,
                                    std::span<const OperationKind> kinds,
                                    const DispatchFilter& filter) {
  HONE_ASSIGN(Tree tree, read_tree(generated_dir));
  Selection selection;
  std::vector<std::string> names;
  for (const Operation& operation : tree.operations) {
    if (!kinds.empty() && std::ranges::find(kinds, operation.kind) == kinds.end()) continue;
    HONE_ASSIGN(const std::vector<Dispatch> dispatches, dispatches_of(generated_dir, operation));
    SelectedOperation selected{operation, {}};
    for (const Dispatch& dispatch : dispatches) {
      names.push_back(dispatch.name());
      if (filter.matches(names.back())) selected.configurations.push_back(dispatch.configuration);
    }
    if (!selected.configurations.empty()) selection.operations.push_back(std::move(selected));
  }
  if (names.empty())
    return input_error("there is no dispatch{} below '{}'; hone generate makes some",
                       kinds.empty() ? "" : " of these kinds",
                       (generated_dir / "generated").string());
  // Names of the old lists that are never generated have a reason, for example TF32.
  std::vector<LeftOut> left_out;
  for (const Operation& operation : tree.operations)
    tile_configurations(operation, GenerationTarget(), left_out);
  HONE_TRY(check_patterns(filter, names, left_out));
  selection.strangers = std::move(tree.strangers);
  return selection;
}

}  // namespace hone::profiler
