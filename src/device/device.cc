#include "device/device.h"

#include <nlohmann/json.hpp>

namespace hone::device {

void to_json(nlohmann::json& json, const Peak& peak) {
  json = {{"gflops", peak.gflops},
          {"gbytes_per_second", peak.gbytes_per_second},
          {"instructions", peak.instructions},
          {"threads", peak.threads}};
}

void from_json(const nlohmann::json& json, Peak& peak) {
  json.at("gflops").get_to(peak.gflops);
  json.at("gbytes_per_second").get_to(peak.gbytes_per_second);
  json.at("instructions").get_to(peak.instructions);
  json.at("threads").get_to(peak.threads);
}

}  // namespace hone::device
