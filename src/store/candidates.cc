// Candidates and their stored results.
#include "store/canonical.h"
#include "store/clock.h"
#include "store/columns.h"
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

Result<Id> Store::add_candidate(const Candidate& candidate) {
  Candidate row = candidate;
  HONE_ASSIGN(row.configuration, canonical_json("configuration", candidate.configuration));
  const auto find = [&] {
    return database_->find<Id>(kFind, row.dispatch, row.build, row.provider, row.configuration);
  };
  return find_or_make(*database_, find, [&] {
    return insert(*database_, row, {", created, run_id", ", ?, ?"}, now_text(), run_);
  });
}

Result<Candidate> Store::candidate(Id id) {
  return select_id<Candidate>(*database_, "candidate", id);
}

Result<Known> Store::known(Id candidate, std::optional<Id> device, Phase phase, Reuse reuse) {
  const bool any = reuse == Reuse::kAny;
  HONE_ASSIGN(const Candidate own, this->candidate(candidate));
  Known known;
  HONE_ASSIGN(known.artifact,
              select_first<Artifact>(*database_,
                                     "WHERE " + std::string(kSameCandidate) +
                                         " ORDER BY candidate_id = ?1 DESC, created DESC",
                                     candidate, any));
  if (!known.artifact) {
    HONE_ASSIGN(known.failure,
                select_first<Failure>(*database_,
                                      "WHERE device_id IS NULL AND " + std::string(kSameCandidate) +
                                          " ORDER BY created DESC, id DESC",
                                      candidate, any));
    return known;
  }
  constexpr std::string_view kOfCode = "WHERE dispatch_id = ? AND identity = ? ";
  constexpr std::string_view kOnDevice =
      "AND (? OR device_id IS ?) AND device_id IS NOT NULL ORDER BY created DESC, id DESC";
  const std::string of_code = std::string(kOfCode) + std::string(kOnDevice);
  const std::string& identity = known.artifact->identity;
  HONE_ASSIGN(known.verification, select_first<VerificationRow>(*database_, of_code, own.dispatch,
                                                                identity, any, device));
  HONE_ASSIGN(known.measurement,
              select_first<Measurement>(*database_, "WHERE phase = ? AND " + of_code.substr(6),
                                        name_of(phase), own.dispatch, identity, any, device));
  HONE_ASSIGN(
      known.failure,
      select_first<Failure>(*database_,
                            "WHERE (SELECT dispatch_id FROM candidate WHERE id = candidate_id) = ? "
                            "AND identity = ? AND identity <> '' " +
                                std::string(kOnDevice),
                            own.dispatch, identity, any, device));
  // Ignore a failure that is older than a verification or measurement of the same code.
  if (known.failure && ((known.verification && known.verification->when > known.failure->when) ||
                        (known.measurement && known.measurement->when > known.failure->when)))
    known.failure.reset();
  return known;
}

}  // namespace hone::store
