#include "trial/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace hone::trial {
namespace {

constexpr double kMicro = 1e6;

std::int64_t to_microseconds(double seconds) {
  return std::llround(seconds * kMicro);
}

double seconds_in(const nlohmann::json& json) {
  return static_cast<double>(exact<std::int64_t>(json)) / kMicro;
}

// Names in the order of the activities.
constexpr std::array<std::string_view, kActivities> kActivityNames = {
    "search and store", "split",     "calibrate", "prepare", "wait for compiles", "load", "verify",
    "measure",          "finalists", "baselines", "program"};

Activity activity_called(const std::string& name) {
  const auto found = std::ranges::find(kActivityNames, name);
  if (found == kActivityNames.end()) refuse_json("'" + name + "' is no phase of a session");
  return static_cast<Activity>(found - kActivityNames.begin());
}

}  // namespace

std::string_view name_of(Activity activity) {
  return kActivityNames[static_cast<std::size_t>(activity)];
}

// A long session has tens of thousands of rows, so they are arrays, and phases numbers in a list of
// their names.
void to_json(nlohmann::json& json, const Timeline& timeline) {
  json = {{"phases", kActivityNames},
          {"session", nlohmann::json::array()},
          {"compiles", nlohmann::json::array()},
          {"jobs", nlohmann::json::array()}};
  for (const Timeline::Stretch& stretch : timeline.stretches) {
    nlohmann::json row = {static_cast<std::size_t>(stretch.activity), to_microseconds(stretch.end)};
    if (!stretch.what.empty()) row.push_back(stretch.what);
    json["session"].push_back(std::move(row));
  }
  for (const Timeline::CompileJob& job : timeline.compiles)
    json["compiles"].push_back(
        {job.candidate, to_microseconds(job.begin), to_microseconds(job.seconds),
         job.failed ? 1 : 0, to_microseconds(job.stages.configure),
         to_microseconds(job.stages.translate), to_microseconds(job.stages.serialize),
         to_microseconds(job.stages.assemble)});
  for (const Timeline::Job& job : timeline.jobs)
    json["jobs"].push_back({job.kind, to_microseconds(job.begin), to_microseconds(job.seconds)});
}

void from_json(const nlohmann::json& json, Timeline& timeline) {
  timeline = {};
  std::vector<Activity> phases;
  for (const nlohmann::json& name : json.at("phases"))
    phases.push_back(activity_called(name.get<std::string>()));
  for (const nlohmann::json& row : json.at("session")) {
    const auto phase = exact<std::size_t>(row.at(0));
    if (phase >= phases.size()) refuse_json("there is no phase " + std::to_string(phase));
    timeline.stretches.push_back({phases[phase], seconds_in(row.at(1)),
                                  row.size() > 2 ? row.at(2).get<std::string>() : std::string()});
  }
  for (const nlohmann::json& row : json.at("compiles"))
    timeline.compiles.push_back({exact<std::int64_t>(row.at(0)),
                                 seconds_in(row.at(1)),
                                 seconds_in(row.at(2)),
                                 exact<int>(row.at(3)) != 0,
                                 {seconds_in(row.at(4)), seconds_in(row.at(5)),
                                  seconds_in(row.at(6)), seconds_in(row.at(7))}});
  for (const nlohmann::json& row : json.at("jobs"))
    timeline.jobs.push_back(
        {row.at(0).get<std::string>(), seconds_in(row.at(1)), seconds_in(row.at(2))});
}

}  // namespace hone::trial
