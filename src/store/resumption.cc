// State that a later run resumes from: results of dispatches, and the chosen flags.
#include <span>

#include "store/clock.h"
#include "store/columns.h"
#include "store/store.h"

namespace hone::store {

Result<Id> Store::record(const DispatchResult& row) {
  return write(*database_, [&]() -> Result<Id> {
    HONE_ASSIGN(const Id id,
                insert(*database_, row,
                       {", code, created, run_id, uid", ", ?, ?, ?, lower(hex(randomblob(16)))"},
                       Bytes{row.code}, now_text(), run_));
    std::int64_t rank = 0;
    for (const NearTie& tie : row.near_ties)
      HONE_TRY(insert(*database_, tie, {", result_id, rank", ", ?, ?"}, id, rank++));
    return id;
  });
}

Result<std::vector<DispatchResult>> Store::dispatch_results(Id run) {
  std::vector<DispatchResult> rows;
  const auto add = [&](std::pair<DispatchResult, std::string>& found) -> Status {
    auto& [row, code] = found;
    row.code = std::move(code);
    HONE_ASSIGN(row.near_ties,
                select_all<NearTie>(*database_, "WHERE result_id = ? ORDER BY rank", row.id));
    rows.push_back(std::move(row));
    return {};
  };
  const std::string sql = select_sql<DispatchResult>(", code") + "WHERE run_id = ? ORDER BY id";
  HONE_TRY((database_->each<std::pair<DispatchResult, std::string>>(sql, add, run)));
  return rows;
}

Status Store::record(const FlagChoice& choice) {
  if (!run_) return failure("store '{}': no run has begun", path().string());
  return write(*database_, [&]() -> Status {
    HONE_TRY(database_->execute("DELETE FROM flag_choice WHERE run_id = ?", *run_));
    const auto add = [&](const char* role, std::span<const Flags> sets) -> Status {
      std::int64_t place = 0;
      for (const Flags& set : sets)
        HONE_TRY(
            insert(*database_, set, {", run_id, role, place", ", ?, ?, ?"}, *run_, role, place++));
      return {};
    };
    HONE_TRY(add("best", {&choice.best, 1}));
    HONE_TRY(add("base", choice.bases));
    return add("tried", choice.tried);
  });
}

Result<std::optional<FlagChoice>> Store::flag_choice(Id run) {
  const std::string sql = select_sql<Flags>(", role") + "WHERE run_id = ? ORDER BY role, place";
  HONE_ASSIGN(auto rows, (database_->all<std::pair<Flags, std::string>>(sql, run)));
  if (rows.empty()) return std::nullopt;
  FlagChoice choice;
  for (auto& [set, role] : rows) {
    if (role == "best")
      choice.best = std::move(set);
    else
      (role == "base" ? choice.bases : choice.tried).push_back(std::move(set));
  }
  return choice;
}

}  // namespace hone::store
