#include "store/tables.h"

namespace hone::store {
namespace {

const Reference kRun = {"run_id", "run"};
const Reference kDevice = {"device_id", "device_identity"};
const Reference kDispatch = {"dispatch_id", "dispatch"};
const Reference kBuild = {"build_id", "build_identity"};
const Reference kCandidate = {"candidate_id", "candidate"};

}  // namespace

std::vector<Table> tables() {
  return {
      {"blob", {"hash", "size", "zstd"}, {}, {"hash"}},
      {"build_identity", {"hash", "compiler", "flags", "target"}, {}, {"hash"}},
      {"device_identity", {"hash", "name", "driver", "protocol"}, {}, {"hash"}},
      {"operation",
       {"fingerprint", "kind", "description", "json", "flops", "bytes"},
       {},
       {"fingerprint"}},
      {"dispatch",
       {"fingerprint", "name", "json"},
       {{"operation_id", "operation"}, {"source_id", "blob"}},
       {"fingerprint"}},
      {"program", {"hash", "path", "json"}, {}, {"hash"}},
      {"program_dispatch",
       {"ordinal", "launches_per_call"},
       {{"program_id", "program"}, kDispatch},
       {"program_id", "dispatch_id"},
       false},
      {"run",
       {"uid", "command", "task", "version", "seed", "process", "started", "ended", "state"},
       {{"program_id", "program"}},
       {"uid"}},
      {"event", {"sequence", "created", "kind", "text"}, {kRun}, {"run_id", "sequence"}, false},
      {"candidate",
       {"provider", "configuration", "constraint_set", "created"},
       {kDispatch, kBuild, kRun},
       {"dispatch_id", "build_id", "provider", "configuration"}},
      {"artifact",
       {"identity", "format", "launch", "configured", "compile_seconds", "seal", "created"},
       {kCandidate, {"code_id", "blob"}, kRun},
       {"candidate_id"},
       false},
      {"failure",
       {"uid", "identity", "kind", "message", "seconds", "created"},
       {kCandidate, kDevice, kRun},
       {"uid"}},
      {"verification",
       {"uid", "identity", "correct", "bad_binding", "bad_index", "expected", "got", "share_bad",
        "tolerance", "basis", "rules", "reference", "created"},
       {kDispatch, kDevice, kRun},
       {"uid"}},
      {"measurement",
       {"uid", "identity", "phase", "samples", "launches_per_sample", "dropped", "min", "median",
        "spread", "low", "high", "sentinel_ratio", "machine", "created"},
       {kDispatch, kDevice, kRun},
       {"uid"}},
      {"program_measurement",
       {"uid", "variant", "samples", "launches_per_sample", "dropped", "min", "median", "spread",
        "low", "high", "ratio", "ratio_low", "ratio_high", "correct", "verdict", "machine",
        "purpose", "same_as", "created"},
       {{"program_id", "program"}, kBuild, kDevice, {"spec_id", "blob"}, kRun},
       {"uid"}},
      {"selection",
       {"uid", "speedup", "speedup_low", "speedup_high", "shipped", "reason", "created"},
       {kDispatch, kBuild, kDevice, {"winner_id", "candidate"}, kRun},
       {"uid"}},
      {"selection_tie",
       {},
       {{"selection_id", "selection"}, kCandidate},
       {"selection_id", "candidate_id"},
       false},
      {"dispatch_result",
       {"uid", "payload", "replacing", "code", "launch", "accuracy", "default_is_wrong", "budget",
        "created"},
       {kDispatch, kRun},
       {"uid"}},
      {"near_tie",
       {"rank", "payload", "replacing"},
       {{"result_id", "dispatch_result"}, kCandidate},
       {"result_id", "rank"},
       false},
      {"flag_choice",
       {"role", "place", "label", "flags"},
       {kRun},
       {"run_id", "role", "place"},
       false},
      {"device_fact", {"uid", "name", "value", "unit", "created"}, {kDevice, kRun}, {"uid"}},
  };
}

}  // namespace hone::store
