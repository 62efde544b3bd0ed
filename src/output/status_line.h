// The live status of a session: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tune/services/observer.h"

namespace hone::output {

enum class Verbosity {
  kQuiet,
  kPlain,  // lines, never one that is redrawn
  kNormal,
};

// What --quiet and --plain ask for; a JSON document is for programs, which look at no progress
// unless they ask for lines of it.
Verbosity verbosity_of(bool quiet, bool plain, bool json);

// Writes to stderr, so that stdout holds results only. Where a step says nothing for a while (the
// compiler is at a whole program, a library at a large product), a thread of its own says what it
// is at and for how long, so that nobody takes it for dead.
class StatusLine final : public tune::Observer {
 public:
  explicit StatusLine(Verbosity verbosity);
  ~StatusLine() override;

  void progress(const tune::Progress& progress) override;
  void note(const std::string& line) override;
  void clear();
  // What comes when no dispatch is left: "the proof". Nobody knows how long it takes.
  void then(std::string what) { then_ = std::move(what); }

 private:
  void print(const std::string& line);
  void erase();
  void say_it_goes_on(const std::stop_token& stop);

  Verbosity verbosity_;
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

// "40 s left", "5 min left", "1 h 20 min left"; "finishing" below a second: estimates, rounded so
// that nobody counts on them.
std::string describe_time_left(double seconds);

// "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left, then the proof", at
// most `width` wide. What is not known (0 seconds, but while searching and comparing) is not said.
std::string describe(const tune::Progress& progress, std::size_t width,
                     const std::string& then = {});

}  // namespace hone::output
