#include "problem/target.h"

#include <nlohmann/json.hpp>

#include "base/exact_json.h"

namespace hone::problem {

void to_json(nlohmann::json& json, const CpuTarget& target) {
  json = {{"cpu", target.cpu},
          {"features", target.features},
          {"vector_bits", target.vector_bits},
          {"vector_registers", target.vector_registers},
          {"l1d_bytes", target.l1d_bytes},
          {"l2_bytes", target.l2_bytes},
          {"l3_bytes", target.l3_bytes},
          {"cores", target.cores}};
}

void from_json(const nlohmann::json& json, CpuTarget& target) {
  json.at("cpu").get_to(target.cpu);
  json.at("features").get_to(target.features);
  exact_to(json.at("vector_bits"), target.vector_bits);
  exact_to(json.at("vector_registers"), target.vector_registers);
  exact_to(json.at("l1d_bytes"), target.l1d_bytes);
  exact_to(json.at("l2_bytes"), target.l2_bytes);
  exact_to(json.at("l3_bytes"), target.l3_bytes);
  exact_to(json.at("cores"), target.cores);
}

}  // namespace hone::problem
