// Conclusions of a run: the winner of each dispatch, and measurements of the whole program.
#include "store/blobs.h"
#include "store/canonical.h"
#include "store/clock.h"
#include "store/columns.h"
#include "store/store.h"

namespace hone::store {

Result<Id> Store::record(const ProgramMeasurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  return write(*database_, [&]() -> Result<Id> {
    std::optional<Id> spec;
    if (!row.spec.empty()) {
      HONE_ASSIGN(spec, intern_blob(*database_, row.spec));
    }
    if (row.id != 0)
      HONE_TRY(database_->execute("DELETE FROM program_measurement WHERE id = ?", row.id));
    return insert(*database_, row,
                  {", spec_id, created, run_id, uid", ", ?, ?, ?, lower(hex(randomblob(16)))"},
                  spec, now_text(), run_);
  });
}

Result<std::vector<ProgramMeasurement>> Store::program_measurements(Id program) {
  std::vector<ProgramMeasurement> rows;
  const auto add = [&](std::pair<ProgramMeasurement, std::optional<Id>>& found) -> Status {
    auto& [row, spec] = found;
    if (spec) {
      HONE_ASSIGN(row.spec, load_blob(*database_, *spec));
    }
    rows.push_back(std::move(row));
    return {};
  };
  const std::string sql =
      select_sql<ProgramMeasurement>(", spec_id") + "WHERE program_id = ? ORDER BY created, id";
  HONE_TRY((database_->each<std::pair<ProgramMeasurement, std::optional<Id>>>(sql, add, program)));
  return rows;
}

Result<Id> Store::record(const Selection& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_ASSIGN(const Id id, insert(*database_, row, kOfRun, now_text(), run_));
    for (const Id candidate : row.ties)
      HONE_TRY(database_->execute(
          "INSERT OR IGNORE INTO selection_tie (selection_id, candidate_id) VALUES (?, ?)", id,
          candidate));
    return id;
  });
}

Result<std::vector<Selection>> Store::selections(const Filter& filter) {
  std::vector<Selection> rows;
  const auto add = [&](Selection& row) -> Status {
    HONE_ASSIGN(row.ties,
                database_->all<Id>("SELECT candidate_id FROM selection_tie WHERE selection_id = ? "
                                   "ORDER BY candidate_id",
                                   row.id));
    rows.push_back(std::move(row));
    return {};
  };
  HONE_TRY(database_->each<Selection>(
      select_sql<Selection>() +
          "WHERE (?1 IS NULL OR dispatch_id = ?1) AND (?2 IS NULL OR build_id = ?2) "
          "AND (?3 IS NULL OR device_id = ?3) AND (?4 IS NULL OR winner_id = ?4) "
          "AND (?5 IS NULL OR dispatch_id IN "
          "(SELECT dispatch_id FROM program_dispatch WHERE program_id = ?5)) ORDER BY created, id",
      add, filter.dispatch, filter.build, filter.device, filter.candidate, filter.program));
  return rows;
}

}  // namespace hone::store
