// The live status of a session: one line that is redrawn on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "tune/observer.h"

namespace hone::cli {

enum class Verbosity { kQuiet, kNormal };

// Writes to stderr, so that stdout holds results only.
class StatusLine final : public tune::Observer {
 public:
  explicit StatusLine(Verbosity verbosity);
  ~StatusLine() override;

  void progress(const tune::Progress& progress) override;
  void note(const std::string& line) override;
  void clear();

 private:
  Verbosity verbosity_;
  bool terminal_;
  std::string shown_;  // on the terminal now
  std::string last_step_;
  std::chrono::steady_clock::time_point last_plain_{};
};

// "[1/2] main_dispatch_0: search 120/480, best 1.43x, 12 failed, 40 s left", at most `width` wide.
std::string describe(const tune::Progress& progress, std::size_t width);

}  // namespace hone::cli
