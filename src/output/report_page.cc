#include "output/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "output/json_text.h"
#include "output/report_dispatch.h"

namespace hone::output {
namespace {

using Split = std::vector<const store::DispatchView*>;

// Returns the program's dispatches by build. A row without a device was only compiled, and counts
// on every device.
std::map<store::Id, Split> splits_of(const std::map<store::Id, std::int64_t>& launches,
                                     const std::vector<store::DispatchView>& rows,
                                     store::Id device) {
  std::map<store::Id, Split> splits;
  Split untried;
  for (const store::DispatchView& row : rows) {
    if (!launches.contains(row.dispatch) || row.device.value_or(device) != device) continue;
    (row.build == 0 ? untried : splits[row.build]).push_back(&row);
  }
  if (splits.empty() && !untried.empty()) splits.try_emplace(0);
  if (splits.size() == 1)
    splits.begin()->second.insert(splits.begin()->second.end(), untried.begin(), untried.end());
  return splits;
}

std::string why_unknown(const store::DispatchView& row, const Peaks& peaks) {
  if (!peaks.f32 || !peaks.bandwidth) return "the device's peaks were not measured";
  if (!has_known_peak(row, peaks))
    return fmt::format("the device's peak for {} is not known ({})", row.input_type, row.name);
  return fmt::format("neither operations nor bytes of {} are known", row.name);
}

// Returns the least seconds of a launch that neither the roofline nor a measurement contradicts.
std::optional<double> least_seconds(const store::DispatchView& row, const Peaks& peaks) {
  std::optional<double> least =
      has_known_peak(row, peaks) ? roofline_seconds(row, peaks) : std::nullopt;
  for (const std::optional<store::CandidateView>* timed : {&row.default_row, &row.best})
    if (least && *timed && (*timed)->median_seconds)
      least = std::min(*least, *(*timed)->median_seconds);
  return least;
}

Json measurement_json(const store::ProgramMeasurement& row, Words& specs) {
  const bool measured = !row.timing.samples.empty();
  return {{"run", or_null(row.run)},
          {"build", row.build},
          {"device", row.device},
          {"variant", (row.purpose == store::Purpose::kFlags ? "flags: " : "") + row.variant},
          {"spec", row.spec.empty() ? Json() : Json(specs.index(row.spec))},
          {"seconds", measured ? rounded(row.timing.median) : Json()},
          {"ratio", measured ? rounded(row.ratio) : Json()},
          {"ratio_low", measured ? rounded(row.ratio_low) : Json()},
          {"ratio_high", measured ? rounded(row.ratio_high) : Json()},
          {"right", or_null(row.right)},
          {"verdict", row.verdict},
          {"when", row.when}};
}

// Returns the program's limits on the devices that its measurements are of.
Result<Json> limits_json(store::Store& store, const std::vector<store::ProgramDispatch>& places,
                         const std::vector<store::DispatchView>& rows,
                         const std::set<store::Id>& devices) {
  Json list = Json::array();
  for (const store::Id device : devices) {
    HONE_ASSIGN(const Peaks peaks, peaks_of(store, device));
    for (const ProgramLimit& limit : program_limits(places, rows, device, peaks))
      list.push_back({{"device", device},
                      {"build", limit.build},
                      {"seconds", rounded(limit.seconds)},
                      {"why_unknown", limit.why_unknown}});
  }
  return list;
}

// Returns the programs with their measurements and limits. Adds the builds and devices of these to
// `builds` and `devices`.
Result<Json> programs_json(store::Store& store,
                           const std::vector<store::DispatchView>& dispatch_rows, Words& specs,
                           std::set<store::Id>& builds, std::set<store::Id>& devices) {
  Json list = Json::array();
  HONE_ASSIGN(const std::vector<store::ProgramRow> programs, store.programs());
  for (const store::ProgramRow& program : programs) {
    Json dispatches = Json::array(), measurements = Json::array();
    HONE_ASSIGN(const std::vector<store::ProgramDispatch> places,
                store.program_dispatches(program.id));
    for (const store::ProgramDispatch& place : places)
      dispatches.push_back({{"id", place.dispatch}, {"launches", place.launches_per_call}});
    HONE_ASSIGN(const std::vector<store::ProgramMeasurement> rows,
                store.program_measurements(program.id));
    std::set<store::Id> measured_on;
    for (const store::ProgramMeasurement& row : rows) {
      builds.insert(row.build);
      measured_on.insert(row.device);
      measurements.push_back(measurement_json(row, specs));
    }
    devices.insert(measured_on.begin(), measured_on.end());
    HONE_ASSIGN(const Json limits, limits_json(store, places, dispatch_rows, measured_on));
    list.push_back({{"id", program.id},
                    {"path", program.path},
                    {"dispatches", dispatches},
                    {"measurements", measurements},
                    {"limits", limits}});
  }
  return list;
}

Result<Json> runs_json(store::Store& store) {
  Json list = Json::array();
  HONE_ASSIGN(const std::vector<store::Run> runs, store.runs());
  for (const store::Run& run : runs) {
    Json events = Json::array();
    HONE_ASSIGN(const std::vector<store::EventRow> rows, store.events(run.id));
    for (const store::EventRow& event : rows)
      if (event.kind != store::kTimelineEvent)
        events.push_back({{"kind", event.kind}, {"text", parsed(event.text)}});
    list.push_back({{"id", run.id},
                    {"command", run.command},
                    {"version", run.version},
                    {"seed", run.seed},
                    {"program", or_null(run.program)},
                    {"started", run.started},
                    {"ended", run.ended},
                    {"state", store::name_of(run.state)},
                    {"events", events}});
  }
  return list;
}

Result<Json> builds_json(store::Store& store, const std::set<store::Id>& ids) {
  Json list = Json::array();
  for (const store::Id id : ids) {
    HONE_ASSIGN(const store::BuildRow build, store.build(id));
    list.push_back({{"id", id},
                    {"compiler", build.compiler},
                    {"flags", parsed(build.flags)},
                    {"target", parsed(build.target)}});
  }
  return list;
}

Result<Json> devices_json(store::Store& store, const std::set<store::Id>& ids) {
  Json list = Json::array();
  for (const store::Id id : ids) {
    HONE_ASSIGN(const store::DeviceRow device, store.device(id));
    HONE_ASSIGN(const std::vector<store::DeviceFact> rows, store.device_facts(id));
    Json facts = Json::array();
    for (const store::DeviceFact& fact : rows)
      facts.push_back({{"name", fact.name}, {"value", rounded(fact.value)}, {"unit", fact.unit}});
    list.push_back({{"id", id},
                    {"name", device.name},
                    {"driver", device.driver},
                    {"protocol", parsed(device.protocol)},
                    {"facts", facts}});
  }
  return list;
}

// Reads the search times of a dispatch's finalists, one query each: they are few.
Result<SearchTimes> search_times(store::Store& store, const store::DispatchView& row,
                                 const std::vector<store::CandidateView>& candidates) {
  SearchTimes times;
  for (const store::CandidateView& candidate : candidates) {
    if (!is_of(candidate, row) || candidate.phase != name_of(store::Phase::kFinalist)) continue;
    HONE_ASSIGN(const store::KnownResults known,
                store.known(candidate.candidate, row.device, store::Phase::kSearch));
    if (known.measurement)
      times[candidate.candidate] = {known.measurement->timing.median,
                                    known.measurement->sentinel_ratio};
  }
  return times;
}

Result<Json> dispatches_json(store::Store& store, const std::vector<store::DispatchView>& rows) {
  HONE_ASSIGN(const std::vector<store::CandidateView> candidates, store.candidate_rows());
  Json list = Json::array();
  for (const store::DispatchView& row : rows) {
    Peaks peaks;
    if (row.device) {
      HONE_ASSIGN(peaks, peaks_of(store, *row.device));
    }
    HONE_ASSIGN(const SearchTimes searched, search_times(store, row, candidates));
    list.push_back(report_dispatch(row, candidates, searched, peaks));
  }
  return list;
}

void replace_all(std::string& text, std::string_view wanted, std::string_view by) {
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + by.size()))
    text.replace(at, wanted.size(), by);
}

