#include "provider/iree/cpu/knobs.h"

#include <set>

#include "provider/iree/cpu/lowering_config.h"

namespace hone::iree {

using space::Value;

Status check_vectors(const problem::CpuTarget& target) {
  if (target.vector_bits >= 64 && target.vector_registers >= 1 && target.cores >= 1) return {};
  return input_error(
      "the target has {}-bit vectors, {} vector registers and {} cores; the llvm-cpu space needs "
      "vectors of 64 bits or more",
      target.vector_bits, target.vector_registers, target.cores);
}

std::string tile_knob(std::string_view level, std::string_view label) {
  return fmt::format("{}_{}", level, label);
}

std::vector<Value> tile_sizes(std::int64_t size) {
  std::set<Value> sizes = {size};
  for (Value divisor = 1; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0) sizes.insert({divisor, size / divisor});
  for (Value power = 1; power < size; power *= 2) {
    sizes.insert(power);
    if (3 * power < size) sizes.insert(3 * power);
  }
  return {sizes.begin(), sizes.end()};
}

space::Expression add_distribution(space::SpaceBuilder& builder, std::string_view label,
                                   std::string_view loop, std::vector<Value> sizes) {
  return builder.knob(tile_knob("dist", label),
                      fmt::format("distribution tile: iterations of {} in one workgroup", loop),
                      std::move(sizes));
}

space::Expression add_peeling(space::SpaceBuilder& builder) {
  return builder.knob("peel",
                      "enable_loop_peeling: code of their own for boundary tiles, instead of masks",
                      {0, 1});
}

std::string translation_info_text(std::string_view pipeline, bool peeled) {
  return fmt::format("#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<{}>{}>",
                     pipeline, peeled ? fmt::format(", {{{}}}", kPeeling) : "");
}

}  // namespace hone::iree
