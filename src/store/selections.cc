// What a run concluded: the winner of each dispatch, and what the whole program made of it.
#include "store/blobs.h"
#include "store/canonical.h"
#include "store/clock.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace hone::store {

Result<Id> Store::record(const ProgramMeasurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  const Timing& timing = row.timing;
  return write(*database_, [&]() -> Result<Id> {
    std::optional<Id> spec;
    if (!row.spec.empty()) {
      HONE_ASSIGN(spec, intern_blob(*database_, row.spec));
    }
    if (row.id != 0)
      HONE_TRY(database_->execute("DELETE FROM program_measurement WHERE id = ?", row.id));
    HONE_TRY(database_->execute(
        "INSERT INTO program_measurement (uid, program_id, build_id, device_id, variant, spec_id, "
        "samples, launches_per_sample, dropped, min, median, spread, low, high, ratio, ratio_low, "
        "ratio_high, correct, verdict, machine, purpose, same_as, created, run_id) "
        "VALUES (lower(hex(randomblob(16))), "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.program, row.build, row.device, row.variant, spec, timing.samples,
        timing.launches_per_sample, timing.dropped, timing.min, timing.median, timing.spread,
        timing.low, timing.high, row.ratio, row.ratio_low, row.ratio_high, row.right, row.verdict,
        row.machine, row.purpose == Purpose::kFlags ? "flags" : "proof", row.same_as, now_text(),
        run_));
    return database_->last_id();
  });
}

Result<std::vector<ProgramMeasurement>> Store::program_measurements(Id program) {
  HONE_ASSIGN(
      Statement statement,
      database_->query("SELECT id, program_id, build_id, device_id, variant, spec_id, samples, "
                       "launches_per_sample, dropped, min, median, spread, low, high, ratio, "
                       "ratio_low, ratio_high, correct, verdict, machine, purpose = 'flags', "
                       "same_as, created, run_id "
                       "FROM program_measurement WHERE program_id = ? ORDER BY created, id",
                       program));
  std::vector<ProgramMeasurement> rows;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return rows;
    ProgramMeasurement& row = rows.emplace_back();
    Timing& timing = row.timing;
    std::optional<Id> spec;
    bool is_of_flags = false;
    statement.read(row.id, row.program, row.build, row.device, row.variant, spec, timing.samples,
                   timing.launches_per_sample, timing.dropped, timing.min, timing.median,
                   timing.spread, timing.low, timing.high, row.ratio, row.ratio_low, row.ratio_high,
                   row.right, row.verdict, row.machine, is_of_flags, row.same_as, row.when,
                   row.run);
    if (is_of_flags) row.purpose = Purpose::kFlags;
    if (spec) {
      HONE_ASSIGN(row.spec, load_blob(*database_, *spec));
    }
  }
}

Result<Id> Store::record(const Selection& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_TRY(database_->execute(
        "INSERT INTO selection (uid, dispatch_id, build_id, device_id, winner_id, speedup, "
        "speedup_low, speedup_high, shipped, reason, created, run_id) "
        "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.dispatch, row.build, row.device, row.winner, row.speedup, row.speedup_low,
        row.speedup_high, row.shipped, row.reason, now_text(), run_));
    const Id id = database_->last_id();
    for (const Id candidate : row.ties)
      HONE_TRY(database_->execute(
          "INSERT OR IGNORE INTO selection_tie (selection_id, candidate_id) VALUES (?, ?)", id,
          candidate));
    return id;
  });
}

Result<std::vector<Selection>> Store::selections(const Filter& filter) {
  HONE_ASSIGN(Statement statement,
              database_->query(
                  "SELECT id, dispatch_id, build_id, device_id, winner_id, speedup, speedup_low, "
                  "speedup_high, shipped, reason, created, run_id FROM selection "
                  "WHERE (?1 IS NULL OR dispatch_id = ?1) AND (?2 IS NULL OR build_id = ?2) "
                  "AND (?3 IS NULL OR device_id = ?3) AND (?4 IS NULL OR winner_id = ?4) "
                  "AND (?5 IS NULL OR dispatch_id IN "
                  "(SELECT dispatch_id FROM program_dispatch WHERE program_id = ?5)) "
                  "ORDER BY created, id",
                  filter.dispatch, filter.build, filter.device, filter.candidate, filter.program));
  std::vector<Selection> rows;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return rows;
    Selection& row = rows.emplace_back();
    statement.read(row.id, row.dispatch, row.build, row.device, row.winner, row.speedup,
                   row.speedup_low, row.speedup_high, row.shipped, row.reason, row.when, row.run);
    HONE_ASSIGN(Statement ties,
                database_->query("SELECT candidate_id FROM selection_tie WHERE selection_id = ? "
                                 "ORDER BY candidate_id",
                                 row.id));
    while (true) {
      HONE_ASSIGN(const bool tied, ties.step());
      if (!tied) break;
      ties.read(row.ties.emplace_back());
    }
  }
}

}  // namespace hone::store
