// Runs: their events, their conclusions (winners, times of the whole program), and what a later run
// resumes from (results of dispatches, chosen flags).
#include <span>

#include "store/encoding.h"
#include "store/host.h"
#include "store/row_queries.h"
#include "store/store.h"

namespace hone::store {
namespace {

// Marks runs of dead processes as interrupted. Their end is the time of the last row that they
// wrote.
Status interrupt_dead_runs(Database& database) {
  HONE_ASSIGN(const std::vector<Run> running,
              select_all<Run>(database, "WHERE state = 'running' ORDER BY id"));
  for (const Run& run : running)
    if (is_gone(run.process))
      HONE_TRY(database.execute(
          "UPDATE run SET state = 'interrupted', ended = (SELECT max(created) FROM ("
          "  SELECT started AS created FROM run WHERE id = ?1"
          "  UNION ALL SELECT created FROM event WHERE run_id = ?1"
          "  UNION ALL SELECT created FROM artifact WHERE run_id = ?1"
          "  UNION ALL SELECT created FROM failure WHERE run_id = ?1"
          "  UNION ALL SELECT created FROM verification WHERE run_id = ?1"
          "  UNION ALL SELECT created FROM measurement WHERE run_id = ?1"
          "  UNION ALL SELECT created FROM program_measurement WHERE run_id = ?1)) "
          "WHERE id = ?1",
          run.id));
  return {};
}

}  // namespace

Result<Id> Store::begin_run(const Run& run) {
  HONE_ASSIGN(run_, write(*database_, [&]() -> Result<Id> {
                HONE_TRY(interrupt_dead_runs(*database_));
                Run row = run;
                row.process = this_process();
                row.started = now_text();
                row.state = RunState::kRunning;
                return insert(*database_, row);
              }));
  return *run_;
}

Status Store::end_run(RunState state) {
  if (!run_) return failure("store '{}': no run has begun", path().string());
  return database_->execute("UPDATE run SET state = ?, ended = ? WHERE id = ?", name_of(state),
                            now_text(), *run_);
}

Status Store::log_event(std::string_view kind, std::string_view text) {
  if (!run_) return failure("store '{}': no run has begun", path().string());
  return database_->execute(
      "INSERT INTO event (run_id, sequence, created, kind, text) "
      "SELECT ?1, coalesce(max(sequence), 0) + 1, ?2, ?3, ?4 FROM event WHERE run_id = ?1",
      *run_, now_text(), kind, text);
}

Result<Run> Store::run(Id id) {
  return select_id<Run>(*database_, "run", id);
}

Result<std::vector<Run>> Store::runs() {
  return select_all<Run>(*database_, "ORDER BY started, id");
}

Result<std::vector<EventRow>> Store::events(Id run) {
  return select_all<EventRow>(*database_, "WHERE run_id = ? ORDER BY sequence", run);
}

Result<std::vector<std::pair<Id, std::string>>> Store::event_texts(std::string_view kind) {
  std::vector<std::pair<Id, std::string>> texts;
  HONE_TRY((database_->each<std::tuple<Id, std::string>>(
      "SELECT run_id, text FROM event WHERE kind = ? ORDER BY run_id, sequence",
      [&](std::tuple<Id, std::string>& row) -> Status {
        texts.emplace_back(std::get<0>(row), std::move(std::get<1>(row)));
        return {};
      },
      kind)));
  return texts;
}

Result<Id> Store::record(const ProgramMeasurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  return write(*database_, [&]() -> Result<Id> {
    std::optional<Id> spec;
    if (!row.spec.empty()) {
      HONE_ASSIGN(spec, intern_blob(*database_, row.spec));
    }
    if (row.id != 0)
      HONE_TRY(database_->execute("DELETE FROM program_measurement WHERE id = ?", row.id));
    return insert(*database_, row, {"spec_id, created, run_id"}, spec, now_text(), run_);
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

Result<Id> Store::record(const SelectionRow& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_ASSIGN(const Id id, insert(*database_, row, kCreatedInRun, now_text(), run_));
    for (const Id candidate : row.ties)
      HONE_TRY(database_->execute(
          "INSERT OR IGNORE INTO selection_tie (selection_id, candidate_id) VALUES (?, ?)", id,
          candidate));
    return id;
  });
}

Result<std::vector<SelectionRow>> Store::selections(const Filter& filter) {
  std::vector<SelectionRow> rows;
  const auto add = [&](SelectionRow& row) -> Status {
    HONE_ASSIGN(row.ties,
                database_->all<Id>("SELECT candidate_id FROM selection_tie WHERE selection_id = ? "
                                   "ORDER BY candidate_id",
                                   row.id));
    rows.push_back(std::move(row));
    return {};
  };
  HONE_TRY(database_->each<SelectionRow>(
      select_sql<SelectionRow>() +
          "WHERE (?1 IS NULL OR dispatch_id = ?1) AND (?2 IS NULL OR build_id = ?2) "
          "AND (?3 IS NULL OR device_id = ?3) AND (?4 IS NULL OR winner_id = ?4) "
          "AND (?5 IS NULL OR dispatch_id IN "
          "(SELECT dispatch_id FROM program_dispatch WHERE program_id = ?5)) ORDER BY created, id",
      add, filter.dispatch, filter.build, filter.device, filter.candidate, filter.program));
  return rows;
}

Result<Id> Store::record(const DispatchResult& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_ASSIGN(const Id id, insert(*database_, row, {"code, created, run_id"}, Bytes{row.code},
                                    now_text(), run_));
    std::int64_t rank = 0;
    for (const NearTieRow& tie : row.near_ties)
      HONE_TRY(insert(*database_, tie, {"result_id, rank"}, id, rank++));
    return id;
  });
}

