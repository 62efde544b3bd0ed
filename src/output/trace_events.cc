#include "output/trace_events.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace hone::output {

void TraceEvents::add_name(const Track& track, const std::string& of, const std::string& name,
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

int TraceEvents::add_process(const std::string& name) {
  const int process = static_cast<int>(threads_.size()) + 1;
  threads_[process] = 0;
  add_name({process, process}, "process", name, process);
  return process;
}

Track TraceEvents::add_thread(int process, const std::string& name) {
  const int place = ++threads_[process];
  // A thread's number is its own in the whole trace.
  constexpr int kMostThreads = 10'000;
  const Track track{process, process * kMostThreads + place};
  add_name(track, "thread", name, place);
  return track;
}

void TraceEvents::add_slice(const Track& track, const std::string& category,
                            const std::string& name, double begin, double end, Json arguments) {
  slices_.push_back({track, category, name, begin, end, std::move(arguments)});
}

Json TraceEvents::document() const {
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

}  // namespace hone::output
