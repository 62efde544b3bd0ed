// Results of candidates: artifacts, failures, verifications, measurements.
#include <algorithm>

#include "store/blobs.h"
#include "store/canonical.h"
#include "store/clock.h"
#include "store/columns.h"
#include "store/store.h"

namespace hone::store {

Status Store::record(const Artifact& artifact) {
  HONE_TRY(check_json("artifact's launch", artifact.launch));
  return write(*database_, [&]() -> Status {
    HONE_ASSIGN(const Id code, intern_blob(*database_, artifact.code));
    HONE_TRY(insert(*database_, artifact,
                    {", code_id, seal, created, run_id", ", ?, ?, ?, ?", "INSERT OR REPLACE"}, code,
                    seal_of(artifact, seal_key()), now_text(), run_));
    return {};
  });
}

const SealKey& Store::seal_key() {
  if (!seal_key_) seal_key_ = own_seal_key();
  return *seal_key_;
}

Result<bool> Store::is_own(Id candidate) {
  const Result<Artifact> artifact = load_artifact(candidate, Trust::kAnyone);
  if (!artifact && artifact.error().kind == ErrorKind::kEnvironment)
    return tl::unexpected(artifact.error());
  if (!artifact) return false;
  HONE_ASSIGN(const auto seal, database_->find<std::string>(
                                   "SELECT seal FROM artifact WHERE candidate_id = ?", candidate));
  return seal == seal_of(*artifact, seal_key());
}

Result<Artifact> Store::load_artifact(Id candidate, Trust trust) {
  if (trust == Trust::kOwn) {
    HONE_ASSIGN(Artifact artifact, load_artifact(candidate, Trust::kAnyone));
    HONE_ASSIGN(const bool own, is_own(candidate));
    if (own) return artifact;
    return input_error(
        "the code of candidate {} in the store '{}' was not compiled by you with this hone's key, "
        "and machine code can do whatever a program can: compile it again, or say --trust",
        candidate, path().string());
  }
  HONE_ASSIGN(std::optional<Artifact> artifact,
              select_first<Artifact>(*database_, "WHERE candidate_id = ?", candidate));
  if (!artifact)
    return input_error("the store '{}' has no artifact of candidate {}", path().string(),
                       candidate);
  HONE_ASSIGN(const auto code,
              database_->find<std::optional<Id>>(
                  "SELECT code_id FROM artifact WHERE candidate_id = ?", candidate));
  if (!code || !*code)
    return input_error(
        "the code of candidate {} was removed from the store '{}' by 'hone store gc': compile it "
        "again",
        candidate, path().string());
  HONE_ASSIGN(artifact->code, load_blob(*database_, **code));
  return *std::move(artifact);
}

Result<Id> Store::record(const Failure& row) {
  // A failure on a device belongs to the code that ran there.
  HONE_TRY(database_->execute(
      "INSERT INTO failure (uid, candidate_id, device_id, identity, kind, message, seconds, "
      "created, run_id) SELECT lower(hex(randomblob(16))), ?1, ?2, "
      "CASE WHEN ?2 IS NULL THEN '' ELSE coalesce(nullif(?3, ''), "
      "(SELECT identity FROM artifact WHERE candidate_id = ?1), '') END, ?4, ?5, ?6, ?7, ?8",
      row.candidate, row.device, row.identity, row.kind, row.message, row.seconds, now_text(),
      run_));
  return database_->last_id();
}

Result<Id> Store::record(const VerificationRow& row) {
  return insert(*database_, row, kOfRun, now_text(), run_);
}

Result<Id> Store::record(const Measurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  return insert(*database_, row, kOfRun, now_text(), run_);
}

Status Store::record(const DeviceFact& fact) {
  HONE_TRY(insert(*database_, fact, kOfRun, now_text(), run_));
  return {};
}

Result<std::vector<DeviceFact>> Store::device_facts(Id device) {
  HONE_ASSIGN(std::vector<DeviceFact> facts,
              select_all<DeviceFact>(
                  *database_, "WHERE device_id = ? ORDER BY name, created DESC, id DESC", device));
  const auto older = std::ranges::unique(facts, {}, &DeviceFact::name);
  facts.erase(older.begin(), older.end());
  return facts;
}

}  // namespace hone::store
