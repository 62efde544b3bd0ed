#include "session/found_gemms.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "provider/triton/tune_gemm.h"
#include "trial/records.h"

namespace hone::session {
namespace {

constexpr std::string_view kProvider = "triton";

// A candidate to emit, and the device on which it was timed.
struct Chosen {
  store::Id candidate = 0;
  std::optional<store::Id> device;
};

std::string target_of(const store::BuildRow& build) {
  const auto target = nlohmann::json::parse(build.target, nullptr, false);
  return target.is_object() ? target.value("gpu", "") : "";
}

// Returns the winner, or the default that was kept; nullopt if it is another provider's.
Result<std::optional<store::Id>> candidate_of(store::Store& store,
                                              const store::SelectionRow& selection) {
  if (!selection.winner)
    return store.find_candidate(selection.dispatch, selection.build, kProvider,
                                store::kDefaultConfiguration);
  HONE_ASSIGN(const store::CandidateRow winner, store.candidate(*selection.winner));
  return winner.provider == kProvider ? selection.winner : std::nullopt;
}

Result<std::vector<Chosen>> selected(store::Store& store, const WantedGemms& wanted) {
  HONE_ASSIGN(const std::vector<store::SelectionRow> selections, store.selections());
  std::map<store::Id, Chosen> newest;  // by dispatch
  std::set<std::string> where;
  bool emulated = false;
  for (const store::SelectionRow& selection : selections) {
    HONE_ASSIGN(const store::BuildRow build, store.build(selection.build));
    HONE_ASSIGN(const store::DeviceRow device, store.device(selection.device));
    const std::string target = target_of(build);
    if (!wanted.target.empty() && target != wanted.target) continue;
    if (!wanted.device.empty() && device.name != wanted.device) continue;
    HONE_ASSIGN(const std::optional<store::Id> candidate, candidate_of(store, selection));
    if (!candidate) continue;
    HONE_ASSIGN(const store::DispatchRow row, store.dispatch(selection.dispatch));
    HONE_ASSIGN(const problem::Dispatch dispatch, trial::dispatch_from(row));
    if (!triton::gemm_of(dispatch)) continue;  // a kernel of the user's own
    emulated = emulated || trial::is_emulated(device);
    if (trial::is_emulated(device)) continue;
    newest[selection.dispatch] = {*candidate, selection.device};
    where.insert(fmt::format("{} ({})", device.name, target));
  }
  if (newest.empty() && emulated)
    return input_error(
        "'{}' has GEMMs tuned on an emulator only, whose times are no device's: tune them on the "
        "device",
        store.path().string());
  if (newest.empty())
    return input_error("'{}' has no GEMM tuned by Triton{}; hone tune --provider triton makes them",
                       store.path().string(),
                       wanted.target.empty() && wanted.device.empty() ? "" : " there");
  if (where.size() > 1)
    return input_error("'{}' has results of {}: name one with --target or --device-name",
                       store.path().string(), fmt::join(where, ", "));
  std::vector<Chosen> chosen;
  for (const auto& [dispatch, each] : newest) chosen.push_back(each);
  return chosen;
}

Status add(store::Store& store, const Chosen& chosen, store::Trust trust, FoundGemms& found) {
  HONE_ASSIGN(const store::CandidateDetails details, store.details(chosen.candidate));
  if (details.candidate.provider != kProvider)
    return input_error("candidate {} is not Triton's but of {}", chosen.candidate,
                       details.candidate.provider);
  HONE_ASSIGN(const problem::Dispatch dispatch, trial::dispatch_from(details.dispatch));
  HONE_ASSIGN(const store::ArtifactRow row, store.load_artifact(chosen.candidate, trust));
  HONE_ASSIGN(const provider::Artifact artifact, trial::artifact_from(row));
  triton::EmittedGemm gemm;
  HONE_ASSIGN(gemm.entry.gemm, triton::gemm_of(dispatch));
  for (const triton::EmittedGemm& other : found.gemms)
    if (other.entry.gemm == gemm.entry.gemm)
      return input_error("candidate {} is the second of {}; one of each is emitted",
                         chosen.candidate, dispatch.name);
  const auto knobs = nlohmann::json::parse(row.configured, nullptr, false);
  if (knobs.is_object())
    gemm.entry.configuration =
        triton::keyed(gemm.entry.gemm, knobs.get<std::map<std::string, std::int64_t>>());
  gemm.format = artifact.format;
  gemm.launch = artifact.launch;
  std::string device;
  if (chosen.device) {
    for (const store::Phase phase : {store::Phase::kSearch, store::Phase::kFinalist}) {
      HONE_ASSIGN(const store::KnownResults known,
                  store.known(chosen.candidate, chosen.device, phase));
      if (known.measurement) gemm.seconds = known.measurement->timing.median;
    }
    HONE_ASSIGN(const store::DeviceRow device_row, store.device(*chosen.device));
    device = device_row.name;
  }
  const std::string target = target_of(details.build);
  found.made =
      fmt::format("{}, {}", device.empty() ? target : fmt::format("{} ({})", device, target),
                  details.build.compiler);
  found.gemms.push_back(std::move(gemm));
  found.codes.push_back(artifact.code);
  return {};
}

}  // namespace

Result<FoundGemms> found_gemms(store::Store& store, const WantedGemms& wanted) {
  std::vector<Chosen> chosen;
  for (const store::Id candidate : wanted.candidates) chosen.push_back({candidate, std::nullopt});
  if (chosen.empty()) {
    HONE_ASSIGN(chosen, selected(store, wanted));
  }
  FoundGemms found;
  const store::Trust trust = wanted.trust ? store::Trust::kAnyone : store::Trust::kOwn;
  for (const Chosen& each : chosen) HONE_TRY(add(store, each, trust, found));
  return found;
}

}  // namespace hone::session
