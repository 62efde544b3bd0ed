// What a later run goes on from: what became of each dispatch, and the flags that were chosen.
#include "store/clock.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace hone::store {

Result<Id> Store::record(const DispatchResult& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_TRY(
        database_->execute("INSERT INTO dispatch_result (uid, dispatch_id, payload, replacing, "
                           "code, launch, accuracy, "
                           "default_is_wrong, budget, created, run_id) "
                           "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           row.dispatch, row.payload, row.replacing, Bytes{row.code}, row.launch,
                           row.accuracy, row.default_is_wrong, row.budget, now_text(), run_));
    const Id id = database_->last_id();
    for (std::size_t rank = 0; rank < row.near_ties.size(); ++rank) {
      const NearTie& tie = row.near_ties[rank];
      HONE_TRY(database_->execute(
          "INSERT INTO near_tie (result_id, rank, candidate_id, payload, replacing) "
          "VALUES (?, ?, ?, ?, ?)",
          id, static_cast<std::int64_t>(rank), tie.candidate, tie.payload, tie.replacing));
    }
    return id;
  });
}

Result<std::vector<DispatchResult>> Store::dispatch_results(Id run) {
  HONE_ASSIGN(
      Statement statement,
      database_->query("SELECT id, dispatch_id, payload, replacing, code, launch, accuracy, "
                       "default_is_wrong, budget, created, run_id FROM dispatch_result "
                       "WHERE run_id = ? ORDER BY id",
                       run));
  std::vector<DispatchResult> rows;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return rows;
    DispatchResult& row = rows.emplace_back();
    statement.read(row.id, row.dispatch, row.payload, row.replacing, row.code, row.launch,
                   row.accuracy, row.default_is_wrong, row.budget, row.when, row.run);
    HONE_ASSIGN(Statement ties,
                database_->query("SELECT candidate_id, payload, replacing FROM near_tie "
                                 "WHERE result_id = ? ORDER BY rank",
                                 row.id));
    while (true) {
      HONE_ASSIGN(const bool tied, ties.step());
      if (!tied) break;
      NearTie& tie = row.near_ties.emplace_back();
      ties.read(tie.candidate, tie.payload, tie.replacing);
    }
  }
}

Status Store::record(const FlagChoice& choice) {
  if (!run_) return failure("store '{}': no run has begun", path().string());
  return write(*database_, [&]() -> Status {
    HONE_TRY(database_->execute("DELETE FROM flag_choice WHERE run_id = ?", *run_));
    const auto add = [&](const char* role, std::size_t place, const Flags& set) {
      return database_->execute(
          "INSERT INTO flag_choice (run_id, role, place, label, flags) VALUES (?, ?, ?, ?, ?)",
          *run_, role, static_cast<std::int64_t>(place), set.label, set.flags);
    };
    HONE_TRY(add("best", 0, choice.best));
    for (std::size_t i = 0; i < choice.bases.size(); ++i) HONE_TRY(add("base", i, choice.bases[i]));
    for (std::size_t i = 0; i < choice.tried.size(); ++i)
      HONE_TRY(add("tried", i, choice.tried[i]));
    return {};
  });
}

Result<std::optional<FlagChoice>> Store::flag_choice(Id run) {
  HONE_ASSIGN(Statement statement,
              database_->query("SELECT role, label, flags FROM flag_choice WHERE run_id = ? "
                               "ORDER BY role, place",
                               run));
  std::optional<FlagChoice> choice;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return choice;
    if (!choice) choice.emplace();
    std::string role;
    Flags set;
    statement.read(role, set.label, set.flags);
    if (role == "best")
      choice->best = std::move(set);
    else
      (role == "base" ? choice->bases : choice->tried).push_back(std::move(set));
  }
}

}  // namespace hone::store
