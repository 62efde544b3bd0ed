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
  std::vector<std::pair<Track, double>> workers;  // with the end of its last job
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

}  // namespace

void add_session(TraceEvents& trace, int process, const Timeline& timeline, double begin,
                 const CandidatesById& candidates) {
  add_phases(trace, process, timeline, begin);
  add_compiles(trace, process, timeline, begin, candidates);
}

}  // namespace hone::output
