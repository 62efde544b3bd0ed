// Matrix instructions of an entry, and how its subgroups are distributed over the loops.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "provider/iree/spec_upgrade/mlir_text.h"

namespace hone::iree {

// The name in "#iree_gpu.mma_layout<MFMA_F32_16x16x16_F16, col_major = true>".
std::string intrinsic_of(const std::string& layout);
// Extents m, n and k of an intrinsic by its name; nullopt for another name.
std::optional<std::array<long, 3>> shape_of(const std::string& intrinsic);

// The schedule of matrix instructions of an entry, wherever it stands.
struct Schedule {
  std::string layout;  // of the intrinsic
  long m_count = 1, n_count = 1;
  std::optional<long> m_tiles, n_tiles, k_tiles;  // until 2024-04-29
};
// Reads that of a struct whose key of the intrinsic is `layout_key`; nullopt without counts.
std::optional<Schedule> schedule_in(const MlirFields& fields, const std::string& layout_key);

// Subgroups on each loop, as the compilers up to 2025-09-08 distributed the counts: loop by loop,
// on each as many as divide its tiles. The rest repeated the work of others.
struct Distribution {
  std::vector<long> counts;
  long repeats = 1;
  std::string problem;

  void fail(std::string reason) {
    if (problem.empty()) problem = std::move(reason);
  }
};
// `kinds` are those of MatchedLoops, `tiles` the workgroup's of each loop.
Distribution distribution_of(const std::string& kinds, const std::vector<long>& tiles,
                             const Schedule& schedule, const std::array<long, 3>& shape);

// The value of subgroup_basis, "[[2, 2, 1], [0, 1, 2]]", without the mapping of loop `without`.
std::string basis_text(const std::vector<long>& counts, std::optional<std::size_t> without = {});

long product_of(const std::vector<long>& values);

}  // namespace hone::iree
