#include "problem/npy_header.h"

#include <charconv>
#include <optional>

namespace hone::problem {
namespace {

// Reads the few Python literals that such a dictionary uses.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<NpyHeader> read() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    HONE_TRY(expect('{'));
    while (!accept('}')) {
      HONE_ASSIGN(const std::string key, string());
      HONE_TRY(expect(':'));
      bool& seen = key == "descr" ? descr : key == "fortran_order" ? order : shape;
      if (key != "descr" && key != "fortran_order" && key != "shape")
        return wrong(fmt::format("it has a key '{}'", key));
      if (seen) return wrong(fmt::format("it has '{}' twice", key));
      seen = true;
      if (key == "descr") {
        HONE_ASSIGN(header.descr, descr_text());
      } else if (key == "fortran_order") {
        HONE_ASSIGN(header.fortran_order, truth());
      } else {
        HONE_ASSIGN(header.shape, tuple());
      }
      if (!accept(',') && !next_is('}')) return wrong("'}' is missing");
    }
    skip_blanks();
    if (at_ != text_.size()) return wrong("there is more after its '}'");
    for (const auto& [seen, key] :
         {std::pair(descr, "descr"), std::pair(order, "fortran_order"), std::pair(shape, "shape")})
      if (!seen) return wrong(fmt::format("it has no '{}'", key));
    return header;
  }

 private:
  tl::unexpected<Error> wrong(std::string_view what) const {
    return input_error("not a .npy file that can be read: {} (header, character {})", what, at_);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool next_is(char c) {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Status expect(char c) {
    if (!accept(c)) return wrong(fmt::format("'{}' is missing", c));
    return {};
  }

  Result<std::string> string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return wrong("a quoted word is missing");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    if (word.find('\\') != std::string_view::npos) return wrong("a word has a '\\'");
    at_ = end + 1;
    return std::string(word);
  }

  Result<std::string> descr_text() {
    if (next_is('[')) return input_error("this .npy file holds records, not a plain array");
    return string();
  }

  Result<bool> truth() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    return wrong("'fortran_order' is neither True nor False");
  }

  Result<std::vector<std::int64_t>> tuple() {
    std::vector<std::int64_t> values;
    if (!accept('(')) return wrong("'shape' is no tuple");
    while (!accept(')')) {
      skip_blanks();
      std::int64_t value = 0;
      const auto [next, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) return wrong("bad extent in its 'shape'");
      at_ = static_cast<std::size_t>(next - text_.data());
      accept('L');  // as Python 2 wrote it
      values.push_back(value);
      if (!accept(',') && !next_is(')')) return wrong("bad extent in its 'shape'");
    }
    return values;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  return Reader(text).read();
}

}  // namespace hone::problem
