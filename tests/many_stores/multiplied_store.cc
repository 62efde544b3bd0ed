// multiplied_store REAL INTO NUMBER COUNT: a store as the task NUMBER of a fleet fills one. It has
// COUNT measured candidates. Their rows are those of the real store's candidates, taken in turn,
// with configurations, code and identities of their own.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "store/store.h"

namespace hone::store {
namespace {

struct RealCandidate {
  CandidateDetails details;
  ArtifactRow artifact;  // with its code
};

Result<std::vector<RealCandidate>> measured_candidates(Store& real) {
  HONE_ASSIGN(const std::vector<CandidateView> rows, real.candidate_rows());
  std::vector<RealCandidate> found;
  for (const CandidateView& row : rows) {
    if (row.state != CandidateState::kMeasured || row.format == kLibraryFormat) continue;
    HONE_ASSIGN(CandidateDetails details, real.details(row.candidate));
    HONE_ASSIGN(ArtifactRow artifact, real.load_artifact(row.candidate, Trust::kAnyone));
    found.push_back({std::move(details), std::move(artifact)});
  }
  if (found.empty()) return input_error("the real store has no measured candidate");
  return found;
}

// The first row of `rows` as a row of `dispatch` on `device`.
template <class Row>
Row placed(const std::vector<Row>& rows, Id dispatch, Id device, const std::string& identity) {
  Row row = rows.front();
  row.dispatch = dispatch;
  row.device = device;
  row.identity = identity;
  return row;
}

// A real candidate whose identities are in the new store.
struct Copied {
  const RealCandidate* real = nullptr;
  Id dispatch = 0, build = 0, device = 0;
};

Result<Copied> copied(Store& store, const RealCandidate& real) {
  const CandidateDetails& details = real.details;
  DispatchRow dispatch = details.dispatch;
  dispatch.operation.reset();
  if (details.operation) {
    HONE_ASSIGN(dispatch.operation, store.intern(*details.operation));
  }
  Copied copy{.real = &real};
  HONE_ASSIGN(copy.dispatch, store.intern(dispatch));
  HONE_ASSIGN(copy.build, store.intern(details.build));
  HONE_ASSIGN(copy.device, store.intern(details.devices.front()));
  return copy;
}

Status add(Store& store, const Copied& from, const std::string& copy) {
  const CandidateDetails& details = from.real->details;
  CandidateRow row = details.candidate;
  row.dispatch = from.dispatch;
  row.build = from.build;
  nlohmann::json configuration = nlohmann::json::parse(row.configuration);
  configuration["copy"] = copy;
  row.configuration = configuration.dump();
  ArtifactRow artifact = from.real->artifact;
  HONE_ASSIGN(artifact.candidate, store.add_candidate(row));
  artifact.identity += "/" + copy;
  artifact.code += copy;
  HONE_TRY(store.record(artifact));
  HONE_TRY(
      store.record(placed(details.verifications, row.dispatch, from.device, artifact.identity)));
  return store.record(placed(details.measurements, row.dispatch, from.device, artifact.identity))
      .map([](Id) {});
}

Status multiply(const char* from, const char* into, const std::string& number, int count) {
  HONE_ASSIGN(Store real, Store::open(from, Mode::kReadOnly));
  HONE_ASSIGN(const std::vector<RealCandidate> candidates, measured_candidates(real));
  HONE_ASSIGN(Store store, Store::open(into, Mode::kReadWrite));
  std::vector<Copied> copies;
  for (const RealCandidate& each : candidates) {
    HONE_ASSIGN(copies.emplace_back(), copied(store, each));
  }
  HONE_TRY(store.begin_run({.command = "hone tune --shard " + number, .version = "test"}));
  HONE_TRY(store.transaction([&]() -> Status {
    for (int i = 0; i < count; ++i)
      HONE_TRY(add(store, copies[static_cast<std::size_t>(i) % copies.size()],
                   fmt::format("{}/{}", number, i)));
    return {};
  }));
  return store.end_run(RunState::kFinished);
}

}  // namespace
}  // namespace hone::store

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const hone::Status made =
      hone::store::multiply(arguments[1], arguments[2], arguments[3], std::atoi(arguments[4]));
  if (made) return 0;
  fmt::print(stderr, "{}\n", made.error().message);
  return 1;
}
