// Views for reports, tables and exports: rows joined from several tables.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"

namespace hone::store {

// Restricts a query; an empty filter takes everything.
struct Filter {
  std::optional<Id> dispatch{};
  std::optional<Id> build{};
  std::optional<Id> device{};
  std::optional<Id> candidate{};
  std::optional<Id> program{};  // dispatches of it
};

enum class CandidateState {
  kUntried,
  kFailed,    // to compile, load or run; see failure_kind
  kCompiled,  // not yet verified on this device
  kWrong,     // computes something else than the reference
  kVerified,  // right, not yet measured on this device
  kMeasured,
};
std::string_view name_of(CandidateState state);  // "untried", ...

// Candidate on a device. A candidate has a row for each device that its dispatch and build have
// results on, else one row without a device. The measurement is the newest of the best phase:
// finalist, else search, else sentinel.
struct CandidateView {
  Id candidate = 0;
  Id dispatch = 0;
  std::string dispatch_name{};
  std::string operation{};  // description; empty without a root operation
  Id build = 0;
  std::string compiler{};
  std::string flags{};  // JSON array
  std::optional<Id> device{};
  std::string device_name{};
  std::string provider{};
  std::string configuration{};  // JSON
  std::string constraint_set{};
  // Has kDefaultConfiguration, and its provider does not replace another's kernel.
  bool is_default = false;
  CandidateState state = CandidateState::kUntried;
  std::string failure_kind{};  // empty unless failed
  std::string failure_message{};
  std::string identity{};  // of the artifact; empty before it is compiled
  std::string format{};    // of the artifact, likewise
  std::string configured{};
  std::optional<double> compile_seconds{};
  std::optional<bool> right{};
  std::optional<std::int64_t> bad_index{};
  std::optional<double> share_bad{};
  std::string tolerance{};
  std::optional<std::int64_t> rules{};  // VerificationRow::rules
  std::string reference{};              // VerificationRow::reference
  std::string phase{};  // of the measurement; empty without one, like the fields below
  std::optional<std::int64_t> samples{};
  std::optional<double> min_seconds{};
  std::optional<double> median_seconds{};
  std::optional<double> low_seconds{};
  std::optional<double> high_seconds{};
  std::optional<double> spread{};
  std::optional<double> sentinel_ratio{};
  std::optional<double> flops_per_second{};
  std::string when{};  // the candidate was added
};

// Dispatch under one build on one device: the rows of `hone store list`.
struct DispatchView {
  Id dispatch = 0;
  std::string name{};
  std::string fingerprint{};
  std::string operation{};  // description
  double flops = 0;         // of one launch; 0 where unknown
  double bytes = 0;
  std::string kind{};        // of the root operation: "matmul"
  std::string input_type{};  // of the root's first input: "f16"
  double bound_bytes = 0;    // of all the dispatch's bindings, each counted once
  Id build = 0;
  std::string compiler{};
  std::string flags{};  // JSON array
  std::optional<Id> device{};
  std::string device_name{};
  std::int64_t candidates = 0;
  std::int64_t tried = 0;     // all but the untried
  std::int64_t compiled = 0;  // have an artifact
  std::int64_t right = 0;
  std::int64_t wrong = 0;
  std::int64_t measured = 0;
  std::map<std::string, std::int64_t> failed{};  // by kind; wrong ones are not in it
  std::optional<CandidateView> default_row{};  // measured default of the same provider as the best
  // Winner of the newest selection. Without a selection, the fastest correct candidate, among the
  // finalists if there are any: a lucky sample of the search does not beat them.
  std::optional<CandidateView> best{};
  std::optional<double>
      speedup{};  // of best over default_row: the selection's, else their medians'
  std::optional<double> speedup_low{};
  std::optional<double> speedup_high{};
  std::optional<SelectionRow> selection{};
};

// Stored results of a candidate on a device. A missing piece is yet to be done.
struct KnownResults {
  std::optional<ArtifactRow> artifact{};  // without its code
  std::optional<FailureRow>
      failure{};  // newest one that still holds: of compiling where there is no
                  // artifact, of running this code on the device where there is
  std::optional<VerificationRow> verification{};  // newest
  std::optional<Measurement> measurement{};       // newest of the phase asked for
};

// Everything of one candidate: `hone show ID`.
struct CandidateDetails {
  CandidateRow candidate{};
  DispatchRow dispatch{};
  std::optional<OperationRow> operation{};
  BuildRow build{};
  std::optional<ArtifactRow> artifact{};  // without its code
  std::vector<FailureRow> failures{};     // each list oldest first
  std::vector<VerificationRow> verifications{};
  std::vector<Measurement> measurements{};
  std::vector<DeviceRow> devices{};  // that the lists name
  std::vector<Id> equal_code{};      // other candidates of the dispatch with the same artifact
};

// Findings of check().
struct CheckReport {
  std::vector<std::string> damage{};  // SQLite's words; empty when all is well
  bool ok() const { return damage.empty(); }
};

// Rows of one table of a damaged store.
struct RescuedRows {
  std::int64_t saved = 0;
  std::optional<std::int64_t> lost{};  // none where not even their number can be read

  bool operator==(const RescuedRows&) const = default;
};
using RescueReport = std::map<std::string, RescuedRows>;  // by table

// Rows that merge() added, by table.
using MergeReport = std::map<std::string, std::int64_t>;

}  // namespace hone::store
