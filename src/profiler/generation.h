// What hone generate makes: the dispatches of operations, and their source files.
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

// An operation with the configurations that its file has.
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
  // The compiler's own choice beside the old lists; where an operation has none of these it is
  // there anyway.
  bool default_configuration = false;
  DispatchFilter filter;
  // Further configurations of an operation, behind those of the lists; none: there are none.
  std::function<Result<std::vector<Configuration>>(const Operation&)> further;
};

// The dispatches of `operations`, each operation once. Errors: an input error where a pattern of
// the filter means no dispatch: with the reason where it means one that is left out, else with the
// nearest names; those of `choice.further`.
Result<GenerationPlan> plan_generation(const std::vector<Operation>& operations,
                                       const GenerationChoice& choice);

enum class Written { kNew, kChanged, kUnchanged };

// Writes the operation's source file below `generated_dir`, atomically, where it does not say the
// same already. Environment errors of write_file_atomically().
Result<Written> write_source(const std::filesystem::path& generated_dir,
                             const PlannedOperation& planned);

// An input error for a pattern that means none of `names`: with the reason where it means one that
// is left out, else with the names nearest to it.
Status check_patterns(const DispatchFilter& filter, const std::vector<std::string>& names,
                      const std::vector<LeftOut>& left_out);

}  // namespace hone::profiler
