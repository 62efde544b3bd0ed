#include "tune/dispatch/prepared_work.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "problem/code_target.h"
#include "trial/records.h"
#include "tune/dispatch/emulated_check.h"

namespace hone::tune {
namespace {

constexpr std::string_view kPreparedEvent = "prepared", kMeasuredEvent = "measured";

template <class Work>
Result<std::optional<std::pair<store::Id, Work>>> newest(store::Store& store, std::string_view kind,
                                                         const std::string& input) {
  HONE_ASSIGN(const auto texts, store.event_texts(kind));
  for (auto each = texts.rbegin(); each != texts.rend(); ++each) {
    Result<Work> work = decode_json<Work>(parse_json(each->second));
    if (work && work->input == input) return std::pair(each->first, std::move(*work));
  }
  return std::nullopt;
}

// Names at most a few of a list: "a, b and 7 more".
std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.size() <= kMost) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{} and {} more",
                     fmt::join(names.begin(), names.begin() + std::ptrdiff_t{kMost}, ", "),
                     names.size() - kMost);
}

class StoredReader {
 public:
  StoredReader(store::Store& store, const PreparedWork& work, std::string_view provider,
               store::Trust trust, std::string_view device_target)
      : store_(store),
        work_(work),
        provider_(provider),
        trust_(trust),
        device_target_(device_target) {}

  Result<StoredDispatches> read() {
    HONE_ASSIGN(build_, store_.intern(work_.build.row()));
    HONE_ASSIGN(reference_build_, store_.intern(work_.reference_build.row()));
    StoredDispatches stored;
    for (const PreparedDispatch& each : work_.dispatches) {
      HONE_ASSIGN(std::optional<problem::Dispatch> dispatch, dispatch_of(each.dispatch));
      if (!dispatch) {
        missing_.push_back("dispatch " + each.dispatch);
        continue;
      }
      HONE_ASSIGN(const std::optional<provider::Artifact> code,
                  default_code(each.dispatch, build_));
      if (code)
        HONE_TRY(check_target(*code));
      else
        missing_.push_back("the default's code of " + dispatch->name);
      HONE_TRY(read_reference(each, dispatch->name, stored));
      stored.dispatches.push_back(std::move(*dispatch));
    }
    if (missing_.empty()) return stored;
    return input_error(
        "the store '{0}' lacks {1}: 'hone tune {2} --compile-only --store {0}', where the compiler "
        "is, compiles it again",
        store_.path().string(), few_of(missing_), work_.path);
  }

 private:
  Status read_reference(const PreparedDispatch& prepared, const std::string& name,
                        StoredDispatches& stored) {
    auto& reference = stored.references.emplace_back();
    auto& code = stored.reference_code.emplace_back();
    if (prepared.reference.empty()) return {};
    HONE_ASSIGN(reference, dispatch_of(prepared.reference));
    // The compiler's own choice under the same flags serves where no independent compile does.
    const bool is_own = prepared.reference == prepared.dispatch;
    HONE_ASSIGN(code, default_code(prepared.reference, is_own ? build_ : reference_build_));
    if (!reference || !code) missing_.push_back("the reference of " + name);
    return {};
  }

  Status check_target(const provider::Artifact& code) const {
    for (const problem::KernelPart& part : problem::kernels_of(code.launch, code.code))
      if (const Status meant = problem::check_code_target(part.code, device_target_); !meant)
        return input_error("the store '{}' is for another device: {}; compile with --target {}",
                           store_.path().string(), meant.error().message, device_target_);
    return {};
  }

  Result<std::optional<problem::Dispatch>> dispatch_of(const std::string& fingerprint) {
    HONE_ASSIGN(const std::optional<store::Id> id, store_.find_dispatch(fingerprint));
    if (!id) return std::nullopt;
    HONE_ASSIGN(const store::DispatchRow row, store_.dispatch(*id));
    HONE_ASSIGN(problem::Dispatch dispatch, trial::dispatch_from(row));
    return dispatch;
  }

  Result<std::optional<provider::Artifact>> default_code(const std::string& fingerprint,
                                                         store::Id build) {
    return stored_default(store_, fingerprint, build, provider_, trust_);
  }

  store::Store& store_;
  const PreparedWork& work_;
  std::string_view provider_;
  store::Trust trust_;
  std::string_view device_target_;
  store::Id build_ = 0, reference_build_ = 0;
  std::vector<std::string> missing_;
};

// Candidates that an emulator found wrong, among rows of candidates and devices.
Result<std::set<store::Id>> wrong_on_emulator(store::Store& store,
                                              const std::vector<store::CandidateView>& rows) {
  std::map<store::Id, bool> emulated;  // by device
  std::set<store::Id> wrong;
  for (const store::CandidateView& row : rows) {
    if (!row.device) continue;
    if (const auto [known, is_new] = emulated.try_emplace(*row.device); is_new) {
      HONE_ASSIGN(const store::DeviceRow device, store.device(*row.device));
      known->second = trial::is_emulated(device);
    }
    if (!emulated.at(*row.device)) continue;
    const auto kind = provider::failure_kind_from(row.failure_kind);
    if (row.state == store::CandidateState::kWrong ||
        (row.state == store::CandidateState::kFailed && kind &&
         verdict_of(*kind) == EmulatedVerdict::kWrong))
      wrong.insert(row.candidate);
  }
  return wrong;
}

}  // namespace

