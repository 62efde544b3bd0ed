#include "output/measured_dispatch.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/ranges.h"

namespace hone::output {
namespace {

using store::CandidateState;
using store::CandidateView;

// Returns the number of the library's algorithm, 0 being its own choice.
std::optional<std::int64_t> choice_of(const CandidateView& row) {
  const auto json = parse_json(row.configuration);
  const auto found = json.is_object() ? json.find("choice") : json.end();
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

void count(const CandidateView& row, Counts& counts) {
  if (row.state != CandidateState::kUntried) ++counts.tried;
  if (!row.identity.empty()) ++counts.compiled;
  if (row.right.value_or(false) && row.state != CandidateState::kWrong) ++counts.right;
  if (row.state == CandidateState::kWrong) ++counts.wrong;
  if (row.state == CandidateState::kCompiled) ++counts.not_run;
  if (row.state == CandidateState::kFailed) ++counts.failed[row.failure_kind];
  if (row.state == CandidateState::kFailed)
    counts.reasons.add(row.failure_kind, row.failure_message);
  else if (row.state == CandidateState::kWrong)
    counts.reasons.add("wrong", row.failure_message);
}

void add_library(const CandidateView& row, std::vector<LibraryRows>& libraries) {
  auto library = std::ranges::find(libraries, row.provider, &LibraryRows::provider);
  if (library == libraries.end())
    library = libraries.insert(library, {.provider = row.provider,
                                         .title = row.identity.substr(0, row.identity.find(' '))});
  const std::optional<std::int64_t> choice = choice_of(row);
  if (!choice) {
    library->only = row;
    return;
  }
  // Only the library's own choice and its best were measured beside the winner.
  if (!is_measured_right(row) || row.phase != name_of(store::Phase::kFinalist)) return;
  if (choice == 0) library->first = row;
  std::optional<CandidateView>& best = library->best;
  if (!best || *row.median_seconds < *best->median_seconds) best = row;
}

std::optional<double> positive(std::optional<double> value) {
  return value && *value > 0 ? value : std::nullopt;
}

Status add_shares(store::Store& store, store::Id program,
                  std::vector<MeasuredDispatch>& dispatches) {
  HONE_ASSIGN(const std::vector<store::ProgramDispatch> places, store.program_dispatches(program));
  std::map<store::Id, std::int64_t> launches = launches_per_call(places);
  const auto seconds_of_call = [&](const MeasuredDispatch& dispatch) {
    return static_cast<double>(launches[dispatch.row.dispatch]) *
           dispatch.default_seconds.value_or(0);
  };
  double sum = 0;
  for (const MeasuredDispatch& dispatch : dispatches) sum += seconds_of_call(dispatch);
  for (MeasuredDispatch& dispatch : dispatches)
    if (dispatch.default_seconds && sum > 0) dispatch.share = seconds_of_call(dispatch) / sum;
  return {};
}

// Returns whether matrix units, if there are any for its types, compute a root of this kind.
bool is_product(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {"matmul", "batch_matmul", "contraction",
                                                "matvec", "convolution",  "attention"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

}  // namespace

std::map<store::Id, std::int64_t> launches_per_call(
    const std::vector<store::ProgramDispatch>& places) {
  std::map<store::Id, std::int64_t> launches;
  for (const store::ProgramDispatch& place : places)
    launches[place.dispatch] = place.launches_per_call;
  return launches;
}

bool is_measured_right(const CandidateView& row) {
  return row.state == CandidateState::kMeasured && row.right.value_or(false) && row.median_seconds;
}

bool is_library(const CandidateView& row) {
  return row.format == store::kLibraryFormat;
}

bool is_of(const CandidateView& candidate, const store::DispatchView& row) {
  return candidate.dispatch == row.dispatch && candidate.build == row.build &&
         candidate.device == row.device;
}

LibraryRows MeasuredDispatch::library(std::string_view provider) const {
  const auto* const found = find_by(libraries, provider, &LibraryRows::provider);
  return found != nullptr ? *found : LibraryRows{};
}

Result<Peaks> peaks_of(store::Store& store, store::Id device) {
  Peaks peaks;
  HONE_ASSIGN(const std::vector<store::DeviceFact> facts, store.device_facts(device));
  for (const store::DeviceFact& fact : facts) {
    if (fact.name == store::kPeakFact) peaks.f32 = positive(fact.value);
    if (fact.name == store::kMatrixPeakFact) peaks.matrix = positive(fact.value);
    if (fact.name == store::kStatedMatrixPeakFact) peaks.stated_matrix = positive(fact.value);
    if (fact.name == store::kBandwidthFact) peaks.bandwidth = positive(fact.value);
  }
  return peaks;
}

MeasuredDispatch measured_dispatch(store::DispatchView row,
                                   const std::vector<CandidateView>& candidates) {
  MeasuredDispatch dispatch;
  dispatch.row = std::move(row);
  dispatch.beaten = dispatch.row.selection && dispatch.row.selection->winner;
  if (dispatch.row.default_row) dispatch.default_seconds = dispatch.row.default_row->median_seconds;
  dispatch.tuned_seconds = dispatch.beaten && dispatch.row.best ? dispatch.row.best->median_seconds
                                                                : dispatch.default_seconds;
  for (const CandidateView& candidate : candidates) {
    if (!is_of(candidate, dispatch.row)) continue;
    if (is_library(candidate)) {
      add_library(candidate, dispatch.libraries);
    } else if (!candidate.is_default) {
      count(candidate, dispatch.counts);
      if (is_measured_right(candidate))
        dispatch.worst_seconds =
            std::max(dispatch.worst_seconds.value_or(0), *candidate.median_seconds);
    }
  }
  return dispatch;
}

Result<std::vector<MeasuredDispatch>> measured_dispatches(store::Store& store, store::Id program,
                                                          store::Id build, store::Id device) {
  const store::Filter filter{.build = build, .device = device, .program = program};
  HONE_ASSIGN(std::vector<store::DispatchView> rows, store.dispatch_rows(filter));
  HONE_ASSIGN(const std::vector<CandidateView> candidates, store.candidate_rows(filter));
  std::vector<MeasuredDispatch> dispatches;
  for (store::DispatchView& row : rows)
    dispatches.push_back(measured_dispatch(std::move(row), candidates));
  HONE_TRY(add_shares(store, program, dispatches));
  if (dispatches.size() > kMostInOrder)
    std::ranges::stable_sort(dispatches, std::greater(), [](const MeasuredDispatch& dispatch) {
      return dispatch.share.value_or(0);
    });
  return dispatches;
}

bool runs_on_matrix_units(const store::DispatchView& row) {
  return (row.input_type == "f16" || row.input_type == "bf16") && is_product(row.kind);
}

bool has_known_peak(const store::DispatchView& row, const Peaks& peaks) {
  if (!is_product(row.kind) || row.input_type == "f32" || row.input_type == "f64") return true;
  return runs_on_matrix_units(row) && (peaks.stated_matrix || peaks.matrix);
}

std::optional<double> compute_peak(const store::DispatchView& row, const Peaks& peaks) {
  if (!runs_on_matrix_units(row)) return peaks.f32;
  if (peaks.stated_matrix) return peaks.stated_matrix;
  return peaks.matrix ? peaks.matrix : peaks.f32;
}

std::optional<double> roofline_seconds(const store::DispatchView& row, const Peaks& peaks) {
  const std::optional<double> compute = compute_peak(row, peaks);
  if (!compute || !peaks.bandwidth) return std::nullopt;
  const double seconds = std::max(row.flops / *compute, row.bound_bytes / *peaks.bandwidth);
  return positive(seconds);
}

std::optional<double> library_over_tuned(const MeasuredDispatch& dispatch,
                                         const std::optional<CandidateView>& library) {
  if (!library || !library->sentinel_ratio) return std::nullopt;
  if (!dispatch.beaten) return library->sentinel_ratio;
  if (!dispatch.row.speedup) return std::nullopt;
  return *library->sentinel_ratio * *dispatch.row.speedup;
}

}  // namespace hone::output
