#include "output/gpu_report.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/ranges.h"
#include "base/text.h"

namespace hone::output {
namespace {

// Clocks this near to the highest get no note.
constexpr double kFullClock = 0.99;

// Returns the GPU state of a measurement (device::GpuState); missing values are null.
nlohmann::json state_after(const store::Measurement& measurement) {
  const auto machine = parse_json(measurement.machine);
  const nlohmann::json::json_pointer first("/after/gpus/0");
  return !machine.is_discarded() && machine.contains(first) ? machine[first]
                                                            : nlohmann::json::object();
}

std::optional<double> number(const nlohmann::json& state, const char* key) {
  const auto found = state.is_object() ? state.find(key) : state.end();
  if (found == state.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string reasons(const nlohmann::json& state) {
  std::string text;
  if (!state.is_object() || !state.contains("throttled") || !state["throttled"].is_array())
    return "";
  for (const nlohmann::json& reason : state["throttled"])
    if (reason.is_string()) text += (text.empty() ? "" : ", ") + reason.get<std::string>();
  return text;
}

// Returns the newest device state of the winner, else of the default, from the finalists' rounds if
// there are any.
Result<nlohmann::json> device_state(store::Store& store, const MeasuredDispatch& dispatch,
                                    store::Id device) {
  const std::optional<store::CandidateView>& row =
      dispatch.beaten ? dispatch.row.best : dispatch.row.default_row;
  if (!row) return nlohmann::json::object();
  for (const store::Phase phase : {store::Phase::kFinalist, store::Phase::kSearch}) {
    HONE_ASSIGN(const store::KnownResults known, store.known(row->candidate, device, phase));
    if (known.measurement) return state_after(*known.measurement);
  }
  return nlohmann::json::object();
}

Cell of_most(std::optional<double> value, std::optional<double> most, std::string_view unit) {
  if (!value) return {nullptr, "-"};
  if (!most) return {*value, fmt::format("{:.0f} {}", *value, unit)};
  return {*value, fmt::format("{:.0f} of {:.0f} {}", *value, *most, unit)};
}

Cell library_cell(const MeasuredDispatch& dispatch,
                  const std::optional<store::CandidateView>& library) {
  if (!library || !library->median_seconds) return {nullptr, "-"};
  const std::optional<double> over = library_over_tuned(dispatch, library);
  nlohmann::json value{{"seconds", *library->median_seconds}, {"over_tuned", nullptr}};
  if (over) value["over_tuned"] = *over;
  value["choice"] = parse_json(library->configuration);
  return {value, fmt::format("{}{}", format_duration(*library->median_seconds),
                             over ? fmt::format(" ({:.2f}x)", *over) : "")};
}

std::string tera(double value) {
  return value >= 100e12 ? fmt::format("{:.0f}", value * 1e-12)
                         : fmt::format("{:.3g}", value * 1e-12);
}

std::string roofline_note(const Peaks& peaks) {
  std::vector<std::string> parts;
  if (peaks.stated_matrix)
    parts.push_back(
        fmt::format("{} TFLOP/s on 16-bit floats (multiprocessors x operations per "
                    "clock x highest clock{})",
                    tera(*peaks.stated_matrix),
                    peaks.matrix ? fmt::format("; {} measured with mma.sync, which is "
                                               "what IREE emits",
                                               tera(*peaks.matrix))
                                 : ""));
  else if (peaks.matrix)
    parts.push_back(
        fmt::format("{} TFLOP/s on 16-bit floats (measured with mma.sync)", tera(*peaks.matrix)));
  if (peaks.f32) parts.push_back(fmt::format("{} TFLOP/s on f32 (measured)", tera(*peaks.f32)));
  if (peaks.bandwidth)
    parts.push_back(fmt::format("{} TB/s of memory (measured: a copy, read and write)",
                                tera(*peaks.bandwidth)));
  return parts.empty() ? "" : fmt::format("roofline: {}", fmt::join(parts, ", "));
}

std::vector<Column> gpu_columns(const std::vector<LibraryColumn>& libraries) {
  std::vector<Column> columns{{"dispatch", "on the GPU"},       {"tried", "tried", kRight},
                              {"compiled", "compiled", kRight}, {"not_run", "not run", kRight},
                              {"wrong", "wrong", kRight},       {"right", "right", kRight},
                              {"best_seconds", "best", kRight}, {"worst_seconds", "worst", kRight}};
  for (const LibraryColumn& library : libraries) {
    columns.push_back({library.provider + "_first", library.title + " first (/ best)", kRight});
    columns.push_back({library.provider + "_best", "its best (/ best)", kRight});
  }
  columns.insert(columns.end(), {{"share_of_roofline_percent", "of roofline", kRight},
                                 {"wall_seconds", "wall", kRight},
                                 {"idle_percent", "GPU idle", kRight},
                                 {"clock_megahertz", "clock", kRight},
                                 {"watts", "power", kRight},
                                 {"throttled", "held down by"},
                                 {"state", "", kLeft, false}});
  return columns;
}

std::string clock_note(const MeasuredDispatch& dispatch, const nlohmann::json& state) {
  const std::optional<double> clock = number(state, "megahertz"),
                              most = number(state, "most_megahertz"),
                              watts = number(state, "watts"), limit = number(state, "watt_limit");
  const std::string why = reasons(state);
  if (why.empty() && (!clock || !most || *clock >= kFullClock * *most)) return "";
  std::string note = fmt::format("{} ran at {} MHz", dispatch.row.name,
                                 clock ? fmt::format("{:.0f}", *clock) : "unknown");
  if (most) note += fmt::format(" of {:.0f}", *most);
  if (!why.empty()) note += fmt::format(", held down by: {}", why);
  if (watts && limit) note += fmt::format(" ({:.0f} of {:.0f} W)", *watts, *limit);
  return note;
}

}  // namespace

Result<GpuReport> gpu_report(store::Store& store, store::Id program, store::Id build,
                             store::Id device, const std::map<store::Id, Spent>& spent,
                             const std::vector<LibraryColumn>& libraries) {
  GpuReport report;
  report.table = Table(gpu_columns(libraries));
  HONE_ASSIGN(const Peaks peaks, peaks_of(store, device));
  HONE_ASSIGN(const std::vector<MeasuredDispatch> dispatches,
              measured_dispatches(store, program, build, device));
  if (std::string note = roofline_note(peaks); !note.empty()) report.notes.push_back(note);
  for (const MeasuredDispatch& dispatch : dispatches) {
    HONE_ASSIGN(const nlohmann::json state, device_state(store, dispatch, device));
    std::optional<double> wall, idle, share;
    if (const auto* const found = value_at(spent, dispatch.row.dispatch);
        found != nullptr && found->seconds > 0) {
      wall = found->seconds;
      idle = 100 * std::clamp(1 - found->busy_seconds / *wall, 0.0, 1.0);
    }
    if (const auto least = roofline_seconds(dispatch.row, peaks);
        least && dispatch.tuned_seconds && *dispatch.tuned_seconds > 0)
      share = 100 * *least / *dispatch.tuned_seconds;
    const std::string why = reasons(state);
    std::vector<Cell> cells{{dispatch.row.name, ""},           {dispatch.counts.tried, ""},
                            {dispatch.counts.compiled, ""},    {dispatch.counts.not_run, ""},
                            {dispatch.counts.wrong, ""},       {dispatch.counts.right, ""},
                            time_cell(dispatch.tuned_seconds), time_cell(dispatch.worst_seconds)};
    for (const LibraryColumn& each : libraries) {
      const LibraryRows library = dispatch.library(each.provider);
      cells.push_back(library_cell(dispatch, library.only ? library.only : library.first));
      cells.push_back(library_cell(dispatch, library.only ? library.only : library.best));
    }
    cells.insert(cells.end(),
                 {number_cell(share, " %", 0),
                  number_cell(wall, " s", 1),
                  number_cell(idle, " %", 0),
                  of_most(number(state, "megahertz"), number(state, "most_megahertz"), "MHz"),
                  of_most(number(state, "watts"), number(state, "watt_limit"), "W"),
                  {why, why.empty() ? "-" : why},
                  {state, ""}});
    report.table.add(std::move(cells));
    if (std::string note = clock_note(dispatch, state); !note.empty())
      report.notes.push_back(std::move(note));
  }
  return report;
}

}  // namespace hone::output