Result<std::vector<DispatchResult>> Store::dispatch_results(Id run) {
  std::vector<DispatchResult> rows;
  const auto add = [&](std::pair<DispatchResult, std::string>& found) -> Status {
    auto& [row, code] = found;
    row.code = std::move(code);
    HONE_ASSIGN(row.near_ties,
                select_all<NearTieRow>(*database_, "WHERE result_id = ? ORDER BY rank", row.id));
    rows.push_back(std::move(row));
    return {};
  };
  const std::string sql = select_sql<DispatchResult>(", code") + "WHERE run_id = ? ORDER BY id";
  HONE_TRY((database_->each<std::pair<DispatchResult, std::string>>(sql, add, run)));
  return rows;
}

Status Store::record(const FlagChoiceRow& choice) {
  if (!run_) return failure("store '{}': no run has begun", path().string());
  return write(*database_, [&]() -> Status {
    HONE_TRY(database_->execute("DELETE FROM flag_choice WHERE run_id = ?", *run_));
    const auto add = [&](const char* role, std::span<const Flags> sets) -> Status {
      std::int64_t place = 0;
      for (const Flags& set : sets)
        HONE_TRY(insert(*database_, set, {"run_id, role, place"}, *run_, role, place++));
      return {};
    };
    HONE_TRY(add("best", {&choice.best, 1}));
    HONE_TRY(add("base", choice.bases));
    return add("tried", choice.tried);
  });
}

Result<std::optional<FlagChoiceRow>> Store::flag_choice(Id run) {
  const std::string sql = select_sql<Flags>(", role") + "WHERE run_id = ? ORDER BY role, place";
  HONE_ASSIGN(auto rows, (database_->all<std::pair<Flags, std::string>>(sql, run)));
  if (rows.empty()) return std::nullopt;
  FlagChoiceRow choice;
  for (auto& [set, role] : rows) {
    if (role == "best")
      choice.best = std::move(set);
    else
      (role == "base" ? choice.bases : choice.tried).push_back(std::move(set));
  }
  return choice;
}

}  // namespace hone::store
