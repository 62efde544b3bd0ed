#include "profiler/library_rows.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "trial/kernel_runner.h"
#include "trial/records.h"

namespace hone::profiler {
namespace {

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

using Best = std::map<std::string, ProfileRow>;  // by provider

void keep_faster(Best& best, const ProfileRow& row) {
  ProfileRow& known = best.try_emplace(row.provider, row).first->second;
  if (!known.timing || row.timing->median < known.timing->median) known = row;
}

std::vector<ProfileRow> rows_of(Best& best) {
  std::vector<ProfileRow> rows;
  for (auto& [provider, row] : best) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

measure::Protocol profile_protocol(int repetitions, const device::Traits& traits) {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = 0.03;
  protocol.min_samples = static_cast<std::size_t>(repetitions);
  protocol.max_samples = std::max<std::size_t>(protocol.min_samples, 20);
  protocol.max_seconds = 0.1;
  protocol.batch_seconds = 0.001;
  protocol.target_width = 0.01;
  protocol.early_stop_factor = 0;
  if (traits.one_batch_tells) {
    // Sample less: the clocks are up from the previous kernel, and nothing preempts the device
    // between batches.
    protocol.warm_up_seconds = 0.002;
    protocol.max_samples = std::max<std::size_t>(protocol.min_samples, 10);
    protocol.batch_seconds = 0.0005;
  }
  return protocol;
}

Result<std::vector<ProfileRow>> measured_libraries(tune::Context& context,
                                                   const ProfileOptions& options,
                                                   const NamedOperation& operation,
                                                   store::Id dispatch) {
  HONE_ASSIGN(const trial::KernelResult<std::vector<measure::LibraryBaseline>> loaded,
              context.runner.ask(measure::jobs::kBaselines));
  if (!loaded) return std::vector<ProfileRow>();  // no library is for it
  trial::KernelRunner runner(context.runner);
  Best best;
  for (std::size_t i = 0; i < loaded->size(); ++i) {
    const measure::LibraryBaseline& baseline = (*loaded)[i];
    trial::RunnerKernel kernel{{}, baseline.handle, context.runner.generation()};
    ProfileRow row;
    row.operation = operation;
    row.provider = first_word(baseline.library);
    row.configuration = baseline.algorithm.empty() ? "default" : baseline.algorithm;
    row.message = baseline.note;
    if (options.verify) {
      HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified, runner.verify(kernel));
      row.verified = verified && verified->right ? Verified::kSuccess : Verified::kFailed;
      if (row.verified == Verified::kFailed) {
        // Reported if the library has no correct kernel.
        row.message = verified ? verified->message : verified.error().message;
        best.try_emplace(row.provider, row);
        continue;
      }
    }
    measure::MeasureRequest how;
    how.protocol = profile_protocol(options.repetitions, context.options.traits());
    how.seed = context.options.seed;
    HONE_ASSIGN(const trial::KernelResult<measure::MeasureResult> measured,
                runner.measure({&kernel}, nullptr, how));
    if (!measured) continue;
    store::CandidateRow candidate;
    candidate.dispatch = dispatch;
    candidate.build = context.baseline.build;
    candidate.provider = row.provider;
    candidate.configuration =
        nlohmann::json{{"algorithm", row.configuration}, {"note", row.message}}.dump();
    store::ArtifactRow artifact;
    HONE_ASSIGN(artifact.candidate, context.store.add_candidate(candidate));
    artifact.identity = fmt::format("{}, {}, choice {}", baseline.library, row.configuration, i);
    artifact.format = store::kLibraryFormat;
    artifact.launch = "{}";
    artifact.configured = baseline.note;
    HONE_TRY(context.store.record(artifact));
    const store::Measurement measurement = trial::measurement_row(
        dispatch, artifact.identity, context.device, context.options.place().address.cores,
        measured->handles.front(), *measured);
    HONE_TRY(context.store.record(measurement));
    row.timing = measurement.timing;
    keep_faster(best, row);
  }
  return rows_of(best);
}

Result<std::vector<ProfileRow>> known_libraries(tune::Context& context,
                                                const ProfileOptions& options,
                                                const NamedOperation& operation,
                                                store::Id dispatch) {
  HONE_ASSIGN(
      const std::vector<store::CandidateView> rows,
      context.store.candidate_rows(
          {.dispatch = dispatch, .build = context.baseline.build, .device = context.device}));
  Best best;
  for (const store::CandidateView& each : rows) {
    if (each.format != store::kLibraryFormat || !each.median_seconds) continue;
    const auto configuration = parse_json(each.configuration);
    if (!configuration.is_object() || !configuration.contains("note")) continue;
    ProfileRow row;
    row.operation = operation;
    row.provider = each.provider;
    row.configuration = configuration.value("algorithm", "");
    row.message = configuration.value("note", "");
    row.known = true;
    HONE_ASSIGN(const store::KnownResults known,
                context.store.known(each.candidate, context.device, store::Phase::kSearch));
    if (!known.measurement) continue;
    row.timing = known.measurement->timing;
    if (options.verify) row.verified = Verified::kSuccess;
    keep_faster(best, row);
  }
  return rows_of(best);
}

}  // namespace hone::profiler
