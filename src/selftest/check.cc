#include "selftest/check.h"

namespace hone::selftest {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kNote:
      return "note";
    case Outcome::kFailed:
      break;
  }
  return "FAILED";
}

const nlohmann::json* Recorded::find_device(const std::string& name) const {
  const auto found = devices.find(name);
  return found != devices.end() && found->is_object() ? &*found : nullptr;
}

}  // namespace hone::selftest
