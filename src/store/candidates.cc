// Candidates and their results: artifacts, failures, verifications, measurements.
#include <algorithm>

#include "store/encoding.h"
#include "store/host.h"
#include "store/row_queries.h"
#include "store/store.h"

namespace hone::store {
namespace {

constexpr std::string_view kFind =
    "SELECT id FROM candidate "
    "WHERE dispatch_id = ? AND build_id = ? AND provider = ? AND configuration = ?";

// Candidates whose results count for candidate ?1: itself, and if ?2 is set equal ones of other
// builds.
constexpr std::string_view kSameCandidate =
    "candidate_id IN (SELECT ?1 UNION "
    "SELECT other.id FROM candidate AS own JOIN candidate AS other "
    "ON other.dispatch_id = own.dispatch_id AND other.provider = own.provider "
    "AND other.configuration = own.configuration WHERE ?2 AND own.id = ?1)";

}  // namespace

Result<std::optional<Id>> Store::find_candidate(Id dispatch, Id build, std::string_view provider,
                                                std::string_view configuration) {
  HONE_ASSIGN(const std::string canonical, canonical_json("configuration", configuration));
  return database_->find<Id>(kFind, dispatch, build, provider, canonical);
}

Result<Id> Store::add_candidate(const CandidateRow& candidate) {
  CandidateRow row = candidate;
  HONE_ASSIGN(row.configuration, canonical_json("configuration", candidate.configuration));
  const auto find = [&] {
    return database_->find<Id>(kFind, row.dispatch, row.build, row.provider, row.configuration);
  };
  return find_or_make(*database_, find,
                      [&] { return insert(*database_, row, kCreatedInRun, now_text(), run_); });
}

Result<CandidateRow> Store::candidate(Id id) {
  return select_id<CandidateRow>(*database_, "candidate", id);
}

Result<KnownResults> Store::known(Id candidate, std::optional<Id> device, Phase phase,
                                  Reuse reuse) {
  const bool any = reuse == Reuse::kAny;
  HONE_ASSIGN(const CandidateRow own, this->candidate(candidate));
  KnownResults known;
  HONE_ASSIGN(known.artifact,
              select_first<ArtifactRow>(*database_,
                                        "WHERE " + std::string(kSameCandidate) +
                                            " ORDER BY candidate_id = ?1 DESC, created DESC",
                                        candidate, any));
  if (!known.artifact) {
    HONE_ASSIGN(known.failure, select_first<FailureRow>(*database_,
                                                        "WHERE device_id IS NULL AND " +
                                                            std::string(kSameCandidate) +
                                                            " ORDER BY created DESC, id DESC",
                                                        candidate, any));
    return known;
  }
  constexpr std::string_view kOfCode = "WHERE dispatch_id = ? AND identity = ? ";
  // Times of an emulator are never a GPU's, nor the other way round (device::Facts::emulated).
  constexpr std::string_view kOnDevice =
      "AND (? OR device_id IS ?) AND device_id IS NOT NULL "
      "AND (SELECT json_extract(protocol, '$.identity.emulated') FROM device_identity "
      "     WHERE id = device_id) IS "
      "    (SELECT json_extract(protocol, '$.identity.emulated') FROM device_identity "
      "     WHERE id IS ?) ORDER BY created DESC, id DESC";
  const std::string of_code = std::string(kOfCode) + std::string(kOnDevice);
  const std::string& identity = known.artifact->identity;
  HONE_ASSIGN(known.verification, select_first<VerificationRow>(*database_, of_code, own.dispatch,
                                                                identity, any, device, device));
  HONE_ASSIGN(known.measurement, select_first<Measurement>(
                                     *database_, "WHERE phase = ? AND " + of_code.substr(6),
                                     name_of(phase), own.dispatch, identity, any, device, device));
  HONE_ASSIGN(known.failure,
              select_first<FailureRow>(
                  *database_,
                  "WHERE (SELECT dispatch_id FROM candidate WHERE id = candidate_id) = ? "
                  "AND identity = ? AND identity <> '' " +
                      std::string(kOnDevice),
                  own.dispatch, identity, any, device, device));
  // Ignore a failure that is older than a verification or measurement of the same code.
  if (known.failure && ((known.verification && known.verification->when > known.failure->when) ||
                        (known.measurement && known.measurement->when > known.failure->when)))
    known.failure.reset();
  return known;
}

Status Store::record(const ArtifactRow& artifact) {
  HONE_TRY(check_json("artifact's launch", artifact.launch));
  return write(*database_, [&]() -> Status {
    HONE_ASSIGN(const Id code, intern_blob(*database_, artifact.code));
    HONE_TRY(insert(*database_, artifact, {"code_id, seal, created, run_id", "INSERT OR REPLACE"},
                    code, seal_of(artifact, seal_key()), now_text(), run_));
    return {};
  });
}

const SealKey& Store::seal_key() {
  if (!seal_key_) seal_key_ = own_seal_key();
  return *seal_key_;
}

Result<bool> Store::is_own(Id candidate) {
  const Result<ArtifactRow> artifact = load_artifact(candidate, Trust::kAnyone);
  if (!artifact && artifact.error().kind == ErrorKind::kEnvironment)
    return tl::unexpected(artifact.error());
  if (!artifact) return false;
  HONE_ASSIGN(const auto seal, database_->find<std::string>(
                                   "SELECT seal FROM artifact WHERE candidate_id = ?", candidate));
  return seal == seal_of(*artifact, seal_key());
}

Result<ArtifactRow> Store::load_artifact(Id candidate, Trust trust) {
  if (trust == Trust::kOwn) {
    HONE_ASSIGN(ArtifactRow artifact, load_artifact(candidate, Trust::kAnyone));
    HONE_ASSIGN(const bool own, is_own(candidate));
    if (own) return artifact;
    return input_error(
        "the code of candidate {} in the store '{}' was not compiled by you with this hone's key, "
        "and machine code can do whatever a program can: compile it again, or say --trust",
        candidate, path().string());
  }
  HONE_ASSIGN(std::optional<ArtifactRow> artifact,
              select_first<ArtifactRow>(*database_, "WHERE candidate_id = ?", candidate));
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

Result<Id> Store::record(const FailureRow& failure) {
  return write(*database_, [&]() -> Result<Id> {
    FailureRow row = failure;
    // A failure on a device belongs to the code that ran there.
    if (!row.device) row.identity.clear();
    if (row.device && row.identity.empty()) {
      HONE_ASSIGN(const auto identity,
                  database_->find<std::string>(
                      "SELECT identity FROM artifact WHERE candidate_id = ?", row.candidate));
      row.identity = identity.value_or("");
    }
    return insert(*database_, row, kCreatedInRun, now_text(), run_);
  });
}

Result<Id> Store::record(const VerificationRow& row) {
  return insert(*database_, row, kCreatedInRun, now_text(), run_);
}

Result<Id> Store::record(const Measurement& row) {
  HONE_TRY(check_json("machine's state", row.machine));
  return insert(*database_, row, kCreatedInRun, now_text(), run_);
}

Status Store::record(const DeviceFact& fact) {
  HONE_TRY(insert(*database_, fact, kCreatedInRun, now_text(), run_));
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
