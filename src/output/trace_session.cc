#include "output/trace_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace hone::output {
namespace {

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
    const Track& track = tracks[track_of(stretch.activity)];
    trace.add_slice(track, "session", std::string(name_of(stretch.activity)), from, to);
    if (!stretch.what.empty()) trace.add_slice(track, "round", stretch.what, from, to);
    from = to;
  }
}

Json arguments_of(const Timeline::CompileJob& job, const CandidatesById& candidates) {
  Json arguments = {{"candidate", job.candidate}, {"failed", job.failed}};
  const auto found = candidates.find(job.candidate);
  if (found == candidates.end()) return arguments;
  const store::CandidateRow& row = found->second;
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
void add_stages(TraceEvents& trace, const Track& track, const Timeline::CompileJob& job,
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

// The store does not say which process ran a job. Each job is drawn on the first track that is
// free, so that there are as many tracks as jobs ran at once.
void add_compiles(TraceEvents& trace, int process, const Timeline& timeline, double begin,
                  const CandidatesById& candidates) {
  std::vector<Timeline::CompileJob> jobs = timeline.compiles;
  std::ranges::stable_sort(jobs, {}, &Timeline::CompileJob::begin);
  std::vector<std::pair<Track, double>> workers;  // with the end of its last job
  for (const Timeline::CompileJob& job : jobs) {
    auto worker = std::ranges::find_if(
        workers, [&job](const auto& each) { return each.second <= job.begin; });
    if (worker == workers.end())
      worker = workers.insert(
          worker,
          {trace.add_thread(process, fmt::format("compile worker {}", workers.size() + 1)), 0});
    worker->second = job.begin + job.seconds;
    trace.add_slice(worker->first, "compiling", fmt::format("candidate {}", job.candidate),
                    begin + job.begin, begin + worker->second, arguments_of(job, candidates));
    if (!job.failed) add_stages(trace, worker->first, job, begin + job.begin);
  }
}

}  // namespace

void add_session(TraceEvents& trace, int process, const Timeline& timeline, double begin,
                 const CandidatesById& candidates) {
  add_phases(trace, process, timeline, begin);
  add_compiles(trace, process, timeline, begin, candidates);
}

}  // namespace hone::output
