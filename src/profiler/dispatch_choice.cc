#include "profiler/dispatch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>
#include <unordered_set>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "profiler/source.h"

namespace hone::profiler {

namespace {

bool is_plain(std::string_view pattern) {
  return std::ranges::all_of(
      pattern, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '*'; });
}

std::vector<std::string> split_patterns(std::string_view text) {
  std::vector<std::string> patterns(1);
  int depth = 0;
  bool escaped = false;
  for (const char c : text) {
    if (c == ',' && depth == 0 && !escaped) {
      patterns.emplace_back();
      continue;
    }
    if (!escaped && (c == '(' || c == '[' || c == '{')) ++depth;
    if (!escaped && (c == ')' || c == ']' || c == '}')) depth = std::max(0, depth - 1);
    escaped = !escaped && c == '\\';
    patterns.back() += c;
  }
  return patterns;
}

bool has_in_order(std::string_view name, const std::vector<std::string>& pieces) {
  for (const std::string& piece : pieces) {
    const std::size_t at = name.find(piece);
    if (at == std::string_view::npos) return false;
    name.remove_prefix(at + piece.size());
  }
  return true;
}

// Returns the longest literal word of the pattern.
std::string longest_word(std::string_view pattern) {
  std::string longest, word;
  for (const char c : pattern) {
    word = c != '*' && is_plain({&c, 1}) ? word + c : "";
    if (word.size() > longest.size()) longest = word;
  }
  return longest;
}

// Returns the length of the longest prefix of the word that occurs in the name.
std::size_t letters_in(std::string_view name, std::string_view word) {
  std::size_t letters = 0;
  while (letters < word.size() && name.find(word.substr(0, letters + 1)) != std::string_view::npos)
    ++letters;
  return letters;
}

// Suggests the nearest names. Dispatch names are long and alike, so names that contain most of the
// pattern's longest word count as nearer than those a few letters away. A typo early in that word
// is found by edit distance.
std::string nearest_dispatches(std::string_view pattern, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  const std::string word = longest_word(pattern);
  std::size_t most = 0;
  for (const std::string& name : names) most = std::max(most, letters_in(name, word));
  const std::string near = 2 * most < word.size() ? did_you_mean(pattern, names) : "";
  if (most == 0 || !near.empty()) return near;
  std::vector<std::string> nearest;
  for (const std::string& name : names)
    if (nearest.size() < kMost && letters_in(name, word) == most) nearest.push_back(name);
  return fmt::format(" (did you mean '{}'?)", fmt::join(nearest, "' or '"));
}

// Returns an input error for a pattern that matches none of `names`: with the reason if it matches
// a skipped one, else with the nearest names.
Status check_patterns(const DispatchFilter& filter, const std::vector<std::string>& names,
                      const std::vector<SkippedDispatch>& left_out) {
  for (const std::string& text : filter.patterns()) {
    HONE_ASSIGN(const DispatchFilter pattern, DispatchFilter::parse(text));
    const auto fits = [&](const std::string& name) { return pattern.matches(name); };
    if (std::ranges::any_of(names, fits)) continue;
    const auto found = std::ranges::find_if(left_out, fits, &SkippedDispatch::dispatch);
    if (found != left_out.end())
      return input_error("--dispatches '{}' means {}, which is not generated: {}", text,
                         found->dispatch, found->reason);
  }
  return filter.check_all_match(names);
}

}  // namespace

bool DispatchFilter::Pattern::fits(std::string_view name) const {
  if (const auto* pieces = std::get_if<std::vector<std::string>>(&form))
    return has_in_order(name, *pieces);
  return std::regex_search(name.begin(), name.end(), std::get<std::regex>(form));
}

Result<DispatchFilter> DispatchFilter::parse(std::string_view patterns) {
  DispatchFilter filter;
  if (patterns.empty() || patterns == "all") return filter;
  for (std::string& text : split_patterns(patterns)) {
    if (text.empty())
      return input_error("--dispatches '{}' has an empty pattern: one comma too many", patterns);
    if (is_plain(text)) {
      std::vector<std::string> pieces;
      for (const std::string_view piece : split(text, '*')) pieces.emplace_back(piece);
      filter.patterns_.push_back({std::move(text), std::move(pieces)});
      continue;
    }
    try {
      std::regex expression(text, std::regex::ECMAScript | std::regex::optimize);
      filter.patterns_.push_back({std::move(text), std::move(expression)});
    } catch (const std::regex_error& error) {
      return input_error("--dispatches '{}' is no regular expression: {}", text, error.what());
    }
  }
  return filter;
}