Status keep_prepared(store::Store& store, const PreparedWork& work) {
  return store.log_event(kPreparedEvent, nlohmann::json(work).dump());
}

Status keep_measured(store::Store& store, const MeasuredWork& work) {
  return store.log_event(kMeasuredEvent, nlohmann::json(work).dump());
}

Result<std::optional<PreparedWork>> find_prepared(store::Store& store, const std::string& input) {
  HONE_ASSIGN(auto found, newest<PreparedWork>(store, kPreparedEvent, input));
  if (!found) return std::nullopt;
  return std::move(found->second);
}

Result<std::optional<MeasuredWork>> find_measured(store::Store& store, const std::string& input) {
  HONE_ASSIGN(auto found, newest<MeasuredWork>(store, kMeasuredEvent, input));
  if (!found) return std::nullopt;
  found->second.run = found->first;
  return std::move(found->second);
}

const problem::Dispatch* find_reference(std::span<const problem::Dispatch> references,
                                        const problem::Dispatch& dispatch) {
  const auto reference = std::ranges::find_if(references, [&](const problem::Dispatch& other) {
    // Launch sets of a kernel differ in their constants.
    return other.name == dispatch.name && other.bindings == dispatch.bindings &&
           other.constants == dispatch.constants;
  });
  return reference == references.end() ? nullptr : &*reference;
}

Result<StoredDispatches> stored_dispatches(store::Store& store, const PreparedWork& work,
                                           std::string_view provider, store::Trust trust,
                                           std::string_view device_target) {
  return StoredReader(store, work, provider, trust, device_target).read();
}

Result<std::optional<provider::Artifact>> stored_default(store::Store& store,
                                                         const std::string& fingerprint,
                                                         store::Id build, std::string_view provider,
                                                         store::Trust trust) {
  HONE_ASSIGN(const std::optional<store::Id> dispatch, store.find_dispatch(fingerprint));
  if (!dispatch) return std::nullopt;
  HONE_ASSIGN(const std::optional<store::Id> candidate,
              store.find_candidate(*dispatch, build, provider, store::kDefaultConfiguration));
  if (!candidate) return std::nullopt;
  const Result<store::ArtifactRow> row = store.load_artifact(*candidate, trust);
  if (!row && row.error().kind == ErrorKind::kInput) return std::nullopt;
  HONE_TRY(row);
  HONE_ASSIGN(provider::Artifact artifact, trial::artifact_from(*row));
  return artifact;
}

Result<std::vector<space::Configuration>> compiled_configurations(Context& context,
                                                                  const problem::Dispatch& dispatch,
                                                                  std::string_view provider,
                                                                  const space::Space& space) {
  HONE_ASSIGN(const store::Id id, trial::intern_dispatch(context.store, dispatch));
  store::Filter filter;
  filter.dispatch = id;
  filter.build = context.baseline.build;
  HONE_ASSIGN(const std::vector<store::CandidateView> rows, context.store.candidate_rows(filter));
  HONE_ASSIGN(const std::set<store::Id> wrong, wrong_on_emulator(context.store, rows));
  std::vector<space::Configuration> configurations;
  store::Id last = 0;  // a candidate has a row for each device
  std::size_t removed = 0;
  std::vector<store::Id> skipped;
  for (const store::CandidateView& row : rows) {
    if (row.provider != provider || row.is_default || row.identity.empty() || row.candidate == last)
      continue;
    last = row.candidate;
    if (wrong.contains(row.candidate)) {
      skipped.push_back(row.candidate);
      continue;
    }
    HONE_ASSIGN(const store::KnownResults known, context.store.known(row.candidate, std::nullopt));
    if (!known.artifact || !known.artifact->has_code) {
      ++removed;
      continue;
    }
    const auto json = nlohmann::ordered_json::parse(row.configuration, nullptr, false);
    // The form that a winner ships in is a candidate too, and no configuration of the space.
    if (auto configuration = space::configuration_from_json(space, json))
      configurations.push_back(std::move(*configuration));
  }
  if (removed > 0)
    context.warn(
        "'{}': the store no longer has the code of {} candidates ('hone store gc' removes "
        "it), and they are not measured",
        dispatch.name, removed);
  if (!skipped.empty())
    context.warn(
        "'{}': {} candidates are not measured: the emulator found them wrong (hone show {} says "
        "how)",
        dispatch.name, skipped.size(), skipped.front());
  return configurations;
}

}  // namespace hone::tune
