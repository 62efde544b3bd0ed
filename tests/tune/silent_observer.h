// An observer that keeps what it is told, for a test's message.
#pragma once

#include <string>

#include "tune/services/context.h"

namespace hone::tune {

class SilentObserver final : public Observer {
 public:
  void progress(const Progress&) override {}
  void note(const std::string& line) override { notes += line + "\n"; }
  void warn(const std::string& line) override { note(line); }
  std::string notes;
};

}  // namespace hone::tune
