#include "output/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "output/screen.h"

namespace hone::output {
namespace {

// Interval of status lines without a terminal: often enough to show progress, without filling a
// log.
constexpr std::chrono::seconds kPlainInterval{10};
constexpr std::chrono::seconds kLongestSilence{12};
constexpr std::size_t kWidestLog = 1000;

std::size_t terminal_width() {
  return terminal_columns(STDERR_FILENO).value_or(80);
}

}  // namespace

StatusStyle status_style(bool quiet, bool verbose, bool plain, bool json) {
  if (quiet || (json && !plain && !verbose)) return {Verbosity::kQuiet, plain};
  return {verbose ? Verbosity::kVerbose : Verbosity::kNormal, plain};
}

std::string describe_time_left(double seconds) {
  if (!(seconds >= 1)) return "finishing";
  if (seconds < 60) return fmt::format("{:.0f} s left", seconds);
  const auto minutes = static_cast<long>(seconds / 60 + 0.5);
  if (minutes < 60) return fmt::format("{} min left", minutes);
  return fmt::format("{} h {} min left", minutes / 60, minutes % 60);
}

std::string describe(const tune::Progress& progress, std::size_t width, const std::string& then) {
  std::string line;
  if (progress.dispatch_count > 0)
    line = fmt::format("[{}/{}] {}: ", progress.dispatch_index + 1, progress.dispatch_count,
                       progress.dispatch);
  const bool of_program = progress.stage == tune::Stage::kProgramRounds;
  line += progress.step;
  if (progress.planned > 0)
    line += fmt::format(" {}/{}", progress.tried + (of_program ? 1 : 0), progress.planned);
  if (progress.best_speedup > 1) line += fmt::format(", best {:.2f}x", progress.best_speedup);
  if (progress.failed > 0) line += fmt::format(", {} failed", progress.failed);
  const bool of_dispatch =
      progress.stage == tune::Stage::kSearch || progress.stage == tune::Stage::kFinalists;
  if (progress.seconds_left > 0 || of_dispatch)
    line += ", " + describe_time_left(progress.seconds_left);
  if (of_dispatch && !then.empty()) line += ", then " + then;
  return cut_at_end(line, width);
}

StatusLine::StatusLine(StatusStyle style)
    : verbosity_(style.verbosity),
      plain_(style.plain),
      terminal_(!style.plain && isatty(STDERR_FILENO) == 1),
      last_said_(std::chrono::steady_clock::now()),
      last_news_(last_said_) {
  if (verbosity_ != Verbosity::kQuiet)
    heart_ = std::jthread([this](const std::stop_token& stop) { say_it_goes_on(stop); });
}

StatusLine::~StatusLine() {
  clear();
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

void StatusLine::erase() {
  if (shown_.empty()) return;
  say("\r{:{}}\r", "", width_of(shown_));
  std::fflush(stderr);
  shown_.clear();
}

// Prints a line that stays, or on a terminal one that the next replaces.
void StatusLine::print(const std::string& line) {
  erase();
  say("{}{}", line, terminal_ ? "" : "\n");
  std::fflush(stderr);
  if (terminal_) shown_ = line;
  last_said_ = std::chrono::steady_clock::now();
}

void StatusLine::progress(const tune::Progress& progress) {
  if (verbosity_ == Verbosity::kQuiet) return;
  const std::lock_guard lock(mutex_);
  last_news_ = std::chrono::steady_clock::now();
  at_ = describe(progress, terminal_ ? terminal_width() - 1 : kWidestLog, then_);
  const std::string step = progress.dispatch + progress.step;
  const bool is_news = plain_ && step != last_step_;
  if (!terminal_ && !is_news && last_news_ - last_plain_ < kPlainInterval) return;
  last_step_ = step;
  last_plain_ = last_news_;
  print(at_);
}

void StatusLine::note(const std::string& line) {
  if (verbosity_ == Verbosity::kVerbose) print_permanent(line);
}

void StatusLine::warn(const std::string& line) {
  if (verbosity_ != Verbosity::kQuiet) print_permanent(line);
}

void StatusLine::print_permanent(const std::string& line) {
  const std::lock_guard lock(mutex_);
  erase();
  // A log keeps lines whole for other programs.
  say("{}\n", terminal_ ? wrapped(line, std::min(terminal_width(), kSummaryWidth)) : line);
  last_said_ = last_news_ = std::chrono::steady_clock::now();
}

void StatusLine::say_it_goes_on(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto due = last_said_ + kLongestSilence;
    if (std::chrono::steady_clock::now() < due) {
      stopped_.wait_until(lock, stop, due, [] { return false; });
      continue;
    }
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - last_news_);
    const std::string since = fmt::format(" (for {} s now)", silent.count());
    const std::size_t width = terminal_ ? terminal_width() - 1 : kWidestLog;
    print(cut_at_end(at_, width - std::min(width, since.size())) + since);
  }
}

}  // namespace hone::output
