// What reports say of one dispatch, put together from the store's rows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/common_reason.h"
#include "base/result.h"
#include "store/store.h"

namespace hone::output {

// Peaks of a device that results are judged by; nothing where it has none or it is not known.
struct Peaks {
  std::optional<double> f32{};            // flop/s, measured
  std::optional<double> matrix{};         // of f16 on matrix units, flop/s, measured
  std::optional<double> stated_matrix{};  // the same as the maker states it
  std::optional<double> bandwidth{};      // byte/s, measured
};
Result<Peaks> peaks_of(store::Store& store, store::Id device);

// Candidates of a dispatch that were tried, without the default and vendors' libraries.
struct Counts {
  std::int64_t tried = 0, compiled = 0, right = 0, wrong = 0;
  std::int64_t not_run = 0;                    // compiled when the time was over
  std::map<std::string, std::int64_t> failed;  // by kind; wrong ones are not in it
  CommonReason reasons;                        // of those that failed or are wrong
};

// Whether it is a vendor's library beside the candidates (store::kLibraryFormat).
bool is_library(const store::CandidateRow& row);

// Whether it is one of the row's dispatch, by its build and on its device.
bool is_of(const store::CandidateRow& candidate, const store::DispatchRow& row);

// What a library made of a dispatch. One that offers a single kernel has it in `only`; of one that
// has algorithms to choose from, `first` is its own choice and `best` the fastest of those that
// were measured beside the winner.
struct LibraryRows {
  std::string provider;  // CandidateRow::provider
  std::string title;     // how its artifacts' identities begin: as its makers write it
  std::optional<store::CandidateRow> only{}, first{}, best{};
};

// A library that has columns in a table whether it was measured or not. Keys of columns begin with
// `provider`.
struct LibraryColumn {
  std::string provider;
  std::string title;
};

struct MeasuredDispatch {
  store::DispatchRow row;
  Counts counts;
  bool beaten = false;  // the default, by the winner
  std::optional<double> default_seconds, tuned_seconds;
  std::optional<double> worst_seconds;  // of the candidates that are right
  // The dispatch's share in the time that the defaults of the program's dispatches take in a call,
  // 0 to 1; nothing when the default was not measured.
  std::optional<double> share;
  std::vector<LibraryRows> libraries;  // in the order of their first candidates

  // Those of one; empty where it has none.
  LibraryRows library(std::string_view provider) const;
};

// `row` with what its candidates say; those of other dispatches, builds and devices are passed
// over.
MeasuredDispatch measured_dispatch(store::DispatchRow row,
                                   const std::vector<store::CandidateRow>& candidates);

// A list of more dispatches is sorted by their shares.
inline constexpr std::size_t kMostInOrder = 20;
// Those of the program under one build on one device, with their shares; in the program's order,
// more than kMostInOrder by share, the largest first.
Result<std::vector<MeasuredDispatch>> measured_dispatches(store::Store& store, store::Id program,
                                                          store::Id build, store::Id device);

// Whether matrix units compute the root: a contraction, convolution or attention of 16-bit floats.
bool runs_on_matrix_units(const store::DispatchRow& row);

// The peak that the root's operations are judged by, flop/s: of matrix units as the maker states it
// where they compute it and that is known, else measured. Nothing where it is not known.
std::optional<double> compute_peak(const store::DispatchRow& row, const Peaks& peaks);

// Seconds that no kernel can be faster than: the longer of its operations at compute_peak() and its
// bindings' bytes, each moved once, at the measured bandwidth of the device's memory. Nothing
// without peaks.
// Operands that stay in a cache from one launch to the next can be read faster than that.
std::optional<double> roofline_seconds(const store::DispatchRow& row, const Peaks& peaks);

// How the library's time compares with the tuned one: library / tuned, each as a ratio to the
// default's at the same time. Above 1: tuning won.
std::optional<double> library_over_tuned(const MeasuredDispatch& dispatch,
                                         const std::optional<store::CandidateRow>& library);

}  // namespace hone::output
