// Which dispatches --dispatches means.
#pragma once

#include <regex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace hone::profiler {

// Patterns with commas between them; a dispatch is meant where one of them fits its name. A pattern
// of letters, digits, '_' and '*' is as the old tool had it: the pieces around '*' stand somewhere
// in the name, in this order, and nothing is anchored ("matmul_3456x1024x2048_f16t_*_mmasync",
// "conv2d"). Any other one is a regular expression (ECMAScript) that is found somewhere in the
// name; commas inside its (), [] or {} are its own.
class DispatchFilter {
 public:
  // "" and "all" mean every dispatch. An input error for an empty pattern and for a broken regular
  // expression.
  static Result<DispatchFilter> parse(std::string_view patterns);

  bool matches(std::string_view dispatch) const;
  // Whether every dispatch is meant.
  bool is_empty() const { return patterns_.empty(); }
  std::vector<std::string> patterns() const;

  // An input error for the first pattern that fits none of `dispatches`, with the names nearest to
  // it.
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
