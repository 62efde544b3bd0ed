// Which dispatches of a tree a command is about.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "profiler/dispatch_filter.h"
#include "profiler/tree.h"

namespace hone::profiler {

// An operation and those of its configurations that are meant, in the file's order.
struct SelectedOperation {
  Operation operation;
  std::vector<std::string> configurations;
};

struct Selection {
  std::vector<SelectedOperation> operations;  // that have one
  std::vector<std::string> strangers;         // Tree::strangers
};

// Returns what `filter` means of the tree below `generated_dir`, among `kinds` (none: all). Input
// errors: read_tree's and dispatches_of's; an empty tree; check_patterns()'s; kinds that are not
// there.
Result<Selection> select_dispatches(const std::filesystem::path& generated_dir,
                                    std::span<const OperationKind> kinds,
                                    const DispatchFilter& filter);

}  // namespace hone::profiler
