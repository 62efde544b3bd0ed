// Trace events in Chrome's JSON format, which Perfetto reads:
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#pragma once

#include <map>
#include <string>
#include <vector>

#include "output/report_json.h"

namespace hone::output {

// A row of the picture. A process is a group of threads, which are in the order in which they are
// made.
struct Track {
  int process = 0, thread = 0;
};

// Collects the events of one trace. Times are seconds since any moment that all share.
class TraceEvents {
 public:
  // Returns the number of a new process with this title.
  int add_process(const std::string& name);
  Track add_thread(int process, const std::string& name);
  // Adds a slice. Slices of one track must lie inside each other, the outer one first, or apart.
  void add_slice(const Track& track, const std::string& category, const std::string& name,
                 double begin, double end, Json arguments = Json::object());

  // {"displayTimeUnit", "traceEvents"}. Times are whole microseconds since the first slice:
  // Perfetto rounds fractions, and slices that touch would overlap.
  Json document() const;

 private:
  struct Slice {
    Track track;
    std::string category, name;
    double begin, end;
    Json arguments;
  };
  void add_name(const Track& track, const std::string& of, const std::string& name, int place);

  Json names_ = Json::array();
  std::vector<Slice> slices_;
  std::map<int, int> threads_;  // their number, by process
};

}  // namespace hone::output
