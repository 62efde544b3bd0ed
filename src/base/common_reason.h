// The most frequent reason among many messages of failures.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hone {

// The first line of a failure's message, which gives the reason in a few words; the rest is for
// `hone show`.
std::string_view reason_of(std::string_view message);

// `reason` with each number replaced by '#': equal for reasons that differ in numbers only.
std::string without_numbers(std::string_view reason);

// Counts reasons; reasons that differ only in numbers count as one.
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
