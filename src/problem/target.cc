#include "problem/target.h"

#include <nlohmann/json.hpp>

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
  json.at("vector_bits").get_to(target.vector_bits);
  json.at("vector_registers").get_to(target.vector_registers);
  json.at("l1d_bytes").get_to(target.l1d_bytes);
  json.at("l2_bytes").get_to(target.l2_bytes);
  json.at("l3_bytes").get_to(target.l3_bytes);
  json.at("cores").get_to(target.cores);
}

}  // namespace hone::problem
