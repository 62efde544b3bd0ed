// Receives the progress and notes of a session. No decision of the session depends on it.
#pragma once

#include <cstddef>
#include <string>

namespace hone::tune {

enum class Stage { kOther, kSearch, kFinalists, kProgramRounds };

struct Progress {
  std::string dispatch = {};       // being worked on
  std::size_t dispatch_index = 0;  // from 0
  std::size_t dispatch_count = 0;
  Stage stage = Stage::kOther;
  std::string step = {};    // in words what is done now
  std::size_t tried = 0;    // candidates of this dispatch
  std::size_t planned = 0;  // 0: not counted
  std::size_t failed = 0;
  double best_speedup = 1;  // over the default, so far
  double seconds_left = 0;  // of all dispatches; of the program's rounds; 0: not known or none
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress& progress) = 0;
  // Reports a detail in one line: a chosen strategy, a dropped entry. Shown with --verbose.
  virtual void note(const std::string& line) = 0;
  // Reports in one line what a user can act on: a busy machine, a budget that is too small.
  virtual void warn(const std::string& line) = 0;
};

}  // namespace hone::tune
