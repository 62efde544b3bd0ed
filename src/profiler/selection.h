// Selection of a tree's dispatches for a command.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "profiler/dispatch_filter.h"
#include "profiler/tree.h"

namespace hone::profiler {

// Operation and its selected configurations, in the file's order.
struct SelectedOperation {
  Operation operation;
  std::vector<std::string> configurations;
};

struct Selection {
  std::vector<SelectedOperation> operations;  // that have one
  std::vector<std::string> strangers;         // Tree::strangers
};

// Returns the dispatches of the tree below `generated_dir` that `filter` matches, among `kinds`
// (none: all). Input errors: those of read_tree, dispatches_of and check_patterns(); an empty tree;
// kinds that are not there.
Result<Selection> select_dispatches(const std::filesystem::path& generated_dir,
                                    std::span<const OperationKind> kinds,
                                    const DispatchFilter& filter);

}  // namespace hone::profiler
