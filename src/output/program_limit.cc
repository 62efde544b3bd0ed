#include "output/program_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hone::output {
namespace {

using Split = std::vector<const store::DispatchRow*>;

// Returns the program's dispatches by build. A row without a device was only compiled, and counts
// on every device.
std::map<store::Id, Split> splits_of(const std::map<store::Id, std::int64_t>& launches,
                                     const std::vector<store::DispatchRow>& rows,
                                     store::Id device) {
  std::map<store::Id, Split> splits;
  Split untried;
  for (const store::DispatchRow& row : rows) {
    if (!launches.contains(row.dispatch) || row.device.value_or(device) != device) continue;
    (row.build == 0 ? untried : splits[row.build]).push_back(&row);
  }
  if (splits.empty() && !untried.empty()) splits.try_emplace(0);
  if (splits.size() == 1)
    splits.begin()->second.insert(splits.begin()->second.end(), untried.begin(), untried.end());
  return splits;
}

std::string why_unknown(const store::DispatchRow& row, const Peaks& peaks) {
  if (!peaks.f32 || !peaks.bandwidth) return "the device's peaks were not measured";
  if (!has_known_peak(row, peaks))
    return fmt::format("the device's peak for {} is not known ({})", row.input_type, row.name);
  return fmt::format("neither operations nor bytes of {} are known", row.name);
}

// Returns the least seconds of a launch that neither the roofline nor a measurement contradicts.
std::optional<double> least_seconds(const store::DispatchRow& row, const Peaks& peaks) {
  std::optional<double> least =
      has_known_peak(row, peaks) ? roofline_seconds(row, peaks) : std::nullopt;
  for (const std::optional<store::CandidateRow>* timed : {&row.default_row, &row.best})
    if (least && *timed && (*timed)->median_seconds)
      least = std::min(*least, *(*timed)->median_seconds);
  return least;
}

}  // namespace

std::vector<ProgramLimit> program_limits(const std::vector<store::ProgramDispatch>& launches,
                                         const std::vector<store::DispatchRow>& rows,
                                         store::Id device, const Peaks& peaks) {
  std::map<store::Id, std::int64_t> launches_of;
  for (const store::ProgramDispatch& each : launches)
    launches_of[each.dispatch] = each.launches_per_call;
  std::vector<ProgramLimit> limits;
  for (const auto& [build, split] : splits_of(launches_of, rows, device)) {
    ProgramLimit& limit = limits.emplace_back(ProgramLimit{.build = build, .seconds = 0.0});
    for (const store::DispatchRow* const row : split) {
      const std::int64_t count = launches_of[row->dispatch];
      if (count == 0) continue;
      const std::optional<double> least = least_seconds(*row, peaks);
      if (!least) {
        limit = {.build = build, .why_unknown = why_unknown(*row, peaks)};
        break;
      }
      *limit.seconds += static_cast<double>(count) * *least;
    }
  }
  return limits;
}

}  // namespace hone::output
