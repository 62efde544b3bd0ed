#include "tune/program/build.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace hone::tune {

BuildId Build::id() const {
  nlohmann::json kernels = nlohmann::json::array();
  for (const provider::ReplacedExecutable& each : replaced)
    kernels.push_back({each.executable, content_hash(each.text)});
  return {content_hash(nlohmann::json{flags, content_hash(spec), kernels}.dump())};
}

Build default_build() {
  return {.label = "default"};
}

std::string joined_label(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : a + " + " + b;
}

}  // namespace hone::tune
