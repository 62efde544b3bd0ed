#include "output/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/decode_json.h"
#include "base/file.h"
#include "output/trace_program.h"
#include "output/trace_session.h"

namespace hone::output {
namespace {

// Returns the seconds from 1970 to a time of the store ("2026-01-31T12:00:00.123Z").
Result<double> seconds_at(const std::string& time) {
  int year = 0, hour = 0, minute = 0;
  unsigned month = 0, day = 0;
  double second = 0;
  if (std::sscanf(time.c_str(), "%d-%u-%uT%d:%d:%lfZ", &year, &month, &day, &hour, &minute,
                  &second) != 6)
    return input_error("the store has a time '{}', which means nothing here", time);
  const std::chrono::sys_days days =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return std::chrono::duration<double>(days.time_since_epoch()).count() + 3600.0 * hour +
         60.0 * minute + second;
}

// A timeline and when it began.
struct PlacedTimeline {
  trial::Timeline timeline;
  double begin = 0;
};

// Returns the run's timeline; none if it has none. It is written as the run ends.
Result<std::optional<PlacedTimeline>> timeline_of(store::Store& store, store::Id run) {
  HONE_ASSIGN(const std::vector<store::Event> events, store.events(run));
  for (const store::Event& event : events) {
    if (event.kind != store::kTimelineEvent) continue;
    auto timeline = decode_json<trial::Timeline>(parse_json(event.text));
    if (!timeline)
      return input_error("the timeline of run {} in the store {}", run, timeline.error().message);
    HONE_ASSIGN(const double end, seconds_at(event.when));
    const double begin = end - timeline->seconds();
    return std::optional(PlacedTimeline{std::move(*timeline), begin});
  }
  return std::optional<PlacedTimeline>();
}

Result<CandidatesById> candidates_in(store::Store& store) {
  HONE_ASSIGN(std::vector<store::CandidateRow> rows, store.candidate_rows());
  CandidatesById candidates;
  for (store::CandidateRow& row : rows) candidates.try_emplace(row.candidate, std::move(row));
  return candidates;
}

Status add_run(TraceEvents& trace, store::Store& store, const store::Run& run,
               const CandidatesById& candidates) {
  HONE_ASSIGN(const std::optional<PlacedTimeline> placed, timeline_of(store, run.id));
  HONE_ASSIGN(const double started, seconds_at(run.started));
  HONE_ASSIGN(const double ended,
              run.ended.empty() ? Result<double>(started) : seconds_at(run.ended));
  const int process = trace.add_process(fmt::format("run {}: {}", run.id, run.command));
  Json arguments = {{"command", run.command}, {"version", run.version}, {"seed", run.seed}};
  if (!placed) arguments["timeline"] = "none: the run was killed, or an older hone made it";
  const double begin = placed ? placed->begin : started;
  trace.add_slice(trace.add_thread(process, "run"), "run", std::string(name_of(run.state)), begin,
                  std::max(begin, ended), std::move(arguments));
  if (placed) add_session(trace, process, placed->timeline, begin, candidates);
  return add_builds(trace, store, run, begin);
}

}  // namespace

Result<Json> trace_of(store::Store& store) {
  HONE_ASSIGN(const std::vector<store::Run> runs, store.runs());
  if (runs.empty())
    return input_error("the store '{}' holds no run, so there is nothing to trace",
                       store.path().string());
  HONE_ASSIGN(const CandidatesById candidates, candidates_in(store));
  TraceEvents trace;
  for (const store::Run& run : runs) HONE_TRY(add_run(trace, store, run, candidates));
  return trace.document();
}

Status write_trace(store::Store& store, const std::filesystem::path& file) {
  HONE_ASSIGN(const Json trace, trace_of(store));
  return write_file_atomically(
      file, trace.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n");
}

}  // namespace hone::output
