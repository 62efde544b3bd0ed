#include "cli/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "base/text.h"

namespace hone::cli {
namespace {

// Without a terminal a line now and then shows that something happens, without filling a log.
constexpr std::chrono::seconds kPlainInterval{15};

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

std::string describe(const tune::Progress& progress, std::size_t width) {
  std::string line;
  if (progress.dispatch_count > 0)
    line = fmt::format("[{}/{}] {}: ", progress.dispatch_index + 1, progress.dispatch_count,
                       progress.dispatch);
  line += fmt::format("{} {}/{}", progress.step, progress.tried, progress.planned);
  if (progress.best_speedup > 1) line += fmt::format(", best {:.2f}x", progress.best_speedup);
  if (progress.failed > 0) line += fmt::format(", {} failed", progress.failed);
  if (progress.seconds_left > 0)
    line += fmt::format(", {} left", format_duration(progress.seconds_left));
  if (line.size() > width) line.resize(width);
  return line;
}

StatusLine::StatusLine(Verbosity verbosity)
    : verbosity_(verbosity), terminal_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  clear();
}

void StatusLine::clear() {
  if (shown_.empty()) return;
  fmt::print(stderr, "\r{:{}}\r", "", shown_.size());
  std::fflush(stderr);
  shown_.clear();
}

void StatusLine::progress(const tune::Progress& progress) {
  if (verbosity_ == Verbosity::kQuiet) return;
  if (terminal_) {
    const std::string line = describe(progress, terminal_width() - 1);
    clear();
    fmt::print(stderr, "{}", line);
    std::fflush(stderr);
    shown_ = line;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  const std::string step = progress.dispatch + progress.step;
  if (step == last_step_ && now - last_plain_ < kPlainInterval) return;
  last_step_ = step;
  last_plain_ = now;
  fmt::print(stderr, "{}\n", describe(progress, 1000));
}

void StatusLine::note(const std::string& line) {
  if (verbosity_ == Verbosity::kQuiet) return;
  clear();
  fmt::print(stderr, "{}\n", line);
}

}  // namespace hone::cli
