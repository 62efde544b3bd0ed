#include "output/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace hone::output {
namespace {

bool begins_code_point(char byte) {
  return (byte & 0xC0) != 0x80;
}

// Returns the offset of code point `count` from the begin; the size if there are fewer.
std::size_t offset_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (begins_code_point(text[at]) && count-- == 0) break;
  return at;
}

}  // namespace

std::optional<std::size_t> terminal_columns(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

std::size_t screen_width() {
  return terminal_columns(STDOUT_FILENO).value_or(std::numeric_limits<std::size_t>::max());
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_code_point));
}

std::string cut_in_middle(std::string_view text, std::size_t most) {
  const std::size_t width = width_of(text);
  if (width <= most) return std::string(text);
  if (most == 0) return "";
  const std::size_t head = most / 2, tail = most - 1 - head;
  return std::string(text.substr(0, offset_of(text, head))) + "…" +
         std::string(text.substr(offset_of(text, width - tail)));
}

std::string cut_at_end(std::string_view text, std::size_t most) {
  if (width_of(text) <= most) return std::string(text);
  if (most == 0) return "";
  return std::string(text.substr(0, offset_of(text, most - 1))) + "…";
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent,
                    std::string_view broken) {
  width -= std::min(width, width_of(broken));
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", blanks), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    if (column > 0 && column + blanks + width_of(word) > width && !word.empty()) {
      out.append(broken).append("\n").append(indent);
      column = width_of(indent);
    } else {
      out.append(blanks, ' ');
      column += blanks;
    }
    out += word;
    column += width_of(word);
    text.remove_prefix(end);
    if (!text.starts_with('\n')) continue;
    out += '\n';
    column = 0;
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace hone::output
