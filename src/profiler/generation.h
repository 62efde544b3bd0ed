// Plan of hone generate: the dispatches of operations, and their source files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profiler/dispatch_filter.h"
#include "profiler/operation.h"
#include "profiler/tile_configuration.h"

namespace hone::profiler {

// Operation with the configurations in its file.
struct PlannedOperation {
  Operation operation;
  std::vector<Configuration> configurations;
};

struct GenerationPlan {
  std::vector<PlannedOperation> operations;
  std::vector<LeftOut> left_out;  // of what `filter` means

  std::size_t dispatch_count() const;
};

struct GenerationChoice {
  GenerationTarget target;
  bool tiles = true;  // the old lists
  // Adds the compiler's own choice to the old lists. Without this it is generated only for
  // operations that have none of these.
  bool default_configuration = false;
  DispatchFilter filter;
  // Further configurations of an operation, after those of the lists; none: there are none.
  std::function<Result<std::vector<Configuration>>(const Operation&)> further;
};

// Plans the dispatches of `operations`, each operation once. Input error: a pattern of the filter
// matches no dispatch. It gives the reason if the pattern matches a skipped one, else the nearest
// names. Other errors: those of `choice.further`.
Result<GenerationPlan> plan_generation(const std::vector<Operation>& operations,
                                       const GenerationChoice& choice);

enum class Written { kNew, kChanged, kUnchanged };

// Writes the operation's source file below `generated_dir`, atomically, unless it has that content
// already. Environment errors of write_file_atomically().
Result<Written> write_source(const std::filesystem::path& generated_dir,
                             const PlannedOperation& planned);

// Returns an input error for a pattern that matches none of `names`: with the reason if it matches
// a skipped one, else with the nearest names.
Status check_patterns(const DispatchFilter& filter, const std::vector<std::string>& names,
                      const std::vector<LeftOut>& left_out);

}  // namespace hone::profiler
