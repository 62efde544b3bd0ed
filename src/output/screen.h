// Text that fits a terminal: its width, names cut in the middle, wrapped sentences.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hone::output {

// Widest line of a summary for people, and its width where no terminal is.
inline constexpr std::size_t kSummaryWidth = 100;

// Returns the columns of the terminal behind a file descriptor; nullopt for files and pipes.
std::optional<std::size_t> terminal_columns(int descriptor);

// Returns the width for tables on stdout: the terminal's; without limit in files and pipes, where
// other programs read whole names.
std::size_t screen_width();

// Returns the columns that a UTF-8 text takes. One for each code point holds for all that hone
// prints.
std::size_t width_of(std::string_view text);

// Returns `text` in at most `most` columns: its begin and end around an ellipsis. Dispatch names
// differ at both ends.
std::string cut_in_middle(std::string_view text, std::size_t most);

// Returns the begin of `text` in at most `most` columns, an ellipsis included.
std::string cut_at_end(std::string_view text, std::size_t most);

// Breaks lines at blanks so that each takes at most `width` columns. `broken` ends a broken line,
// and the rest continues behind `indent`. A longer word, such as a path, stays whole.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent = "  ",
                    std::string_view broken = "");

}  // namespace hone::output
