// MLIR's text as tokens and brackets. Specs of older compilers do not parse by today's, so the
// upgrade of specs reads them as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::iree {

struct MlirToken {
  enum class Kind {
    kWord,         // module, transform.yield, f16
    kValue,        // %config, %results#0
    kSymbol,       // @match_mmt, @library::@match
    kBlock,        // ^bb0
    kAttribute,    // #map, #iree_gpu.mma_layout
    kType,         // !transform.any_op
    kString,       // with its quotes
    kNumber,       // digits
    kPunctuation,  // one character, or "->"
  };
  Kind kind = Kind::kWord;
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::size_t partner = 0;         // of a bracket: the token that closes or opens it
};

// Thread-compatible. Comments are not among the tokens.
class MlirText {
 public:
  // Input error with the line if a bracket has no partner or a string no end; `path` names the
  // text.
  static Result<MlirText> read(std::string text, const std::string& path);

  const std::string& text() const { return text_; }
  std::size_t size() const { return tokens_.empty() ? 0 : tokens_.size() - 1; }
  // An empty token at the end of the text for any index behind the last one.
  const MlirToken& operator[](std::size_t i) const { return tokens_[std::min(i, size())]; }
  // The text of token `i`; "" behind the last one.
  std::string_view at(std::size_t i) const;
  bool is(std::size_t i, MlirToken::Kind kind) const;
  // The text from token `first` up to before token `last`, comments included.
  std::string between(std::size_t first, std::size_t last) const;
  int line(std::size_t i) const;  // from 1
  // The token behind token `i`, or behind the whole bracket that it opens.
  std::size_t behind(std::size_t i) const;
  // The first token in [first, last) of this text; `last` if there is none.
  std::size_t find(std::string_view wanted, std::size_t first, std::size_t last) const;
  // The end of an attribute, type or value that begins at `first`: the first comma outside
  // brackets, or `last`.
  std::size_t end_of_item(std::size_t first, std::size_t last) const;

 private:
  std::string text_;
  std::vector<MlirToken> tokens_;  // behind the last one, that at the end of the text
};

// A key and its value in a dictionary or a struct of attributes. A unit attribute has no value.
struct MlirField {
  std::string key;    // without quotes
  std::string value;  // text
};

class MlirFields {
 public:
  MlirFields() = default;
  // Reads the fields between tokens `first` and `last`, separated by commas.
  MlirFields(const MlirText& text, std::size_t first, std::size_t last);
  // Reads the fields of "{...}" or "#name<...>"; none if `text` holds no such bracket.
  static MlirFields of(const std::string& text);

  const std::vector<MlirField>& all() const { return fields_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The value; "" if there is no such key.
  std::string value(std::string_view key) const;
  // Sets it in its place, or behind the others.
  void set(const std::string& key, std::string value);
  void remove(std::string_view key);
  std::string to_text() const;  // "a = 1, b"

 private:
  const MlirField* find(std::string_view key) const;
  std::vector<MlirField> fields_;
};

// Aliases of attributes ("#map") and types that a file defines before its module, by name with
// their first character.
class MlirAliases {
 public:
  struct Alias {
    std::string definition;
    std::size_t first = 0, last = 0;  // tokens [first, last) of "#name = definition"
  };
  MlirAliases() = default;
  explicit MlirAliases(const MlirText& text);

  const std::map<std::string, Alias>& all() const { return aliases_; }
  // The text of an attribute with every alias replaced by what it stands for.
  std::string expanded(const std::string& attribute) const;

 private:
  std::map<std::string, Alias> aliases_;
};

// Changes to a text, by its bytes. Those inside another are ignored.
class MlirEdits {
 public:
  void replace(std::size_t begin, std::size_t end, std::string with);
  bool empty() const { return edits_.empty(); }
  std::string apply(const std::string& text) const;

 private:
  struct Edit {
    std::size_t end = 0;
    std::string with;
  };
  std::map<std::size_t, Edit> edits_;  // by where they begin
};

bool is_module(std::string_view word);

// "match" of the token "@match" or "@\"match\"".
std::string symbol_of(std::string_view token);

// "4" or "4 : i64"; nullopt for anything else.
std::optional<long> integer_of(const std::string& text);
// "[1, 0, 64]"
std::string list_of(const std::vector<long>& values);
// The integers in "[1, 0, 64]"; empty for anything else.
std::vector<long> integers_of(const std::string& text);

}  // namespace hone::iree
