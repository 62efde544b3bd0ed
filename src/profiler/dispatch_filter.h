// Filter of dispatches by name, for --dispatches.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

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
  // Returns whether every dispatch matches.
  bool is_empty() const { return patterns_.empty(); }
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

}  // namespace hone::profiler
