#include "output/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "output/measured_dispatch.h"
#include "trial/timeline.h"

namespace hone::output {
namespace {

// A row of the picture. A process is a group of threads, which are in the order in which they are
// made.
struct TraceTrack {
  int process = 0, thread = 0;
};

// Trace events in Chrome's JSON format, which Perfetto reads:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
// Collects the events of one trace. Times are seconds since any moment that all share.
class TraceEvents {
 public:
  // Returns the number of a new process with this title.
  int add_process(const std::string& name) {
    const int process = static_cast<int>(threads_.size()) + 1;
    threads_[process] = 0;
    add_name({process, process}, "process", name, process);
    return process;
  }
  TraceTrack add_thread(int process, const std::string& name) {
    const int place = ++threads_[process];
    // A thread's number is its own in the whole trace.
    constexpr int kMostThreads = 10'000;
    const TraceTrack track{process, process * kMostThreads + place};
    add_name(track, "thread", name, place);
    return track;
  }
  // Adds a slice. Slices of one track must lie inside each other, the outer one first, or apart.
  void add_slice(const TraceTrack& track, const std::string& category, const std::string& name,
                 double begin, double end, Json arguments = Json::object()) {
    slices_.push_back({track, category, name, begin, end, std::move(arguments)});
  }

  // {"displayTimeUnit", "traceEvents"}. Times are whole microseconds since the first slice:
  // Perfetto rounds fractions, and slices that touch would overlap.
  Json document() const {
    double first = std::numeric_limits<double>::infinity();
    for (const Slice& slice : slices_) first = std::min(first, slice.begin);
    const auto microseconds = [first](double time) -> std::int64_t {
      return std::llround(1e6 * (time - first));
    };
    Json events = names_;
    for (const Slice& slice : slices_)
      events.push_back({{"ph", "X"},
                        {"cat", slice.category},
                        {"name", slice.name},
                        {"pid", slice.track.process},
                        {"tid", slice.track.thread},
                        {"ts", microseconds(slice.begin)},
                        {"dur", microseconds(slice.end) - microseconds(slice.begin)},
                        {"args", slice.arguments}});
    return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  }

 private:
  struct Slice {
    TraceTrack track;
    std::string category, name;
    double begin, end;
    Json arguments;
  };
  void add_name(const TraceTrack& track, const std::string& of, const std::string& name,
                int place) {
    const auto add = [&](const std::string& what, Json arguments) {
      names_.push_back({{"ph", "M"},
                        {"name", what},
                        {"pid", track.process},
                        {"tid", track.thread},
                        {"args", std::move(arguments)}});
    };
    add(of + "_name", {{"name", name}});
    add(of + "_sort_index", {{"sort_index", place}});
  }