bool DispatchFilter::matches(std::string_view dispatch) const {
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const Pattern& each) { return each.fits(dispatch); });
}

std::vector<std::string> DispatchFilter::patterns() const {
  return mapped(patterns_, &Pattern::text);
}

Status DispatchFilter::check_all_match(const std::vector<std::string>& dispatches) const {
  for (const Pattern& pattern : patterns_) {
    if (std::ranges::any_of(dispatches, [&](const auto& name) { return pattern.fits(name); }))
      continue;
    return input_error("--dispatches: no dispatch of {} matches '{}'{}", dispatches.size(),
                       pattern.text, nearest_dispatches(pattern.text, dispatches));
  }
  return {};
}

namespace {

std::vector<std::string> names_of(const std::vector<PlannedOperation>& operations) {
  std::vector<std::string> names;
  for (const PlannedOperation& planned : operations)
    for (const TileConfiguration& configuration : planned.configurations)
      names.push_back(NamedDispatch{planned.operation, configuration.name}.name());
  return names;
}

}  // namespace

std::size_t GenerationPlan::dispatch_count() const {
  std::size_t count = 0;
  for (const PlannedOperation& planned : operations) count += planned.configurations.size();
  return count;
}

Result<GenerationPlan> plan_generation(const std::vector<NamedOperation>& operations,
                                       const GenerationChoice& choice) {
  GenerationPlan plan;
  std::vector<PlannedOperation> all;
  std::unordered_set<std::string> seen;
  for (const NamedOperation& operation : operations) {
    if (!seen.insert(operation.name()).second) continue;
    PlannedOperation planned{operation, {}};
    if (choice.tiles)
      planned.configurations = tile_configurations(operation, choice.target, plan.left_out);
    if (choice.further) {
      HONE_ASSIGN(auto further, choice.further(operation));
      std::ranges::move(further, std::back_inserter(planned.configurations));
    }
    if (choice.default_configuration || planned.configurations.empty())
      planned.configurations.push_back(default_configuration());
    all.push_back(std::move(planned));
  }
  HONE_TRY(check_patterns(choice.filter, names_of(all), plan.left_out));
  for (PlannedOperation& planned : all) {
    const auto is_meant = [&](const TileConfiguration& configuration) {
      return choice.filter.matches(NamedDispatch{planned.operation, configuration.name}.name());
    };
    std::erase_if(planned.configurations, [&](const auto& each) { return !is_meant(each); });
    if (!planned.configurations.empty()) plan.operations.push_back(std::move(planned));
  }
  std::erase_if(plan.left_out,
                [&](const SkippedDispatch& each) { return !choice.filter.matches(each.dispatch); });
  return plan;
}

Result<Written> write_source(const std::filesystem::path& generated_dir,
                             const PlannedOperation& planned) {
  const std::filesystem::path path = OperationFiles(generated_dir, planned.operation).source();
  const std::string text = source_text(planned.operation, planned.configurations);
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (exists) {
    const auto before = read_file(path);
    if (before && *before == text) return Written::kUnchanged;
  }
  HONE_TRY(write_file_atomically(path, text));
  return exists ? Written::kChanged : Written::kNew;
}

Result<TreeSelection> select_dispatches(const std::filesystem::path& generated_dir,
                                        std::span<const NamedOperationKind> kinds,
                                        const DispatchFilter& filter) {
  HONE_ASSIGN(Tree tree, read_tree(generated_dir));
  TreeSelection selection;
  std::vector<std::string> names;
  for (const NamedOperation& operation : tree.operations) {
    if (!kinds.empty() && std::ranges::find(kinds, operation.kind) == kinds.end()) continue;
    HONE_ASSIGN(const std::vector<NamedDispatch> dispatches,
                dispatches_of(generated_dir, operation));
    SelectedOperation selected{operation, {}};
    for (const NamedDispatch& dispatch : dispatches) {
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
  std::vector<SkippedDispatch> left_out;
  for (const NamedOperation& operation : tree.operations)
    tile_configurations(operation, GenerationTarget(), left_out);
  HONE_TRY(check_patterns(filter, names, left_out));
  selection.strangers = std::move(tree.strangers);
  return selection;
}

}  // namespace hone::profiler
