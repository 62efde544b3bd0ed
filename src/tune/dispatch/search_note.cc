#include "tune/dispatch/search_note.h"

#include <nlohmann/json.hpp>

namespace hone::tune {

void to_json(nlohmann::json& json, const SearchNote& note) {
  json = {{"strategy", note.strategy},
          {"why", note.why},
          {"tried", note.tried},
          {"planned", note.planned},
          {"stopped", note.stopped}};
}

}  // namespace hone::tune
