// What was found out of candidates: artifacts, failures, verifications, measurements.
#include "store/blobs.h"
#include "store/canonical.h"
#include "store/clock.h"
#include "store/select.h"
#include "store/store.h"

namespace hone::store {

Status Store::record(const Artifact& artifact) {
  HONE_TRY(check_json("artifact's launch", artifact.launch));
  return write(*database_, [&]() -> Status {
    HONE_ASSIGN(const Id code, intern_blob(*database_, artifact.code));
    return database_->execute(
        "INSERT OR REPLACE INTO artifact (candidate_id, identity, format, launch, code_id, "
        "configured, compile_seconds, seal, created, run_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)",
        artifact.candidate, artifact.identity, artifact.format, artifact.launch, code,
        artifact.configured, artifact.compile_seconds, seal_of(artifact, seal_key()), now_text(),
        run_);
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
  return seal && std::get<0>(*seal) == seal_of(*artifact, seal_key());
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
  if (!code || !std::get<0>(*code))
    return input_error(
        "the code of candidate {} was removed from the store '{}' by 'hone store gc': compile it "
        "again",
        candidate, path().string());
  HONE_ASSIGN(artifact->code, load_blob(*database_, *std::get<0>(*code)));
  return *std::move(artifact);
}

Result<Id> Store::record(const Failure& row) {
  // A failure on a device is one of the code that ran there.
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
  HONE_TRY(database_->execute(
      "INSERT INTO verification (uid, dispatch_id, identity, device_id, correct, bad_binding, "
      "bad_index, expected, got, share_bad, tolerance, basis, rules, reference, created, run_id) "
      "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      row.dispatch, row.identity, row.device, row.right, row.bad_binding, row.bad_index,
      row.expected, row.got, row.share_bad, row.tolerance, row.basis, row.rules, row.reference,
      now_text(), run_));
  return database_->last_id();
}

Result<Id> Store::record(const Measurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  const Timing& timing = row.timing;
  HONE_TRY(database_->execute(
      "INSERT INTO measurement (uid, dispatch_id, identity, device_id, phase, samples, "
      "launches_per_sample, dropped, min, median, spread, low, high, sentinel_ratio, machine, "
      "created, run_id) VALUES (lower(hex(randomblob(16))), "
      "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      row.dispatch, row.identity, row.device, name_of(row.phase), timing.samples,
      timing.launches_per_sample, timing.dropped, timing.min, timing.median, timing.spread,
      timing.low, timing.high, row.sentinel_ratio, row.machine, now_text(), run_));
  return database_->last_id();
}

Status Store::record(const DeviceFact& fact) {
  return database_->execute(
      "INSERT INTO device_fact (uid, device_id, name, value, unit, created, run_id) "
      "VALUES (lower(hex(randomblob(16))), ?, ?, ?, ?, ?, ?)",
      fact.device, fact.name, fact.value, fact.unit, now_text(), run_);
}

Result<std::vector<DeviceFact>> Store::device_facts(Id device) {
  HONE_ASSIGN(Statement statement,
              database_->query("SELECT device_id, name, value, unit, created, run_id "
                               "FROM device_fact WHERE device_id = ? "
                               "ORDER BY name, created DESC, id DESC",
                               device));
  std::vector<DeviceFact> facts;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return facts;
    DeviceFact fact;
    statement.read(fact.device, fact.name, fact.value, fact.unit, fact.when, fact.run);
    if (facts.empty() || facts.back().name != fact.name) facts.push_back(std::move(fact));
  }
}

}  // namespace hone::store
