#include "store/select.h"

namespace hone::store {

template <class E>
struct Named {
  E value;
  std::string_view name;
};

constexpr Named<RunState> kRunStates[] = {{RunState::kRunning, "running"},
                                          {RunState::kFinished, "finished"},
                                          {RunState::kInterrupted, "interrupted"},
                                          {RunState::kFailed, "failed"}};
constexpr Named<Phase> kPhases[] = {{Phase::kSearch, "search"},
                                    {Phase::kSentinel, "sentinel"},
                                    {Phase::kFinalist, "finalist"},
                                    {Phase::kOwnRuntime, "iree_runtime"},
                                    {Phase::kProgram, "program"}};

std::string_view name_of(RunState state) {
  for (const auto& [value, name] : kRunStates)
    if (value == state) return name;
  return "";
}
std::string_view name_of(Phase phase) {
  for (const auto& [value, name] : kPhases)
    if (value == phase) return name;
  return "";
}
// The tables' CHECK admits no other names, but a file may have been made without it.
Result<RunState> run_state_from(std::string_view name) {
  for (const auto& [value, text] : kRunStates)
    if (text == name) return value;
  return input_error("the store has a run that is '{}', which means nothing here", name);
}
Result<Phase> phase_from(std::string_view name) {
  for (const auto& [value, text] : kPhases)
    if (text == name) return value;
  return input_error("the store has a measurement of '{}', which means nothing here", name);
}

const std::string_view RowSelect<Build>::kName = "build";
const std::string_view RowSelect<Build>::kSql =
    "SELECT id, hash, compiler, flags, target FROM build_identity";
Status RowSelect<Build>::read(const Statement& statement, Build& row) {
  statement.read(row.id, row.hash, row.compiler, row.flags, row.target);
  return {};
}

const std::string_view RowSelect<Device>::kName = "device";
const std::string_view RowSelect<Device>::kSql =
    "SELECT id, hash, name, driver, protocol FROM device_identity";
Status RowSelect<Device>::read(const Statement& statement, Device& row) {
  statement.read(row.id, row.hash, row.name, row.driver, row.protocol);
  return {};
}

const std::string_view RowSelect<Operation>::kName = "operation";
const std::string_view RowSelect<Operation>::kSql =
    "SELECT id, fingerprint, kind, description, json, flops, bytes FROM operation";
Status RowSelect<Operation>::read(const Statement& statement, Operation& row) {
  statement.read(row.id, row.fingerprint, row.kind, row.description, row.json, row.flops,
                 row.bytes);
  return {};
}

const std::string_view RowSelect<Program>::kName = "program";
const std::string_view RowSelect<Program>::kSql = "SELECT id, hash, path, json FROM program";
Status RowSelect<Program>::read(const Statement& statement, Program& row) {
  statement.read(row.id, row.hash, row.path, row.json);
  return {};
}

const std::string_view RowSelect<Run>::kName = "run";
const std::string_view RowSelect<Run>::kSql =
    "SELECT id, command, task, version, seed, program_id, process, started, ended, state FROM run";
Status RowSelect<Run>::read(const Statement& statement, Run& row) {
  std::string state;
  statement.read(row.id, row.command, row.task, row.version, row.seed, row.program, row.process,
                 row.started, row.ended, state);
  HONE_ASSIGN(row.state, run_state_from(state));
  return {};
}

const std::string_view RowSelect<Candidate>::kName = "candidate";
const std::string_view RowSelect<Candidate>::kSql =
    "SELECT id, dispatch_id, build_id, provider, configuration, constraint_set, created, run_id "
    "FROM candidate";
Status RowSelect<Candidate>::read(const Statement& statement, Candidate& row) {
  statement.read(row.id, row.dispatch, row.build, row.provider, row.configuration,
                 row.constraint_set, row.when, row.run);
  return {};
}

const std::string_view RowSelect<Artifact>::kName = "artifact";
const std::string_view RowSelect<Artifact>::kSql =
    "SELECT candidate_id, identity, format, launch, code_id IS NOT NULL, configured, "
    "compile_seconds, created, run_id FROM artifact";
Status RowSelect<Artifact>::read(const Statement& statement, Artifact& row) {
  statement.read(row.candidate, row.identity, row.format, row.launch, row.has_code, row.configured,
                 row.compile_seconds, row.when, row.run);
  return {};
}

const std::string_view RowSelect<Failure>::kName = "failure";
const std::string_view RowSelect<Failure>::kSql =
    "SELECT id, candidate_id, device_id, identity, kind, message, seconds, created, run_id "
    "FROM failure";
Status RowSelect<Failure>::read(const Statement& statement, Failure& row) {
  statement.read(row.id, row.candidate, row.device, row.identity, row.kind, row.message,
                 row.seconds, row.when, row.run);
  return {};
}

const std::string_view RowSelect<VerificationRow>::kName = "verification";
const std::string_view RowSelect<VerificationRow>::kSql =
    "SELECT id, dispatch_id, identity, device_id, correct, bad_binding, bad_index, expected, got, "
    "share_bad, tolerance, basis, rules, reference, created, run_id FROM verification";
Status RowSelect<VerificationRow>::read(const Statement& statement, VerificationRow& row) {
  statement.read(row.id, row.dispatch, row.identity, row.device, row.right, row.bad_binding,
                 row.bad_index, row.expected, row.got, row.share_bad, row.tolerance, row.basis,
                 row.rules, row.reference, row.when, row.run);
  return {};
}

const std::string_view RowSelect<Measurement>::kName = "measurement";
const std::string_view RowSelect<Measurement>::kSql =
    "SELECT id, dispatch_id, identity, device_id, phase, samples, launches_per_sample, dropped, "
    "min, median, spread, low, high, sentinel_ratio, machine, created, run_id FROM measurement";
Status RowSelect<Measurement>::read(const Statement& statement, Measurement& row) {
  std::string phase;
  Timing& timing = row.timing;
  statement.read(row.id, row.dispatch, row.identity, row.device, phase, timing.samples,
                 timing.launches_per_sample, timing.dropped, timing.min, timing.median,
                 timing.spread, timing.low, timing.high, row.sentinel_ratio, row.machine, row.when,
                 row.run);
  HONE_ASSIGN(row.phase, phase_from(phase));
  return {};
}

}  // namespace hone::store
