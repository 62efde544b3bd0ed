#include "output/trace_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "output/measured_dispatch.h"

namespace hone::output {
namespace {

using Places = std::map<store::Id, store::ProgramDispatch>;  // by dispatch

bool is_shipped(const MeasuredDispatch& dispatch) {
  return dispatch.beaten && dispatch.row.selection && dispatch.row.selection->shipped;
}

// Adds the launches of a call, one slice for all launches of a dispatch: the store does not hold
// their order.
void add_launches(TraceEvents& trace, const Track& track, double begin, bool tuned,
                  const Places& places, std::vector<MeasuredDispatch> dispatches) {
  std::erase_if(dispatches, [&](const MeasuredDispatch& each) {
    return !each.default_seconds || !places.contains(each.row.dispatch);
  });
  std::ranges::stable_sort(dispatches, {}, [&](const MeasuredDispatch& each) {
    return places.at(each.row.dispatch).ordinal;
  });
  double from = begin;
  for (const MeasuredDispatch& each : dispatches) {
    const bool ships = tuned && is_shipped(each) && each.tuned_seconds;
    const double seconds = ships ? *each.tuned_seconds : *each.default_seconds;
    const std::int64_t launches = places.at(each.row.dispatch).launches_per_call;
    Json arguments = {
        {"operation", each.row.operation}, {"launches", launches}, {"seconds_per_launch", seconds}};
    arguments["candidate"] = ships ? Json(*each.row.selection->winner) : Json("default");
    const double to = from + static_cast<double>(launches) * seconds;
    trace.add_slice(track, "launches", each.row.name, from, to, std::move(arguments));
    from = to;
  }
}

Result<Places> places_in(store::Store& store, store::Id program) {
  HONE_ASSIGN(const std::vector<store::ProgramDispatch> rows, store.program_dispatches(program));
  Places places;
  for (const store::ProgramDispatch& row : rows) places[row.dispatch] = row;
  return places;
}

}  // namespace

Status add_builds(TraceEvents& trace, store::Store& store, const store::Run& run, double begin) {
  if (!run.program) return {};
  HONE_ASSIGN(const store::Program program, store.program(*run.program));
  HONE_ASSIGN(const Places places, places_in(store, program.id));
  HONE_ASSIGN(const std::vector<store::ProgramMeasurement> rows,
              store.program_measurements(program.id));
  const std::string name = std::filesystem::path(program.path).filename().string();
  for (const store::ProgramMeasurement& row : rows) {
    if (row.run != run.id || row.purpose != store::Purpose::kProof || row.timing.samples.empty())
      continue;
    const double seconds = row.timing.median;
    const int process = trace.add_process(fmt::format("run {}: a call of {}, {}: {}", run.id, name,
                                                      row.variant, format_duration(seconds)));
    Json arguments = {{"verdict", row.verdict}, {"rounds", row.timing.samples.size()}};
    if (row.ratio && *row.ratio > 0) arguments["speedup"] = 1 / *row.ratio;
    trace.add_slice(trace.add_thread(process, "call"), "call", row.variant, begin, begin + seconds,
                    std::move(arguments));
    HONE_ASSIGN(std::vector<MeasuredDispatch> dispatches,
                measured_dispatches(store, program.id, row.build, row.device));
    add_launches(trace, trace.add_thread(process, "launches"), begin, !row.spec.empty(), places,
                 std::move(dispatches));
  }
  return {};
}

}  // namespace hone::output
