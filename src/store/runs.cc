// Runs and their events.
#include "store/clock.h"
#include "store/columns.h"
#include "store/process.h"
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
  HONE_ASSIGN(
      const Id id, write(*database_, [&]() -> Result<Id> {
        HONE_TRY(interrupt_dead_runs(*database_));
        HONE_TRY(database_->execute(
            "INSERT INTO run (uid, command, task, version, seed, program_id, process, "
            "started, state) "
            "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, 'running')",
            run.command, run.task, run.version, run.seed, run.program, this_process(), now_text()));
        return database_->last_id();
      }));
  run_ = id;
  return id;
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

Result<std::vector<Event>> Store::events(Id run) {
  return select_all<Event>(*database_, "WHERE run_id = ? ORDER BY sequence", run);
}

}  // namespace hone::store
