// Errors as values. Libraries return Result<T>; nothing below main() exits or throws to its caller.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hone {

// Class of an error by who has to act. The command line maps each to an exit code
// (docs/commands.md, "Exit codes").
enum class ErrorKind {
  kInput,        // the user's command or file is wrong: exit code 2
  kEnvironment,  // a compiler, device or file system is missing or unfit: exit code 3
  kFailure,      // the work was done and failed: exit code 1
  kInterrupted,  // stopped by a signal: exit code 130
};

struct Error {
  ErrorKind kind;
  std::string message;  // what was wrong, where, and what to do; no trailing newline
  // The message without what to do, for printers that have their own advice. Empty: the message was
  // not made by advised(). Decides nothing.
  std::string without_advice = {};
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
tl::unexpected<Error> input_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{ErrorKind::kInput, fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
tl::unexpected<Error> environment_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error{ErrorKind::kEnvironment, fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
tl::unexpected<Error> failure(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error{ErrorKind::kFailure, fmt::format(format, std::forward<Args>(args)...)});
}

// Adds what to do to an error that says what was wrong.
inline tl::unexpected<Error> advised(tl::unexpected<Error> error, std::string_view advice) {
  error.value().without_advice = error.value().message;
  error.value().message.append("; ").append(advice);
  return error;
}

// Pick the error that a caller passes on with HONE_TRY while it handles the other kinds itself.
// all_but_failure() passes every kind but kFailure, interruption() only kInterrupted.
template <class T>
Status all_but_failure(const Result<T>& result) {
  if (result || result.error().kind == ErrorKind::kFailure) return {};
  return tl::unexpected(result.error());
}
template <class T>
Status interruption(const Result<T>& result) {
  if (result || result.error().kind != ErrorKind::kInterrupted) return {};
  return tl::unexpected(result.error());
}

}  // namespace hone

#define HONE_CONCAT_INNER(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Status or Result) to the caller, if it has one. __COUNTER__
// keeps the names apart if a use stands in a lambda inside another.
#define HONE_TRY(expression) HONE_TRY_INNER(HONE_CONCAT(hone_status_, __COUNTER__), expression)
#define HONE_TRY_INNER(status, expression)                                                     \
  do {                                                                                         \
    if (auto status = (expression); !status) return tl::unexpected(std::move(status).error()); \
  } while (false)

// HONE_ASSIGN(auto x, f()): x becomes the value of f(), or f()'s error is returned to the caller.
#define HONE_ASSIGN(declaration, expression) \
  HONE_ASSIGN_INNER(HONE_CONCAT(hone_result_, __COUNTER__), declaration, expression)
#define HONE_ASSIGN_INNER(result, declaration, expression)       \
  auto result = (expression);                                    \
  if (!result) return tl::unexpected(std::move(result).error()); \
  declaration = std::move(*result)
