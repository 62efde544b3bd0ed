#include "provider/iree/spec_upgrade/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>

namespace hone::iree {
namespace {

void distribute(const std::string& kinds, char kind, const std::vector<long>& tiles, long count,
                long extent, Distribution& distribution) {
  const auto last = kinds.rfind(kind);
  for (std::size_t loop = 0; last != std::string::npos && loop <= last; ++loop) {
    if (kinds[loop] != kind) continue;
    const long tile = tiles[loop], unit = loop == last ? extent : 1;
    if (tile == 0 && count != 1)
      distribution.fail(
          fmt::format("{} subgroups along loop {}, which it does not tile", count, loop));
    if (tile % unit != 0)
      distribution.fail(
          fmt::format("tile {} of loop {} is no multiple of the intrinsic's {}", tile, loop, unit));
    distribution.counts[loop] = tile == 0 ? 1 : std::gcd(count, tile / unit);
    count /= std::max(distribution.counts[loop], 1L);
  }
  distribution.repeats *= count;
}

}  // namespace

std::string intrinsic_of(const std::string& layout) {
  const MlirFields fields = MlirFields::of(layout);
  return fields.all().empty() ? "" : fields.all().front().key;
}

std::optional<std::array<long, 3>> shape_of(const std::string& intrinsic) {
  std::size_t from = 0;
  while (from < intrinsic.size()) {
    const std::size_t end = std::min(intrinsic.find('_', from), intrinsic.size());
    std::array<long, 3> shape = {};
    std::size_t count = 0;
    const char* at = intrinsic.data() + from;
    const char* const last = intrinsic.data() + end;
    while (count < shape.size()) {
      const auto [next, error] = std::from_chars(at, last, shape[count]);
      if (error != std::errc()) break;
      at = next;
      if (++count < shape.size() && (at == last || *at++ != 'x')) break;
    }
    if (count == shape.size() && at == last) return shape;
    from = end + 1;
  }
  return std::nullopt;
}

std::optional<Schedule> schedule_in(const MlirFields& fields, const std::string& layout_key) {
  const auto m = integer_of(fields.value("subgroup_m_count")),
             n = integer_of(fields.value("subgroup_n_count"));
  if (!m || !n) return std::nullopt;
  return Schedule{fields.value(layout_key),
                  *m,
                  *n,
                  integer_of(fields.value("subgroup_m_tile_count")),
                  integer_of(fields.value("subgroup_n_tile_count")),
                  integer_of(fields.value("subgroup_k_tile_count"))};
}

Distribution distribution_of(const std::string& kinds, const std::vector<long>& tiles,
                             const Schedule& schedule, const std::array<long, 3>& shape) {
  Distribution distribution;
  distribution.counts.assign(kinds.size(), 1);
  for (std::size_t loop = 0; loop < kinds.size(); ++loop)
    if (kinds[loop] == 'B' && tiles[loop] > 1)
      distribution.fail(
          fmt::format("tile {} of loop {}, which is of both operands", tiles[loop], loop));
  distribute(kinds, 'M', tiles, schedule.m_count, shape[0], distribution);
  distribute(kinds, 'N', tiles, schedule.n_count, shape[1], distribution);
  return distribution;
}

std::string basis_text(const std::vector<long>& counts, std::optional<std::size_t> without) {
  std::vector<long> mapping;
  for (std::size_t loop = 0; loop < counts.size(); ++loop)
    if (loop != without) mapping.push_back(static_cast<long>(loop));
  return fmt::format("[{}, {}]", list_of(counts), list_of(mapping));
}

long product_of(const std::vector<long>& values) {
  return std::accumulate(values.begin(), values.end(), 1L, std::multiplies<>());
}

}  // namespace hone::iree
