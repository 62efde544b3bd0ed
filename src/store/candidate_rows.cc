// Builds one row per candidate and device from all tables.
#include "base/exact_json.h"
#include "store/sqlite.h"
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
  CandidateRow row;
  std::string failed, verified, measured;
};
auto fields_of(TimedRow& timed) {
  CandidateRow& row = timed.row;
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
  const CandidateRow& row = timed.row;
  // A failure holds until the same code was right or measured again.
  const bool failed =
      !timed.failed.empty() && timed.failed >= timed.verified && timed.failed >= timed.measured;
  if (failed) return row.failure_kind == "wrong" ? CandidateState::kWrong : CandidateState::kFailed;
  if (row.right && !*row.right) return CandidateState::kWrong;
  if (!timed.measured.empty()) return CandidateState::kMeasured;
  if (row.right) return CandidateState::kVerified;
  return row.identity.empty() ? CandidateState::kUntried : CandidateState::kCompiled;
}

}  // namespace

std::string_view name_of(CandidateState state) {
  static constexpr std::pair<CandidateState, std::string_view> kNames[] = {
      {CandidateState::kUntried, "untried"},   {CandidateState::kFailed, "failed"},
      {CandidateState::kCompiled, "compiled"}, {CandidateState::kWrong, "wrong"},
      {CandidateState::kVerified, "verified"}, {CandidateState::kMeasured, "measured"}};
  return name_in(kNames, state);
}

Result<std::vector<CandidateRow>> Store::candidate_rows(const Filter& filter) {
  HONE_ASSIGN(std::vector<TimedRow> found,
              database_->all<TimedRow>(kCandidateRows, filter.dispatch, filter.build, filter.device,
                                       filter.candidate, filter.program));
  std::vector<CandidateRow> rows;
  for (TimedRow& timed : found) {
    CandidateRow& row = timed.row;
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

}  // namespace hone::store
