// Texts for people and other programs: messages and their reasons, nearest names, units, quoting.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

// The names closest to `wanted` by edit distance, best first, at most `most`; only those near
// enough to be a slip of the hand (a third of the length) or that contain `wanted`.
std::vector<std::string> nearest_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t most = 3);

// " (did you mean 'a' or 'b'?)" for the nearest names, or "" when none is near.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

// Whether `name` matches a shell-like pattern in which '*' stands for any run of characters and
// '?' for one.
bool matches_pattern(std::string_view name, std::string_view pattern);

// Replaces bytes that are not UTF-8 by U+FFFD in the output of other programs: text goes into
// messages, the store and JSON.
std::string readable(std::string_view bytes);

// A duration in seconds with three significant digits in ns, us, ms, s or min: "1.59 ms".
std::string format_duration(double seconds);

// `count` with thousands separated by commas: 132000 -> "132,000".
std::string format_count(std::uint64_t count);

// Quotes `word` for a POSIX shell: unchanged if that is safe, else in single quotes.
std::string shell_word(std::string_view word);

// Formats like fmt::print. A message that cannot be written (the disk behind standard error is
// full) is dropped, where fmt::print would throw.
template <class... T>
void say(fmt::format_string<T...> text, T&&... arguments) {
  std::fputs(fmt::format(text, std::forward<T>(arguments)...).c_str(), stderr);
}

// Arguments of a command as a file: `iree-compile @flags.txt`. Writes each argument on a line, in
// the form that programs built with LLVM read from @FILE on Unix
// (llvm::cl::TokenizeGNUCommandLine). There, white space ends an argument except between quotes,
// and a backslash escapes the next character. An argument with neither is written plainly. All
// others are quoted, so a shell's $(cat FILE) breaks them.
std::string response_file(const std::vector<std::string>& arguments);

// The first line of a failure's message, which gives the reason in a few words; the rest is for
// `hone show`.
std::string_view reason_of(std::string_view message);

// `reason` with each number replaced by '#': equal for reasons that differ in numbers only.
std::string without_numbers(std::string_view reason);

// Finds the most frequent reason among many messages of failures. Reasons that differ only in
// numbers count as one.
class CommonReason {
 public:
  // `kind` (provider::name_of) precedes the reason unless it is "compile error".
  void add(std::string_view kind, std::string_view message);
  std::size_t count() const { return all_; }  // of add()
  // "28 of 32 failed candidates: stack 49152 B, limit 32768 B": the most frequent reason, in its
  // most frequent wording. Ties go to the first in alphabetical order. Empty if nothing failed.
  std::string words() const;

 private:
  struct Group {
    std::size_t count = 0;
    std::map<std::string, std::size_t> words = {};
  };
  std::size_t all_ = 0;
  std::map<std::string, Group> groups_;  // by without_numbers()
};

}  // namespace hone
