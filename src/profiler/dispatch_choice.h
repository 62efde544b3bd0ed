// Choice of dispatches by name (--dispatches): of new ones to generate, and of a tree's.
#pragma once

#include <filesystem>
#include <functional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"
#include "profiler/tile_configuration.h"
#include "profiler/tree.h"

namespace hone::profiler {

// Matches a dispatch if one of the comma-separated patterns fits its name.
// - A pattern of letters, digits, '_' and '*' is a glob of the old tool: the pieces around '*'
//   occur in the name, in this order, and nothing is anchored ("conv2d",
//   "matmul_3456x1024x2048_f16t_*_mmasync").
// - Any other pattern is a regular expression (ECMAScript), searched anywhere in the name. Commas
//   inside its (), [] or {} are its own.
class DispatchFilter {
 public:
  // Parses patterns; "" and "all" match every dispatch. An input error for an empty pattern and for
  // a broken regular expression.
  static Result<DispatchFilter> parse(std::string_view patterns);

  bool matches(std::string_view dispatch) const;
  std::vector<std::string> patterns() const;

  // Returns an input error for the first pattern that fits none of `dispatches`, with the nearest
  // names.
  Status check_all_match(const std::vector<std::string>& dispatches) const;

 private:
  struct Pattern {
    std::string text;
    std::variant<std::vector<std::string>, std::regex> form;  // pieces in order, or an expression
    bool fits(std::string_view name) const;
  };
  std::vector<Pattern> patterns_;
};

// Operation with the configurations in its file.
struct PlannedOperation {
  NamedOperation operation;
  std::vector<TileConfiguration> configurations;
};

// Plan of hone generate: the dispatches of operations, and their source files.
struct GenerationPlan {
  std::vector<PlannedOperation> operations;
  std::vector<SkippedDispatch> left_out;  // of what `filter` means

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
  std::function<Result<std::vector<TileConfiguration>>(const NamedOperation&)> further;
};

// Plans the dispatches of `operations`, each operation once. Input error: a pattern of the filter
// matches no dispatch. It gives the reason if the pattern matches a skipped one, else the nearest
// names. Other errors: those of `choice.further`.
Result<GenerationPlan> plan_generation(const std::vector<NamedOperation>& operations,
                                       const GenerationChoice& choice);

enum class Written { kNew, kChanged, kUnchanged };

// Writes the operation's source file below `generated_dir`, atomically, unless it has that content
// already. Environment errors of write_file_atomically().
Result<Written> write_source(const std::filesystem::path& generated_dir,
                             const PlannedOperation& planned);

// Operation of a tree and its selected configurations, in the file's order.
struct SelectedOperation {
  NamedOperation operation;
  std::vector<std::string> configurations;
};

struct TreeSelection {
  std::vector<SelectedOperation> operations;  // that have one
  std::vector<std::string> strangers;         // Tree::strangers
};

// Returns the dispatches of the tree below `generated_dir` that `filter` matches, among `kinds`
// (none: all). Input errors: those of read_tree() and dispatches_of(); an empty tree; kinds that
// are not there; a pattern that matches none of them.
Result<TreeSelection> select_dispatches(const std::filesystem::path& generated_dir,
                                        std::span<const NamedOperationKind> kinds,
                                        const DispatchFilter& filter);

}  // namespace hone::profiler
