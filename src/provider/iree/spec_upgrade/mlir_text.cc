#include "provider/iree/spec_upgrade/mlir_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace hone::iree {
namespace {

using Kind = MlirToken::Kind;

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '.' || c == '$';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // False at the end of the text, and where it stops being one.
  bool next(MlirToken& token) {
    skip_space();
    if (at_ >= text_.size()) return false;
    const std::size_t begin = at_;
    token = {.kind = read(), .begin = begin, .end = at_, .partner = 0};
    return true;
  }
  bool open_string() const { return open_string_; }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        ++at_;
      else if (peek() == '/' && peek(1) == '/')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        return;
    }
  }

  void skip_name() {
    // A dash belongs to a name, unless it begins an arrow.
    while (is_word(peek()) || (peek() == '-' && peek(1) != '>')) ++at_;
  }

  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    open_string_ = open_string_ || at_ >= text_.size();
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_symbol() {
    if (peek() == '"')
      skip_string();
    else
      skip_name();
    if (peek() == ':' && peek(1) == ':' && peek(2) == '@') {
      at_ += 3;
      skip_symbol();
    }
  }

  Kind read() {
    const char first = text_[at_];
    if (first == '"') {
      skip_string();
      return Kind::kString;
    }
    if (is_letter(first)) {
      while (is_word(peek())) ++at_;
      return Kind::kWord;
    }
    if (is_digit(first)) {
      while (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) ++at_;
      return Kind::kNumber;
    }
    ++at_;
    switch (first) {
      case '%':
        skip_name();
        if (peek() == '#' && is_digit(peek(1)))
          for (++at_; is_digit(peek());) ++at_;
        return Kind::kValue;
      case '@':
        skip_symbol();
        return Kind::kSymbol;
      case '^':
        skip_name();
        return Kind::kBlock;
      case '#':
        skip_name();
        return Kind::kAttribute;
      case '!':
        skip_name();
        return Kind::kType;
      default:
        if (first == '-' && peek() == '>') ++at_;
        return Kind::kPunctuation;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool open_string_ = false;
};

std::string without_quotes(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

bool is_plain_key(std::string_view key) {
  return !key.empty() && is_letter(key.front()) && std::ranges::all_of(key, is_word);
}

}  // namespace

Result<MlirText> MlirText::read(std::string text, const std::string& path) {
  constexpr std::string_view kOpening = "([{<", kClosing = ")]}>";
  MlirText read;
  read.text_ = std::move(text);
  Lexer lexer(read.text_);
  std::vector<std::size_t> open;
  MlirToken token;
  while (lexer.next(token)) {
    read.tokens_.push_back(token);
    if (token.kind != Kind::kPunctuation || token.end - token.begin != 1) continue;
    const char c = read.text_[token.begin];
    const std::size_t i = read.tokens_.size() - 1;
    if (kOpening.find(c) != std::string_view::npos) {
      open.push_back(i);
    } else if (const auto kind = kClosing.find(c); kind != std::string_view::npos) {
      if (open.empty() || read.text_[read.tokens_[open.back()].begin] != kOpening[kind])
        return input_error("{}:{}: '{}' closes nothing", path, read.line(i), c);
      read.tokens_[i].partner = open.back();
      read.tokens_[open.back()].partner = i;
      open.pop_back();
    }
  }
  if (lexer.open_string()) return input_error("{}: a string has no end", path);
  if (!open.empty())
    return input_error("{}:{}: '{}' is not closed", path, read.line(open.back()),
                       read.text_[read.tokens_[open.back()].begin]);
  read.tokens_.push_back(
      {.kind = Kind::kPunctuation, .begin = read.text_.size(), .end = read.text_.size()});
  return read;
}

std::string_view MlirText::at(std::size_t i) const {
  const MlirToken& token = (*this)[i];
  return std::string_view(text_).substr(token.begin, token.end - token.begin);
}

bool MlirText::is(std::size_t i, Kind kind) const {
  return i < size() && tokens_[i].kind == kind;
}

std::string MlirText::between(std::size_t first, std::size_t last) const {
  if (first >= last || first >= size()) return "";
  const std::size_t begin = tokens_[first].begin;
  return text_.substr(begin, (*this)[last - 1].end - begin);
}

int MlirText::line(std::size_t i) const {
  const auto end =
      text_.begin() + static_cast<std::ptrdiff_t>(tokens_[std::min(i, tokens_.size() - 1)].begin);
  return static_cast<int>(std::count(text_.begin(), end, '\n')) + 1;
}

std::size_t MlirText::behind(std::size_t i) const {
  const std::size_t partner = (*this)[i].partner;
  return partner > i ? partner + 1 : i + 1;
}

std::size_t MlirText::find(std::string_view wanted, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i)
    if (at(i) == wanted) return i;
  return last;
}

