// Results of a dispatch for reports, put together from the store's rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "store/store.h"

namespace hone::output {

// Peaks of a device that results are compared with; none if they are unknown.
struct Peaks {
  std::optional<double> f32{};            // flop/s, measured
  std::optional<double> matrix{};         // of f16 on matrix units, flop/s, measured
  std::optional<double> stated_matrix{};  // the same as the maker states it
  std::optional<double> bandwidth{};      // byte/s, measured
};
Result<Peaks> peaks_of(store::Store& store, store::Id device);

// Counts of a dispatch's tried candidates, without the default and vendors' libraries.
struct Counts {
  std::int64_t tried = 0, compiled = 0, right = 0, wrong = 0;
  std::int64_t not_run = 0;                    // compiled when the time was over
  std::map<std::string, std::int64_t> failed;  // by kind; wrong ones are not in it
  CommonReason reasons;                        // of those that failed or are wrong
};

// Returns the launches in a call of the program, by dispatch.
std::map<store::Id, std::int64_t> launches_per_call(
    const std::vector<store::ProgramDispatch>& places);

// Returns whether the candidate was verified and has a time.
bool is_measured_right(const store::CandidateView& row);

// Returns whether it is a vendor's library beside the candidates (store::kLibraryFormat).
bool is_library(const store::CandidateView& row);

// Returns whether the candidate is one of the row's dispatch, build and device.
bool is_of(const store::CandidateView& candidate, const store::DispatchView& row);

// Results of a library for a dispatch. A library with a single kernel has it in `only`. A library
// with several algorithms has its own choice in `first`, and in `best` the fastest of those that
// were measured beside the winner.
struct LibraryRows {
  std::string provider;  // CandidateView::provider
  std::string title;     // how its artifacts' identities begin: as its makers write it
  std::optional<store::CandidateView> only{}, first{}, best{};
};

// Library that has columns in a table, measured or not. Keys of columns begin with `provider`.
struct LibraryColumn {
  std::string provider;
  std::string title;
};

struct MeasuredDispatch {
  store::DispatchView row;
  Counts counts;
  bool beaten = false;  // the default, by the winner
  std::optional<double> default_seconds, tuned_seconds;
  std::optional<double> worst_seconds;  // of the candidates that are right
  // Share of the dispatch in a call's time, summed over the defaults of the program's dispatches, 0
  // to 1. None if the default was not measured.
  std::optional<double> share;
  std::vector<LibraryRows> libraries;  // in the order of their first candidates

  // Returns the results of one library; empty if it has none.
  LibraryRows library(std::string_view provider) const;
};

// Combines `row` with its candidates; ignores those of other dispatches, builds and devices.
MeasuredDispatch measured_dispatch(store::DispatchView row,
                                   const std::vector<store::CandidateView>& candidates);

// Longest list in the program's order; longer ones are sorted by share.
inline constexpr std::size_t kMostInOrder = 20;
// Returns the program's dispatches under one build on one device, with their shares. They are in
// the program's order; more than kMostInOrder are sorted by share, largest first.
Result<std::vector<MeasuredDispatch>> measured_dispatches(store::Store& store, store::Id program,
                                                          store::Id build, store::Id device);

// Returns whether matrix units compute the root: a contraction, convolution or attention of 16-bit
// floats.
bool runs_on_matrix_units(const store::DispatchView& row);

// Returns whether compute_peak() is that of the root's own type. Products of other types than f32
// and f64 may run on matrix units, whose peak may be unknown.
bool has_known_peak(const store::DispatchView& row, const Peaks& peaks);

// Returns the compute peak for the root, flop/s; none if it is unknown. On matrix units it is the
// maker's figure if known, else the measured one.
std::optional<double> compute_peak(const store::DispatchView& row, const Peaks& peaks);

// Returns the roofline time: no kernel can be faster than so many seconds. It is the longer of the
// operations at compute_peak() and the bindings' bytes, each moved once, at the memory's measured
// bandwidth. None without peaks. Operands that stay in a cache between launches can be read faster.
std::optional<double> roofline_seconds(const store::DispatchView& row, const Peaks& peaks);

// Returns library / tuned time, each as a ratio to the default's at the same time. Above 1: tuning
// won.
std::optional<double> library_over_tuned(const MeasuredDispatch& dispatch,
                                         const std::optional<store::CandidateView>& library);

}  // namespace hone::output
