// How a dispatch was searched, for people and for the store.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hone::tune {

struct SearchNote {
  std::string strategy;      // that proposed
  std::string why;           // it was chosen; empty: the user said so
  std::size_t tried = 0;     // configurations
  std::size_t planned = 0;   // the whole space, or what the user allows
  std::string stopped = {};  // why before that; empty: the time was up, or all was tried
};

// {"strategy", "why", "tried", "planned", "stopped"}.
void to_json(nlohmann::json& json, const SearchNote& note);

}  // namespace hone::tune