  Json names_ = Json::array();
  std::vector<Slice> slices_;
  std::map<int, int> threads_;  // their number, by process
};

using CandidatesById = std::map<store::Id, store::CandidateView>;

using trial::Activity;
using trial::Timeline;

std::size_t track_of(Activity activity) {
  switch (activity) {
    case Activity::kOther:
    case Activity::kSplit:
    case Activity::kPrepare:
      return 0;
    case Activity::kWait:
      return 2;
    default:
      return 1;
  }
}

void add_phases(TraceEvents& trace, int process, const Timeline& timeline, double begin) {
  const std::array tracks = {trace.add_thread(process, "tuner"),
                             trace.add_thread(process, "device"),
                             trace.add_thread(process, "waits")};
  double from = begin;
  for (const Timeline::Stretch& stretch : timeline.stretches) {
    const double to = begin + stretch.end;
    const TraceTrack& track = tracks[track_of(stretch.activity)];
    trace.add_slice(track, "session", std::string(name_of(stretch.activity)), from, to);
    if (!stretch.what.empty()) trace.add_slice(track, "round", stretch.what, from, to);
    from = to;
  }
}

Json arguments_of(const Timeline::CompileJob& job, const CandidatesById& candidates) {
  Json arguments = {{"candidate", job.candidate}, {"failed", job.failed}};
  const auto found = candidates.find(job.candidate);
  if (found == candidates.end()) return arguments;
  const store::CandidateView& row = found->second;
  arguments["dispatch"] = row.dispatch_name;
  arguments["provider"] = row.provider;
  arguments["configuration"] = row.configuration;
  arguments["state"] = store::name_of(row.state);
  if (!row.failure_kind.empty()) arguments["failure"] = row.failure_kind;
  if (row.median_seconds) arguments["median_seconds"] = *row.median_seconds;
  return arguments;
}

// A provider reports how long the stages took, not when. They are drawn at the end of the compile,
// behind the fork.
void add_stages(TraceEvents& trace, const TraceTrack& track, const Timeline::CompileJob& job,
                double begin) {
  const trial::CompileStages& stages = job.stages;
  const double end = begin + job.seconds;
  const double rest =
      job.seconds - stages.configure - stages.translate - stages.serialize - stages.assemble;
  double from = begin;
  for (const auto& [name, seconds] : {std::pair{"fork and answer", rest},
                                      {"configure", stages.configure},
                                      {"translate", stages.translate},
                                      {"serialize", stages.serialize},
                                      {"assemble", stages.assemble}}) {
    if (seconds <= 0) continue;
    const double to = std::min(from + seconds, end);
    trace.add_slice(track, "stage", name, from, to);
    from = to;
  }
}

// Job of a compile worker: a candidate, or one of another kind.
struct WorkerJob {
  double begin = 0, seconds = 0;
  const Timeline::CompileJob* candidate = nullptr;
  std::string kind = {};
};

std::vector<WorkerJob> jobs_by_begin(const Timeline& timeline) {
  std::vector<WorkerJob> jobs;
  for (const Timeline::CompileJob& job : timeline.compiles)
    jobs.push_back({job.begin, job.seconds, &job});
  for (const Timeline::Job& job : timeline.jobs)
    jobs.push_back({job.begin, job.seconds, nullptr, job.kind});
  std::ranges::stable_sort(jobs, {}, &WorkerJob::begin);
  return jobs;
}

// The store does not say which process ran a job. Each job is drawn on the first track that is
// free, so that there are as many tracks as jobs ran at once.
void add_compiles(TraceEvents& trace, int process, const Timeline& timeline, double begin,
                  const CandidatesById& candidates) {
  std::vector<std::pair<TraceTrack, double>> workers;  // with the end of its last job
  for (const WorkerJob& job : jobs_by_begin(timeline)) {
    auto worker = std::ranges::find_if(
        workers, [&job](const auto& each) { return each.second <= job.begin; });
    if (worker == workers.end())
      worker = workers.insert(
          worker,
          {trace.add_thread(process, fmt::format("compile worker {}", workers.size() + 1)), 0});
    worker->second = job.begin + job.seconds;
    const double from = begin + job.begin, to = begin + worker->second;
    if (job.candidate == nullptr) {
      trace.add_slice(worker->first, "job", job.kind, from, to);
      continue;
    }
    trace.add_slice(worker->first, "compiling",
                    fmt::format("candidate {}", job.candidate->candidate), from, to,
                    arguments_of(*job.candidate, candidates));
    if (!job.candidate->failed) add_stages(trace, worker->first, *job.candidate, from);
  }
}

using Places = std::map<store::Id, store::ProgramDispatch>;  // by dispatch

bool is_shipped(const MeasuredDispatch& dispatch) {
  return dispatch.beaten && dispatch.row.selection && dispatch.row.selection->shipped;
}

// Adds the launches of a call, one slice for all launches of a dispatch: the store does not hold
// their order.
void add_launches(TraceEvents& trace, const TraceTrack& track, double begin, bool tuned,
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

// Adds a process for each build of the program that the run has timed in its proof, the default's
// first, with the tracks of trace_file.h beginning at `begin`.
Status add_builds(TraceEvents& trace, store::Store& store, const store::Run& run, double begin) {
  if (!run.program) return {};
  HONE_ASSIGN(const store::ProgramRow program, store.program(*run.program));
  HONE_ASSIGN(const std::vector<store::ProgramDispatch> dispatched,
              store.program_dispatches(program.id));
  Places places;
  for (const store::ProgramDispatch& each : dispatched) places[each.dispatch] = each;
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
  HONE_ASSIGN(const std::vector<store::EventRow> events, store.events(run));
  for (const store::EventRow& event : events) {
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
  if (placed) {
    add_phases(trace, process, placed->timeline, begin);
    add_compiles(trace, process, placed->timeline, begin, candidates);
  }
  return add_builds(trace, store, run, begin);
}

}  // namespace

Result<Json> trace_of(store::Store& store) {
  HONE_ASSIGN(const std::vector<store::Run> runs, store.runs());
  if (runs.empty())
    return input_error("the store '{}' holds no run, so there is nothing to trace",
                       store.path().string());
  HONE_ASSIGN(std::vector<store::CandidateView> rows, store.candidate_rows());
  CandidatesById candidates;
  for (store::CandidateView& row : rows) candidates.try_emplace(row.candidate, std::move(row));
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
