#include "space/expression_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"

namespace hone::space {
namespace {

// Parentheses and signs may lie this deep within each other.
constexpr int kMostNesting = 100;

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct Token {
  enum class Kind { kNumber, kName, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string_view text;
  std::size_t at = 0;
};

// Longest first.
constexpr std::array<std::string_view, 20> kSymbols{"//", "**", "==", "!=", "<=", ">=", "&&",
                                                    "||", "<",  ">",  "+",  "-",  "*",  "/",
                                                    "%",  "(",  ")",  ",",  ".",  "!"};

// Builds a sum with one term for each power of two below `value`. A term of 1 gives the logarithm
// rounded up. A term equal to the power gives the next power of two at or above `value`, less 1.
Expression over_powers_below(const Expression& value, bool powers) {
  constexpr int kMost = 31;
  Expression sum = 0;
  for (int i = 0; i < kMost; ++i) {
    const Value power = Value{1} << i;
    sum = sum + ite(value > power, Expression(powers ? power : 1), Expression(0));
  }
  return sum;
}

Expression division_magic(const Expression& divisor) {
  const Expression power = over_powers_below(divisor, true) + 1;
  return euclidean_div((power - divisor) * (Value{1} << 32), divisor) + 1;
}

class Parser {
 public:
  Parser(std::string_view text, const Names& names) : text_(text), names_(names) {}

  Result<Expression> whole() {
    HONE_TRY(advance());
    if (token_.kind == Token::Kind::kEnd) return error("an expression is missing");
    HONE_ASSIGN(Expression expression, conditional());
    if (token_.kind != Token::Kind::kEnd) return unexpected();
    return expression;
  }

 private:
  template <class... Arguments>
  tl::unexpected<Error> error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    return input_error("column {}: {}", token_.at + 1,
                       fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  tl::unexpected<Error> unexpected() {
    if (token_.kind == Token::Kind::kEnd) return error("the expression is cut off");
    if (token_.text == "/") return error("'/' does not give whole numbers; write '//'");
    if (token_.text == "&&") return error("write 'and' for '&&'");
    if (token_.text == "||") return error("write 'or' for '||'");
    if (token_.text == "!") return error("write 'not' for '!'");
    return error("'{}' does not belong here", token_.text);
  }

  Status advance() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    token_ = {Token::Kind::kEnd, {}, at_};
    if (at_ == text_.size()) return {};
    std::size_t end = at_;
    if (is_digit(text_[at_])) {
      while (end < text_.size() && is_digit(text_[end])) ++end;
      token_.kind = Token::Kind::kNumber;
    } else if (begins_name(text_[at_])) {
      while (end < text_.size() && (begins_name(text_[end]) || is_digit(text_[end]))) ++end;
      token_.kind = Token::Kind::kName;
    } else {
      for (const std::string_view symbol : kSymbols)
        if (end == at_ && text_.substr(at_).starts_with(symbol)) end += symbol.size();
      if (end == at_) {
        ++end;
        while (end < text_.size() && (text_[end] & 0xC0) == 0x80) ++end;  // the rest of a character
        return error("'{}' does not belong here", readable(text_.substr(at_, end - at_)));
      }
      token_.kind = Token::Kind::kSymbol;
    }
    token_.text = text_.substr(at_, end - at_);
    at_ = end;
    return {};
  }

  bool is(std::string_view text) const {
    return token_.kind != Token::Kind::kEnd && token_.text == text;
  }
  Result<bool> took(std::string_view text) {
    if (!is(text)) return false;
    HONE_TRY(advance());
    return true;
  }
  Status expect(std::string_view text) {
    HONE_ASSIGN(const bool there, took(text));
    if (there) return {};
    if (token_.kind == Token::Kind::kEnd) return error("'{}' is missing", text);
    return unexpected();
  }

  Result<Expression> conditional() {
    HONE_ASSIGN(Expression value, disjunction());
    HONE_ASSIGN(const bool chooses, took("if"));
    if (!chooses) return value;
    HONE_ASSIGN(const Expression condition, disjunction());
    HONE_TRY(expect("else"));
    HONE_ASSIGN(const Expression otherwise, conditional());
    return ite(condition, value, otherwise);
  }

  using Operators = std::initializer_list<std::pair<std::string_view, Operator>>;

  std::optional<Operator> operation_in(const Operators& operators) const {
    for (const auto& [symbol, operation] : operators)
      if (is(symbol)) return operation;
    return std::nullopt;
  }

  // Operands with operators between them, from left to right.
  Result<Expression> chain(const Operators& operators, Result<Expression> (Parser::*operand)()) {
    HONE_ASSIGN(Expression left, (this->*operand)());
    while (const auto operation = operation_in(operators)) {
      HONE_TRY(advance());
      HONE_ASSIGN(const Expression right, (this->*operand)());
      left = Expression::make(*operation, {left, right});
    }
    return left;
  }

  Result<Expression> disjunction() { return chain({{"or", Operator::kOr}}, &Parser::conjunction); }
  Result<Expression> conjunction() { return chain({{"and", Operator::kAnd}}, &Parser::negation); }

  Result<Expression> negation() {
    if (!is("not")) return comparison();
    HONE_TRY(advance());
    HONE_TRY(go_deeper());
    HONE_ASSIGN(const Expression negated, negation());
    --nesting_;
    return !negated;
  }

  // a < b < c is a < b and b < c.
  Result<Expression> comparison() {
    HONE_ASSIGN(Expression left, sum());
    std::vector<Expression> links;
    while (const auto operation = operation_in({{"==", Operator::kEqual},
                                                {"!=", Operator::kNotEqual},
                                                {"<", Operator::kLess},
                                                {">", Operator::kLess},
                                                {"<=", Operator::kLessEqual},
                                                {">=", Operator::kLessEqual}})) {
      const bool swap = token_.text.starts_with('>');
      HONE_TRY(advance());
      HONE_ASSIGN(const Expression right, sum());
      links.push_back(
          Expression::make(*operation, swap ? std::vector{right, left} : std::vector{left, right}));
      left = right;
    }
    if (links.empty()) return left;
    return links.size() == 1 ? links.front() : all_of(links);
  }

  Result<Expression> sum() {
    return chain({{"+", Operator::kAdd}, {"-", Operator::kSubtract}}, &Parser::product);
  }

  Result<Expression> product() {
    return chain({{"*", Operator::kMultiply}, {"//", Operator::kDivide}, {"%", Operator::kModulo}},
                 &Parser::signed_atom);
  }

  Result<Expression> signed_atom() {
    if (!is("-")) return atom();
    HONE_TRY(advance());
    HONE_TRY(go_deeper());
    HONE_ASSIGN(const Expression negated, signed_atom());
    --nesting_;
    return -negated;
  }

  Result<Expression> atom() {
    if (token_.kind == Token::Kind::kNumber) return number();
    if (token_.kind == Token::Kind::kName) return name();
    if (!is("(")) return unexpected();
    HONE_TRY(go_deeper());
    HONE_TRY(advance());
    HONE_ASSIGN(Expression inner, conditional());
    HONE_TRY(expect(")"));
    --nesting_;
    return inner;
  }

  Result<Expression> number() {
    Value value = 0;
    const std::string_view text = token_.text;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc()) return error("'{}' is beyond 64 bits", text);
    if (at_ < text_.size() && begins_name(text_[at_]))
      return error("'{}{}' is neither a number nor a name", text, text_[at_]);
    HONE_TRY(advance());
    return Expression(value);
  }

  Result<Expression> name() {
    const Token begin = token_;
    static constexpr std::string_view kWords[] = {"if", "else", "and", "or", "not"};
    if (std::ranges::find(kWords, begin.text) != std::end(kWords)) return unexpected();
    HONE_TRY(advance());
    if (begin.text == "True") return Expression(true);
    if (begin.text == "False") return Expression(false);
    if (is("(")) return function(begin);
    std::string whole(begin.text);
    if (is(".")) HONE_TRY(method(whole));
    const auto found = names_.find(whole);
    if (found != names_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& each : names_) known.push_back(each.first);
    token_ = begin;
    return error("unknown name '{}'{}", whole, did_you_mean(whole, known));
  }

  // ".stride(0)" behind a name.
  Status method(std::string& whole) {
    HONE_TRY(advance());
    whole += fmt::format(".{}(", token_.text);
    if (token_.kind != Token::Kind::kName) return unexpected();
    HONE_TRY(advance());
    HONE_TRY(expect("("));
    if (token_.kind != Token::Kind::kNumber && token_.kind != Token::Kind::kName)
      return unexpected();
    whole += fmt::format("{})", token_.text);
    HONE_TRY(advance());
    return expect(")");
  }

  Result<Expression> function(const Token& name) {
    const bool divides = name.text == "cdiv", least = name.text == "min";
    const bool logarithm = name.text == "ceil_log2", magic = name.text == "division_magic";
    if (!divides && !least && !logarithm && !magic && name.text != "max") {
      token_ = name;
      return error("unknown function '{}'; there are min, max, cdiv, ceil_log2 and division_magic",
                   name.text);
    }
    HONE_TRY(go_deeper());
    HONE_TRY(advance());
    std::vector<Expression> values;
    while (true) {
      HONE_ASSIGN(Expression value, conditional());
      values.push_back(std::move(value));
      HONE_ASSIGN(const bool more, took(","));
      if (!more) break;
    }
    HONE_TRY(expect(")"));
    --nesting_;
    const bool of_one = logarithm || magic;
    if (of_one ? values.size() != 1 : values.size() < 2 || (divides && values.size() > 2)) {
      token_ = name;
      return error("{} takes {}, not {}", name.text,
                   of_one    ? "one value"
                   : divides ? "two values"
                             : "two or more values",
                   values.size());
    }
    if (logarithm) return over_powers_below(values[0], false);
    if (magic) return division_magic(values[0]);
    if (divides) return euclidean_div(values[0] + values[1] - 1, values[1]);
    Expression result = values[0];
    for (std::size_t i = 1; i < values.size(); ++i)
      result = least ? min(result, values[i]) : max(result, values[i]);
    return result;
  }

  Status go_deeper() {
    if (++nesting_ > kMostNesting) return error("more than {} levels of nesting", kMostNesting);
    return {};
  }

  std::string_view text_;
  const Names& names_;
  std::size_t at_ = 0;
  Token token_;
  int nesting_ = 0;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text, const Names& names) {
  return Parser(text, names).whole();
}

}  // namespace hone::space
