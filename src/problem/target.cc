#include "problem/target.h"

#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace hone::problem {

constexpr auto kCpuTargetFields = [](auto& target, auto&& field) {
  field("cpu", target.cpu);
  field("features", target.features);
  field("vector_bits", target.vector_bits);
  field("vector_registers", target.vector_registers);
  field("l1d_bytes", target.l1d_bytes);
  field("l2_bytes", target.l2_bytes);
  field("l3_bytes", target.l3_bytes);
  field("cores", target.cores);
};

void to_json(nlohmann::json& json, const CpuTarget& target) {
  write_fields(json, target, kCpuTargetFields);
}

void from_json(const nlohmann::json& json, CpuTarget& target) {
  read_fields(json, target, kCpuTargetFields);
}

}  // namespace hone::problem
