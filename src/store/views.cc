// Builds the rows of views.h from all tables: a row per candidate and device, and these counted per
// dispatch, build and device.
#include "store/views.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "store/row_queries.h"
#include "store/store.h"

namespace hone::store {
namespace {

constexpr const char* kCandidateRows = R"sql(
WITH place AS (  -- where a dispatch's candidates of a build have been run
  SELECT candidate.dispatch_id, candidate.build_id, failure.device_id
    FROM failure JOIN candidate ON candidate.id = failure.candidate_id
    WHERE failure.device_id IS NOT NULL
  UNION
  SELECT candidate.dispatch_id, candidate.build_id, tried.device_id
    FROM (SELECT dispatch_id, identity, device_id FROM verification
          UNION SELECT dispatch_id, identity, device_id FROM measurement) AS tried
    JOIN artifact ON artifact.identity = tried.identity
    JOIN candidate ON candidate.id = artifact.candidate_id
                  AND candidate.dispatch_id = tried.dispatch_id
)
SELECT c.id, c.dispatch_id, d.name, o.description, c.build_id, b.compiler, b.flags,
       p.device_id, device.name, c.provider, c.configuration, c.constraint_set,
       f.kind, f.message, f.created, a.identity, a.format, a.configured, a.compile_seconds,
       v.correct, v.bad_index, v.share_bad, v.tolerance, v.rules, v.reference, v.created,
       m.phase, length(m.samples) / 8, m.min, m.median, m.low, m.high, m.spread,
       m.sentinel_ratio, nullif(o.flops, 0) / m.median, m.created, c.created
FROM candidate AS c
JOIN dispatch AS d ON d.id = c.dispatch_id
LEFT JOIN operation AS o ON o.id = d.operation_id
JOIN build_identity AS b ON b.id = c.build_id
LEFT JOIN place AS p ON p.dispatch_id = c.dispatch_id AND p.build_id = c.build_id
LEFT JOIN device_identity AS device ON device.id = p.device_id
LEFT JOIN artifact AS a ON a.candidate_id = c.id
LEFT JOIN verification AS v ON v.id = (
  SELECT id FROM verification
  WHERE identity = a.identity AND dispatch_id = c.dispatch_id AND device_id = p.device_id
  ORDER BY created DESC, id DESC LIMIT 1)
LEFT JOIN measurement AS m ON m.id = (
  SELECT id FROM measurement
  WHERE identity = a.identity AND dispatch_id = c.dispatch_id AND device_id = p.device_id
    AND phase IN ('finalist', 'search', 'sentinel')
  ORDER BY CASE phase WHEN 'finalist' THEN 0 WHEN 'search' THEN 1 ELSE 2 END,
           created DESC, id DESC LIMIT 1)
LEFT JOIN failure AS f ON f.id = CASE
  WHEN a.identity IS NULL THEN (
    SELECT id FROM failure WHERE candidate_id = c.id AND device_id IS NULL
    ORDER BY created DESC, id DESC LIMIT 1)
  ELSE (
    SELECT failure.id FROM failure JOIN candidate ON candidate.id = failure.candidate_id
    WHERE failure.identity = a.identity AND failure.identity <> ''
      AND candidate.dispatch_id = c.dispatch_id AND failure.device_id = p.device_id
    ORDER BY failure.created DESC, failure.id DESC LIMIT 1)
  END
WHERE (?1 IS NULL OR c.dispatch_id = ?1) AND (?2 IS NULL OR c.build_id = ?2)
  AND (?3 IS NULL OR p.device_id IS NULL OR p.device_id = ?3) AND (?4 IS NULL OR c.id = ?4)
  AND (?5 IS NULL OR c.dispatch_id IN (
    SELECT dispatch_id FROM program_dispatch WHERE program_id = ?5))
ORDER BY c.dispatch_id, c.build_id, c.id, p.device_id
)sql";

// Candidate's row with the times of its newest failure, verification and measurement; empty where
// there is none.
struct TimedRow {
  CandidateView row;
  std::string failed, verified, measured;
};
auto fields_of(TimedRow& timed) {
  CandidateView& row = timed.row;
  return std::tie(row.candidate, row.dispatch, row.dispatch_name, row.operation, row.build,
                  row.compiler, row.flags, row.device, row.device_name, row.provider,
                  row.configuration, row.constraint_set, row.failure_kind, row.failure_message,
                  timed.failed, row.identity, row.format, row.configured, row.compile_seconds,
                  row.right, row.bad_index, row.share_bad, row.tolerance, row.rules, row.reference,
                  timed.verified, row.phase, row.samples, row.min_seconds, row.median_seconds,
                  row.low_seconds, row.high_seconds, row.spread, row.sentinel_ratio,
                  row.flops_per_second, timed.measured, row.when);
}

CandidateState state_of(const TimedRow& timed) {
  const CandidateView& row = timed.row;
  // A failure holds until the same code was right or measured again.
  const bool failed =
      !timed.failed.empty() && timed.failed >= timed.verified && timed.failed >= timed.measured;
  if (failed) return row.failure_kind == "wrong" ? CandidateState::kWrong : CandidateState::kFailed;
  if (row.right && !*row.right) return CandidateState::kWrong;
  if (!timed.measured.empty()) return CandidateState::kMeasured;
  if (row.right) return CandidateState::kVerified;
  return row.identity.empty() ? CandidateState::kUntried : CandidateState::kCompiled;
}

using Rows = std::vector<CandidateView>;

bool is_right(const CandidateView& row) {
  return row.state == CandidateState::kMeasured && row.right.value_or(false);
}

void count(const CandidateView& row, DispatchView& into) {
  ++into.candidates;
  if (row.state != CandidateState::kUntried) ++into.tried;
  if (!row.identity.empty()) ++into.compiled;
  if (row.right.value_or(false) && row.state != CandidateState::kWrong) ++into.right;
  if (row.state == CandidateState::kWrong) ++into.wrong;
  if (row.state == CandidateState::kMeasured) ++into.measured;
  if (row.state == CandidateState::kFailed) ++into.failed[row.failure_kind];
}

// Returns the type of the first operand; empty when the JSON (problem::Operation) does not say it.
std::string input_type(const std::string& operation) {
  const auto json = nlohmann::json::parse(operation, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer element("/operands/0/type/element");
  return !json.is_discarded() && json.contains(element) && json[element].is_string()
             ? json[element].get<std::string>()
             : "";
}

// Returns 0 where the JSON (problem::Dispatch) does not say it.
double bound_bytes(const std::string& dispatch) {
  const auto json = nlohmann::json::parse(dispatch, nullptr, /*allow_exceptions=*/false);
  const auto bindings = json.is_object() ? json.find("bindings") : json.end();
  if (bindings == json.end() || !bindings->is_array()) return 0;
  double bytes = 0;
  for (const nlohmann::json& binding : *bindings)
    if (binding.is_object() && binding.contains("bytes") && binding["bytes"].is_number())
      bytes += std::max(0.0, binding["bytes"].get<double>());
  return bytes;
}

std::optional<CandidateView> fastest(const Rows& rows) {
  const CandidateView* best = nullptr;
  for (const CandidateView& row : rows) {
    if (!is_right(row) || row.phase == name_of(Phase::kSentinel)) continue;
    const bool finalist = row.phase == name_of(Phase::kFinalist);
    if (best != nullptr) {
      const bool best_is_finalist = best->phase == name_of(Phase::kFinalist);
      if (best_is_finalist && !finalist) continue;
      if (best_is_finalist == finalist && *best->median_seconds <= *row.median_seconds) continue;
    }
    best = &row;
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::optional<CandidateView> find(const Rows& rows, std::optional<Id> candidate) {
  for (const CandidateView& row : rows)
    if (row.candidate == candidate) return row;
  return std::nullopt;
}

std::optional<CandidateView> default_of(const Rows& rows, std::string_view provider) {
  for (const CandidateView& row : rows)
    if (row.is_default && row.median_seconds && (provider.empty() || row.provider == provider))
      return row;
  return std::nullopt;
}

void compare(DispatchView& row) {
  if (row.selection && row.selection->speedup) {
    row.speedup = row.selection->speedup;
    row.speedup_low = row.selection->speedup_low;
    row.speedup_high = row.selection->speedup_high;
    return;
  }
  if (!row.best || !row.default_row || !row.best->median_seconds) return;
  // Times of two phases are minutes apart, but the ratio to the sentinel was measured at one time.
  if (row.best->phase != row.default_row->phase && row.best->sentinel_ratio.value_or(0) > 0)
    row.speedup = 1 / *row.best->sentinel_ratio;
  else
    row.speedup = *row.default_row->median_seconds / *row.best->median_seconds;
}

// Dispatch's row before its candidates are counted, with its JSON and its operation's.
struct DescribedRow {
  DispatchView row;
  std::string operation, dispatch;
};
auto fields_of(DescribedRow& described) {
  DispatchView& row = described.row;
  return std::tie(row.dispatch, row.name, row.fingerprint, row.operation, row.flops, row.bytes,
                  row.kind, described.operation, described.dispatch);
}

DispatchView summary(DispatchView row, const Rows& rows,
                     const std::vector<SelectionRow>& selections) {
  const CandidateView& first = rows.front();
  row.build = first.build;
  row.compiler = first.compiler;
  row.flags = first.flags;
  row.device = first.device;
  row.device_name = first.device_name;
  for (const CandidateView& candidate : rows) count(candidate, row);
  for (const SelectionRow& selection : selections)  // oldest first: the newest stays
    if (selection.dispatch == row.dispatch && selection.build == row.build &&
        selection.device == row.device)
      row.selection = selection;
  row.best = row.selection ? find(rows, row.selection->winner) : fastest(rows);
  row.default_row = default_of(rows, row.best ? row.best->provider : "");
  // The default belongs to the session's own provider, even if several compete for the dispatch.
  if (!row.default_row) row.default_row = default_of(rows, "");
  compare(row);
  return row;
}

}  // namespace

std::string_view name_of(CandidateState state) {
  static constexpr std::pair<CandidateState, std::string_view> kNames[] = {
      {CandidateState::kUntried, "untried"},   {CandidateState::kFailed, "failed"},
      {CandidateState::kCompiled, "compiled"}, {CandidateState::kWrong, "wrong"},
      {CandidateState::kVerified, "verified"}, {CandidateState::kMeasured, "measured"}};
  return name_in(kNames, state);
}

Result<std::vector<CandidateView>> Store::candidate_rows(const Filter& filter) {
  HONE_ASSIGN(std::vector<TimedRow> found,
              database_->all<TimedRow>(kCandidateRows, filter.dispatch, filter.build, filter.device,
                                       filter.candidate, filter.program));
  std::vector<CandidateView> rows;
  for (TimedRow& timed : found) {
    CandidateView& row = timed.row;
    row.is_default =
        row.configuration == kDefaultConfiguration && !takes_anothers_place(row.provider);
    row.state = state_of(timed);
    if (row.state != CandidateState::kFailed && row.state != CandidateState::kWrong) {
      row.failure_kind.clear();
      row.failure_message.clear();
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<DispatchView>> Store::dispatch_rows(const Filter& filter) {
  HONE_ASSIGN(const Rows rows, candidate_rows(filter));
  HONE_ASSIGN(const std::vector<SelectionRow> selections, this->selections(filter));
  std::map<std::tuple<Id, Id, Id>, Rows> groups;
  for (const CandidateView& row : rows)
    groups[{row.dispatch, row.build, row.device.value_or(0)}].push_back(row);

  HONE_ASSIGN(std::vector<DescribedRow> dispatches,
              database_->all<DescribedRow>(
                  "SELECT d.id, d.name, d.fingerprint, o.description, o.flops, o.bytes, "
                  "ifnull(o.kind, ''), ifnull(o.json, '{}'), d.json "
                  "FROM dispatch AS d LEFT JOIN operation AS o ON o.id = d.operation_id "
                  "WHERE (?1 IS NULL OR d.id = ?1) AND (?2 IS NULL OR d.id IN "
                  "(SELECT dispatch_id FROM program_dispatch WHERE program_id = ?2)) ORDER BY d.id",
                  filter.dispatch, filter.program));
  std::vector<DispatchView> summaries;
  for (auto& [named, operation, dispatch] : dispatches) {
    named.input_type = input_type(operation);
    named.bound_bytes = bound_bytes(dispatch);
    auto group = groups.lower_bound({named.dispatch, 0, 0});
    const bool untouched = group == groups.end() || std::get<0>(group->first) != named.dispatch;
    if (untouched && !filter.build && !filter.device && !filter.candidate)
      summaries.push_back(named);
    for (; group != groups.end() && std::get<0>(group->first) == named.dispatch; ++group)
      summaries.push_back(summary(named, group->second, selections));
  }
  return summaries;
}

Result<CandidateDetails> Store::details(Id id) {
  CandidateDetails details;
  HONE_ASSIGN(details.candidate, candidate(id));
  HONE_ASSIGN(details.dispatch, dispatch(details.candidate.dispatch));
  if (details.dispatch.operation) {
    HONE_ASSIGN(details.operation, operation(*details.dispatch.operation));
  }
  HONE_ASSIGN(details.build, build(details.candidate.build));
  HONE_ASSIGN(details.artifact,
              select_first<ArtifactRow>(*database_, "WHERE candidate_id = ?", id));
  const Id dispatch = details.candidate.dispatch;
  const std::string identity = details.artifact ? details.artifact->identity : "";
  HONE_ASSIGN(details.failures,
              select_all<FailureRow>(*database_,
                                     "WHERE candidate_id = ?1 OR (identity = ?2 AND identity <> '' "
                                     "AND (SELECT dispatch_id FROM candidate "
                                     "WHERE id = candidate_id) = ?3) ORDER BY created, id",
                                     id, identity, dispatch));
  if (!details.artifact) return details;
  constexpr std::string_view kOfCode =
      "WHERE dispatch_id = ? AND identity = ? ORDER BY created, id";
  HONE_ASSIGN(details.verifications,
              select_all<VerificationRow>(*database_, kOfCode, dispatch, identity));
  HONE_ASSIGN(details.measurements,
              select_all<Measurement>(*database_, kOfCode, dispatch, identity));
  HONE_ASSIGN(details.devices,
              select_all<DeviceRow>(*database_,
                                    "WHERE id IN (SELECT device_id FROM verification "
                                    "WHERE dispatch_id = ?1 AND identity = ?2 "
                                    "UNION SELECT device_id FROM measurement "
                                    "WHERE dispatch_id = ?1 AND identity = ?2 "
                                    "UNION SELECT device_id FROM failure WHERE candidate_id = ?3) "
                                    "ORDER BY id",
                                    dispatch, identity, id));
  HONE_ASSIGN(const std::vector<CandidateRow> equal,
              select_all<CandidateRow>(*database_,
                                       "WHERE dispatch_id = ? AND id <> ? AND id IN "
                                       "(SELECT candidate_id FROM artifact WHERE identity = ?) "
                                       "ORDER BY id",
                                       dispatch, id, identity));
  for (const CandidateRow& other : equal) details.equal_code.push_back(other.id);
  return details;
}

}  // namespace hone::store
