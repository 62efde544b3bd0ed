#include "provider/iree/program/access_demands.h"

#include <algorithm>
#include <limits>

#include "provider/iree/program/value_range.h"

namespace hone::iree {
namespace {

class DemandReader {
 public:
  DemandReader(const Ir& ir, const ReachedOperations& reached) : ir_(ir), reached_(reached) {}

  std::vector<Demand> read() {
    for (const MlirOperation operation : reached_.all()) add_demands(operation);
    return std::move(demands_);
  }

 private:
  void shape(MlirValue value) { demands_.push_back({value, {}, "a shape"}); }
  void trips(MlirValue value) { demands_.push_back({value, {}, "a trip count"}); }

  void add_demands(MlirOperation operation) {
    const std::string_view kind = ir_.name(operation);
    const std::vector<MlirValue> operands = ir_.operands(operation);
    if (kind == "tensor.extract" || kind == "tensor.insert") {
      const std::size_t tensor = kind == "tensor.extract" ? 0 : 1;
      for (std::size_t d = 0; d + tensor + 1 < operands.size(); ++d)
        demands_.push_back(
            {operands[d + tensor + 1], last_index(operands[tensor], d, std::int64_t{1})});
    } else if (kind == "tensor.extract_slice" || kind == "tensor.insert_slice") {
      add_slice(operation, operands, kind == "tensor.extract_slice" ? 0 : 1);
    } else if (kind == "iree_linalg_ext.gather" && operands.size() >= 3) {
      add_mapped(operation, operands[0], operands[1]);
    } else if (kind == "iree_linalg_ext.scatter" && operands.size() >= 3) {
      add_mapped(operation, operands[2], operands[1]);
    } else if (is_any_of(kind, {"tensor.empty", "bufferization.alloc_tensor", "tensor.generate"})) {
      for (const MlirValue operand : operands) shape(operand);
    } else if (is_any_of(kind, {"tensor.expand_shape", "tensor.reshape", "tensor.splat",
                                "flow.tensor.reshape", "flow.tensor.splat"})) {
      for (std::size_t i = 1; i < operands.size(); ++i) shape(operands[i]);
    } else if (kind == "tensor.pad") {
      // The last operand of a region's yield is no operand here.
      for (std::size_t i = 1; i < operands.size(); ++i) shape(operands[i]);
    } else if (kind == "scf.for") {
      for (std::size_t i = 0; i < 3 && i < operands.size(); ++i) trips(operands[i]);
    } else if (kind == "scf.condition" && !operands.empty()) {
      trips(operands[0]);
    }
  }

  void add_slice(MlirOperation operation, const std::vector<MlirValue>& operands,
                 std::size_t tensor) {
    const std::vector<std::int64_t> offsets =
        ir_.long_integers(ir_.attribute(operation, "static_offsets"));
    const std::vector<std::int64_t> sizes =
        ir_.long_integers(ir_.attribute(operation, "static_sizes"));
    const std::vector<std::int64_t> strides =
        ir_.long_integers(ir_.attribute(operation, "static_strides"));
    constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::min();
    std::size_t next = tensor + 1;
    for (std::size_t d = 0; d < offsets.size(); ++d) {
      if (offsets[d] != kOpen || next >= operands.size()) continue;
      const bool known = d < sizes.size() && sizes[d] != kOpen && strides[d] != kOpen;
      demands_.push_back({operands[next++],
                          known ? last_index(operands[tensor], d, (sizes[d] - 1) * strides[d] + 1)
                                : std::nullopt});
    }
    for (; next < operands.size(); ++next) shape(operands[next]);
  }

  // Columns of `indices` are for dimensions of `tensor`: all have the smallest one's range.
  void add_mapped(MlirOperation operation, MlirValue tensor, MlirValue indices) {
    Demand demand{indices, kUnbounded};
    for (const std::int64_t d : ir_.long_integers(ir_.attribute(operation, "dimension_map"))) {
      const auto most = last_index(tensor, static_cast<std::size_t>(d), 1);
      if (!most) demand.most.reset();
      if (most && demand.most) demand.most = std::min(*demand.most, *most);
    }
    demands_.push_back(demand);
  }

  // The access to a piece of `size` elements in dimension `d`.
  std::optional<double> last_index(MlirValue tensor, std::size_t d, std::int64_t size) const {
    const std::int64_t extent = reached_.extent_of(tensor, d);
    if (extent == problem::kDynamic) return std::nullopt;
    return static_cast<double>(extent - size);
  }

  const Ir& ir_;
  const ReachedOperations& reached_;
  std::vector<Demand> demands_;
};

}  // namespace

std::vector<Demand> access_demands(const Ir& ir, const ReachedOperations& reached) {
  return DemandReader(ir, reached).read();
}

}  // namespace hone::iree
