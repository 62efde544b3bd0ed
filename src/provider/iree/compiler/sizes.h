// Integers and extents in the compiler's IR, computed from constants and given values: sizes that a
// program reads at run time, values that a kernel is launched with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "provider/iree/compiler/ir.h"

namespace hone::iree {

// Handling of a value that a loop changes. kAll: the value is unknown. kFirst: it is its value in
// the first turn. If branches pass different values, kFirst takes one of them.
enum class Turns { kAll, kFirst };

// Use from one thread, and only while the module does not change.
class Sizes {
 public:
  // The value of an integer that no arithmetic defines; nothing if it is not given.
  using Given = std::function<std::optional<std::int64_t>(MlirValue)>;

  // The extents of a tensor that no operation makes; kDynamic where one is not given.
  using GivenExtents = std::function<std::optional<std::vector<std::int64_t>>(MlirValue)>;

  explicit Sizes(const Ir& ir, Given given = {}, GivenExtents extents = {},
                 Turns turns = Turns::kAll)
      : ir_(ir), given_(std::move(given)), given_extents_(std::move(extents)), turns_(turns) {}

  // Evaluates constants and arithmetic on them: arith, index, affine.apply/min/max, util.align. It
  // also follows operations that pass an integer through, and values that branches and loops pass
  // on (Turns).
  std::optional<std::int64_t> integer(MlirValue value) const;
  // The type of a tensor or buffer with every extent known; nothing where one is not.
  std::optional<problem::TensorType> type(MlirValue value) const;

 private:
  std::optional<std::int64_t> computed(MlirOperation operation, MlirValue value) const;
  std::optional<std::int64_t> of_branches(MlirValue argument) const;
  std::optional<std::int64_t> of_two(std::string_view kind, std::int64_t a, std::int64_t b) const;
  std::optional<std::int64_t> of_map(MlirOperation operation) const;
  std::optional<std::vector<std::int64_t>> extents(MlirValue value) const;

  Ir ir_;
  Given given_;
  GivenExtents given_extents_;
  Turns turns_;
  mutable std::map<MlirValue, std::optional<std::int64_t>> known_;
  mutable std::set<MlirValue> open_;  // not known while what a branch passes is looked for
};

// Sizes in a kernel that is launched with `constants` (32-bit words).
Sizes kernel_sizes(const Ir& ir, const std::vector<std::uint32_t>& constants);
// Sizes in the count region of an export that is launched with `workload`.
Sizes count_sizes(const Ir& ir, MlirOperation export_operation,
                  const std::vector<std::int64_t>& workload);

}  // namespace hone::iree
