// report_store FILE COUNT: a store as after a tuning of a program with three dispatches, without
// one. Every figure follows from a candidate's number, so that a test can name it. The first
// dispatch has COUNT candidates, the second 12, a third none; about one in seven does not compile.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "store/store.h"

namespace hone::store {
namespace {

constexpr double kDefaultSeconds = 4e-3;

struct Places {
  Id build = 0, device = 0, program = 0;
};

Timing timing(double seconds) {
  return {.samples = {seconds, seconds, seconds},
          .min = 0.99 * seconds,
          .median = seconds,
          .spread = 0.01,
          .low = 0.98 * seconds,
          .high = 1.02 * seconds};
}

Status add_measured(Store& store, const Places& at, const CandidateRow& candidate, double seconds,
                    Phase phase) {
  HONE_ASSIGN(const Id id, store.add_candidate(candidate));
  const std::string identity = fmt::format("{}/{}", candidate.dispatch, candidate.configuration);
  ArtifactRow artifact{.candidate = id, .identity = identity, .format = "elf", .launch = "{}"};
  artifact.code = "code of " + identity;
  HONE_TRY(store.record(artifact));
  HONE_TRY(store.record(VerificationRow{.dispatch = candidate.dispatch,
                                        .identity = identity,
                                        .device = at.device,
                                        .right = true,
                                        .tolerance = "exact"}));
  HONE_TRY(store.record(Measurement{.dispatch = candidate.dispatch,
                                    .identity = identity,
                                    .device = at.device,
                                    .phase = phase,
                                    .timing = timing(seconds),
                                    .sentinel_ratio = seconds / kDefaultSeconds}));
  return {};
}

// The message is markup, as a page must not take it.
Status add_failed(Store& store, const CandidateRow& candidate, int number) {
  HONE_ASSIGN(const Id id, store.add_candidate(candidate));
  HONE_TRY(store.record(FailureRow{
      .candidate = id,
      .kind = number % 2 == 0 ? "compile error" : "not applied",
      .message = "error: <img src=https://example.com/x.png onerror=\"document.title='run'\">"
                 "</script> vector size"}));
  return {};
}

Status fill(Store& store, const Places& at, Id dispatch, int count) {
  CandidateRow candidate{.dispatch = dispatch, .build = at.build, .provider = "iree"};
  candidate.configuration = kDefaultConfiguration;
  HONE_TRY(add_measured(store, at, candidate, kDefaultSeconds, Phase::kSentinel));
  candidate.constraint_set = "llvm-cpu contraction";
  Id winner = 0;
  for (int i = 0; i < count; ++i) {
    candidate.configuration = nlohmann::json{
        {"dist_m", 1 << (i % 7)},
        {"dist_n", 1 << (i / 7 % 9)},
        {"unroll", i / 63 % 4},
        {"serial", i / 252}}.dump();
    if (i % 7 == 3) {
      HONE_TRY(add_failed(store, candidate, i));
      continue;
    }
    // 1 ms at the winner, which is candidate 8, up to 8 ms.
    const double seconds = i == 8 ? 1e-3 : 1.1e-3 + 6.9e-3 * (i * 7919 % 1000) / 1000;
    HONE_TRY(add_measured(store, at, candidate, seconds, Phase::kSearch));
    if (i != 8) continue;
    HONE_ASSIGN(winner, store.add_candidate(candidate));
    HONE_TRY(add_measured(store, at, candidate, seconds, Phase::kFinalist));
  }
  HONE_TRY(store.record(SelectionRow{.dispatch = dispatch,
                                     .build = at.build,
                                     .device = at.device,
                                     .winner = winner,
                                     .ties = {winner},
                                     .speedup = 4,
                                     .speedup_low = 3.9,
                                     .speedup_high = 4.1,
                                     .shipped = true,
                                     .reason = "faster than every other finalist"}));
  return {};
}

Result<Id> add_dispatch(Store& store, const Places& at, const std::string& name, int ordinal) {
  HONE_ASSIGN(const Id operation,
              store.intern(OperationRow{.fingerprint = "operation of " + name,
                                        .kind = "matmul",
                                        .description = "matmul 512x512x512 f32,f32->f32",
                                        .json = R"({"operands":[{"type":{"element":"f32"}}]})",
                                        .flops = 268435456}));
  HONE_ASSIGN(
      const Id dispatch,
      store.intern(DispatchRow{
          .fingerprint = name,
          .name = name,
          .operation = operation,
          .source = "source",
          .json = R"({"bindings":[{"bytes":1048576},{"bytes":1048576},{"bytes":1048576}]})"}));
  HONE_TRY(store.link_dispatch({at.program, dispatch, ordinal, 1}));
  return dispatch;
}

Status make(const std::string& path, int count) {
  HONE_ASSIGN(Store store, Store::open(path, Mode::kReadWrite));
  return store.transaction([&]() -> Status {
    Places at;
    HONE_ASSIGN(at.program,
                store.intern(ProgramRow{.hash = "p", .path = "net.mlir", .json = "{}"}));
    HONE_TRY(store.begin_run(
        {.command = "hone tune net.mlir --budget 1h", .version = "1", .program = at.program}));
    HONE_ASSIGN(at.build, store.intern(BuildRow{.compiler = "IREE 3.13.0",
                                                .flags = R"(["--iree-llvmcpu-target-cpu=host"])",
                                                .target = R"({"cpu":"znver5"})"}));
    HONE_ASSIGN(at.device, store.intern(DeviceRow{.name = "AMD EPYC 9654",
                                                  .driver = "6.1",
                                                  .protocol = R"({"threads":2,"cache":"warm"})"}));
    for (const auto& [name, value] : {std::pair{kPeakFact, 500e9}, {kBandwidthFact, 50e9}}) {
      DeviceFact fact;
      fact.device = at.device;
      fact.name = name;
      fact.value = value;
      fact.unit = name == kPeakFact ? "flop/s" : "byte/s";
      HONE_TRY(store.record(fact));
    }
    HONE_ASSIGN(const Id large, add_dispatch(store, at, "net_dispatch_0", 0));
    HONE_ASSIGN(const Id small, add_dispatch(store, at, "net_dispatch_1", 1));
    HONE_TRY(add_dispatch(store, at, "net_dispatch_2", 2));  // there was no time for it
    HONE_TRY(fill(store, at, large, count));
    HONE_TRY(fill(store, at, small, 12));
    for (const bool tuned : {false, true})
      HONE_TRY(store.record(ProgramMeasurement{.program = at.program,
                                               .build = at.build,
                                               .device = at.device,
                                               .variant = tuned ? "spec" : "default",
                                               .spec = tuned ? "// Use: --spec=THIS_FILE\n" : "",
                                               .timing = timing(tuned ? 5e-3 : 10e-3),
                                               .ratio = tuned ? 0.5 : 1,
                                               .ratio_low = tuned ? 0.4 : 1,
                                               .ratio_high = tuned ? 0.625 : 1,
                                               .right = true,
                                               .verdict = tuned ? "faster" : "no different"}));
    HONE_TRY(store.log_event(
        "compile flags",
        R"({"variant":"spec","flags":["--iree-llvmcpu-target-cpu=host","--spec=out/tuning_spec.mlir"]})"));
    // 1 / 0.5, 1 / 0.625 and 1 / 0.4.
    HONE_TRY(store.log_event(
        "program proof",
        R"({"variant":"spec","recommended":"spec","recommended_in_error":0.05,"against_default":{
          "verdict":"faster","margin":0.1,
          "at_sizes":[{"speedup":2,"speedup_low":1.6,"speedup_high":2.5,"rounds":20}]},
          "spec_against_flags":null,"flags_against_default":null})"));
    HONE_TRY(store.log_event("verdict", R"({"outcome":"faster","reason":""})"));
    return store.end_run(RunState::kFinished);
  });
}

}  // namespace
}  // namespace hone::store

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: report_store FILE COUNT\n");
    return 2;
  }
  if (const auto made = hone::store::make(argv[1], std::stoi(argv[2])); !made) {
    fmt::print(stderr, "report_store: {}\n", made.error().message);
    return 1;
  }
  return 0;
}
