// What hone doctor finds, one thing at a time.
#pragma once

#include <string>
#include <vector>

namespace hone::cli {

enum class Health {
  kGood,
  kNote,     // good to know
  kWarning,  // works, but worse than it could, or only in part
  kMissing,  // tuning on this machine does not work without it
};

struct Finding {
  std::string group;    // "compiler", "gpu", "machine", "storage", "environment"
  std::string subject;  // "IREE compiler"
  Health health = Health::kGood;
  std::string found;  // what there is, or is not
  std::string fix{};  // a command or a step that mends it; empty where there is nothing to mend
};

// "ok", "note", "warning", "missing".
std::string name_of(Health health);

}  // namespace hone::cli