// Escapes "<" in the data. A compiler's message may hold "</script>" and "<!--", which end or
// confuse a script element anywhere. "<" occurs in strings only, where "\u003c" means the same.
std::string data_text(const Json& data) {
  std::string text = data.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

}  // namespace

std::vector<ProgramLimit> program_limits(const std::vector<store::ProgramDispatch>& launches,
                                         const std::vector<store::DispatchView>& rows,
                                         store::Id device, const Peaks& peaks) {
  std::map<store::Id, std::int64_t> launches_of = launches_per_call(launches);
  std::vector<ProgramLimit> limits;
  for (const auto& [build, split] : splits_of(launches_of, rows, device)) {
    ProgramLimit& limit = limits.emplace_back(ProgramLimit{.build = build, .seconds = 0.0});
    for (const store::DispatchView* const row : split) {
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

Result<Json> report_data(store::Store& store, const std::string& name) {
  HONE_ASSIGN(const std::vector<store::DispatchView> rows, store.dispatch_rows());
  HONE_ASSIGN(const std::vector<store::ProgramRow> stored, store.programs());
  if (rows.empty() && stored.empty())
    return input_error(
        "the store '{}' is empty, so there is nothing to report: 'hone tune INPUT --store {}' "
        "fills "
        "it",
        name, name);
  std::set<store::Id> builds, devices;
  for (const store::DispatchView& row : rows) {
    if (row.build != 0) builds.insert(row.build);
    if (row.device) devices.insert(*row.device);
  }
  Words specs;  // many measurements share one
  HONE_ASSIGN(const Json programs, programs_json(store, rows, specs, builds, devices));
  HONE_ASSIGN(const Json runs, runs_json(store));
  HONE_ASSIGN(const Json build_list, builds_json(store, builds));
  HONE_ASSIGN(const Json device_list, devices_json(store, devices));
  HONE_ASSIGN(const Json dispatches, dispatches_json(store, rows));
  return Json{{"schema_version", kReportVersion},
              {"store", name},
              {"builds", build_list},
              {"devices", device_list},
              {"programs", programs},
              {"runs", runs},
              {"specs", specs.list()},
              {"dispatches", dispatches}};
}

std::string report_page(const Json& data) {
  const std::string json = data_text(data);
  std::string page, style, scripts;
  for (const EmbeddedFile& file : report_files()) {
    if (file.name.ends_with(".html"))
      page = file.text;
    else if (file.name.ends_with(".css"))
      style = file.text;
    else
      scripts += std::string(file.text) + "\n";
  }
  // The nonce is a hash of the data, so that no text in the data can contain it.
  const std::string nonce = content_hash(json);
  // Insert the data last, so that no placeholder is searched in it.
  replace_all(page, "@NONCE@", nonce);
  page.replace(page.find("@STYLE@"), 7, style);
  page.replace(page.find("@SCRIPTS@"), 9, scripts);
  page.replace(page.find("@DATA@"), 6, json);
  return page;
}

Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file) {
  HONE_ASSIGN(const Json data, report_data(store, name));
  return write_file_atomically(file, report_page(data));
}

}  // namespace hone::output