std::size_t MlirText::end_of_item(std::size_t first, std::size_t last) const {
  std::size_t i = first;
  while (i < last && at(i) != ",") i = behind(i);
  return std::min(i, last);
}

MlirFields::MlirFields(const MlirText& text, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last;) {
    const std::size_t end = text.end_of_item(i, last);
    if (end > i)
      fields_.push_back(
          {without_quotes(text.at(i)), text.at(i + 1) == "=" ? text.between(i + 2, end) : ""});
    i = end + 1;
  }
}

MlirFields MlirFields::of(const std::string& text) {
  const auto read = MlirText::read(text, "");
  if (!read) return {};
  for (std::size_t i = 0; i < read->size(); ++i)
    if (read->at(i) == "{" || read->at(i) == "<") {
      // "<{...}>": the dictionary inside.
      const std::size_t open = read->at(i) == "<" && read->at(i + 1) == "{" ? i + 1 : i;
      return {*read, open + 1, (*read)[open].partner};
    }
  return {};
}

const MlirField* MlirFields::find(std::string_view key) const {
  const auto found = std::ranges::find(fields_, key, &MlirField::key);
  return found != fields_.end() ? &*found : nullptr;
}

std::string MlirFields::value(std::string_view key) const {
  const MlirField* const found = find(key);
  return found != nullptr ? found->value : "";
}

void MlirFields::set(const std::string& key, std::string value) {
  const auto found = std::ranges::find(fields_, key, &MlirField::key);
  if (found != fields_.end())
    found->value = std::move(value);
  else
    fields_.push_back({key, std::move(value)});
}

void MlirFields::remove(std::string_view key) {
  std::erase_if(fields_, [&](const MlirField& field) { return field.key == key; });
}

std::string MlirFields::to_text() const {
  std::string text;
  for (const MlirField& field : fields_) {
    text += text.empty() ? "" : ", ";
    text += is_plain_key(field.key) ? field.key : '"' + field.key + '"';
    if (!field.value.empty()) text += " = " + field.value;
  }
  return text;
}

bool is_module(std::string_view word) {
  return word == "module" || word == "builtin.module";
}

MlirAliases::MlirAliases(const MlirText& text) {
  for (std::size_t i = 0; i < text.size();) {
    if ((text.is(i, Kind::kAttribute) || text.is(i, Kind::kType)) && text.at(i + 1) == "=") {
      // A definition ends where the next one, or an operation, begins.
      std::size_t end = text.behind(i + 2);
      while (end < text.size() && text.at(end + 1) != "=" &&
             (!text.is(end, Kind::kWord) || text.at(end - 1) == ":"))
        end = text.behind(end);
      aliases_[std::string(text.at(i))] = {text.between(i + 2, end), i, end};
      i = end;
    } else {
      i = text.behind(i);
    }
  }
}

std::string MlirAliases::expanded(const std::string& attribute) const {
  constexpr int kDeepest = 8;  // an alias may name others
  std::string text = attribute;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const auto read = MlirText::read(text, "");
    if (!read) return text;
    MlirEdits edits;
    for (std::size_t i = 0; i < read->size(); ++i)
      if (const auto found = aliases_.find(std::string(read->at(i))); found != aliases_.end())
        edits.replace((*read)[i].begin, (*read)[i].end, found->second.definition);
    if (edits.empty()) return text;
    text = edits.apply(text);
  }
  return text;
}

void MlirEdits::replace(std::size_t begin, std::size_t end, std::string with) {
  edits_.insert_or_assign(begin, Edit{end, std::move(with)});
}

std::string MlirEdits::apply(const std::string& text) const {
  std::string changed;
  std::size_t at = 0;
  for (const auto& [begin, edit] : edits_) {
    if (begin < at) continue;
    changed += text.substr(at, begin - at) + edit.with;
    at = edit.end;
  }
  return changed + text.substr(at);
}

std::string symbol_of(std::string_view token) {
  return without_quotes(token.substr(1));
}

std::optional<long> integer_of(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::string list_of(const std::vector<long>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::vector<long> integers_of(const std::string& text) {
  std::vector<long> integers;
  const auto read = MlirText::read(text, "");
  if (!read || read->at(0) != "[") return integers;
  for (std::size_t i = 1; i < read->size() && read->at(i) != "]"; ++i) {
    if (!read->is(i, Kind::kNumber)) continue;
    const std::string_view digits = read->at(i);
    long value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    integers.push_back(read->at(i - 1) == "-" ? -value : value);
  }
  return integers;
}

}  // namespace hone::iree
