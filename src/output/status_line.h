// The live status of a session: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tune/services/context.h"

namespace hone::output {

enum class Verbosity {
  kQuiet,
  kNormal,   // progress and warnings
  kVerbose,  // and notes
};

// Progress of a session, as its options ask for it.
struct StatusStyle {
  Verbosity verbosity = Verbosity::kNormal;
  bool plain = false;  // a line for each step, never one that is redrawn
};

// Returns the style of --quiet, --verbose and --plain. JSON output is for programs and quiet,
// unless
// --plain or --verbose asks for lines of progress.
StatusStyle status_style(bool quiet, bool verbose, bool plain, bool json);

// Status line on stderr, so that stdout holds results only. A thread repeats the current step and
// its duration if a step is silent for a while, such as the compile of a whole program. Nobody then
// takes hone for dead.
class StatusLine final : public tune::Observer {
 public:
  explicit StatusLine(StatusStyle style);
  ~StatusLine() override;

  void progress(const tune::Progress& progress) override;
  void note(const std::string& line) override;
  void warn(const std::string& line) override;
  void clear();
  // Sets the step after the last dispatch ("the proof"), whose duration is unknown.
  void then(std::string what) { then_ = std::move(what); }

 private:
  void print(const std::string& line);
  void print_permanent(const std::string& line);
  void erase();
  void say_it_goes_on(const std::stop_token& stop);

  Verbosity verbosity_;
  bool plain_;
  bool terminal_;
  std::mutex mutex_;   // what follows is this object's two threads'
  std::string shown_;  // on the terminal now
  std::string at_ = "starting";
  std::chrono::steady_clock::time_point last_said_, last_news_;
  std::string last_step_;
  std::string then_;
  std::chrono::steady_clock::time_point last_plain_{};
  std::condition_variable_any stopped_;
  std::jthread heart_;
};

// Returns "40 s left", "5 min left" or "1 h 20 min left"; "finishing" below a second. Estimates are
// rounded so that nobody relies on them.
std::string describe_time_left(double seconds);

// Returns "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left, then the
// proof", at most `width` wide. Unknown values (0 seconds, except while searching and comparing)
// are skipped.
std::string describe(const tune::Progress& progress, std::size_t width,
                     const std::string& then = {});

}  // namespace hone::output
