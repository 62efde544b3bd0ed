// Maps the rows of rows.h to tables: a table's name, its columns and the matching fields. Reading
// and writing a row share this list. Private to this folder.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "store/rows.h"
#include "store/sqlite.h"

namespace hone::store {

// Columns of one row type as SQL, the key first where rows are interned. `fields` ties a row's
// fields in the same order. Excluded are values that the store fills: ids, the time and run of rows
// that have a run, and references to blobs.
template <class Fields>
struct Columns {
  std::string_view table, names;
  Fields fields;
};

template <class Row>
inline constexpr auto kColumns = nullptr;

inline constexpr auto kTimingFields = [](auto& timing) {
  return std::tie(timing.samples, timing.launches_per_sample, timing.dropped, timing.min,
                  timing.median, timing.spread, timing.low, timing.high);
};

template <>
inline constexpr auto kColumns<Build> =
    Columns{"build_identity", "hash, compiler, flags, target",
            [](auto& row) { return std::tie(row.hash, row.compiler, row.flags, row.target); }};

template <>
inline constexpr auto kColumns<Device> =
    Columns{"device_identity", "hash, name, driver, protocol",
            [](auto& row) { return std::tie(row.hash, row.name, row.driver, row.protocol); }};

template <>
inline constexpr auto kColumns<Operation> = Columns{
    "operation", "fingerprint, kind, description, json, flops, bytes", [](auto& row) {
      return std::tie(row.fingerprint, row.kind, row.description, row.json, row.flops, row.bytes);
    }};

template <>
inline constexpr auto kColumns<Dispatch> =
    Columns{"dispatch", "fingerprint, name, operation_id, json",
            [](auto& row) { return std::tie(row.fingerprint, row.name, row.operation, row.json); }};

template <>
inline constexpr auto kColumns<Program> = Columns{"program", "hash, path, json", [](auto& row) {
                                                    return std::tie(row.hash, row.path, row.json);
                                                  }};

template <>
inline constexpr auto kColumns<ProgramDispatch> = Columns{
    "program_dispatch", "program_id, dispatch_id, ordinal, launches_per_call", [](auto& row) {
      return std::tie(row.program, row.dispatch, row.ordinal, row.launches_per_call);
    }};

template <>
inline constexpr auto kColumns<Run> =
    Columns{"run", "command, task, version, seed, program_id, process, started, ended, state",
            [](auto& row) {
              return std::tie(row.command, row.task, row.version, row.seed, row.program,
                              row.process, row.started, row.ended, row.state);
            }};

template <>
inline constexpr auto kColumns<Event> =
    Columns{"event", "sequence, created, kind, text",
            [](auto& row) { return std::tie(row.sequence, row.when, row.kind, row.text); }};

template <>
inline constexpr auto kColumns<Candidate> = Columns{
    "candidate", "dispatch_id, build_id, provider, configuration, constraint_set", [](auto& row) {
      return std::tie(row.dispatch, row.build, row.provider, row.configuration, row.constraint_set);
    }};

template <>
inline constexpr auto kColumns<Artifact> =
    Columns{"artifact", "candidate_id, identity, format, launch, configured, compile_seconds",
            [](auto& row) {
              return std::tie(row.candidate, row.identity, row.format, row.launch, row.configured,
                              row.compile_seconds);
            }};

template <>
inline constexpr auto kColumns<Failure> = Columns{
    "failure", "candidate_id, device_id, identity, kind, message, seconds", [](auto& row) {
      return std::tie(row.candidate, row.device, row.identity, row.kind, row.message, row.seconds);
    }};

template <>
inline constexpr auto kColumns<VerificationRow> =
    Columns{"verification",
            "dispatch_id, identity, device_id, correct, bad_binding, bad_index, expected, got, "
            "share_bad, tolerance, basis, rules, reference",
            [](auto& row) {
              return std::tie(row.dispatch, row.identity, row.device, row.right, row.bad_binding,
                              row.bad_index, row.expected, row.got, row.share_bad, row.tolerance,
                              row.basis, row.rules, row.reference);
            }};

template <>
inline constexpr auto kColumns<Measurement> =
    Columns{"measurement",
            "dispatch_id, identity, device_id, phase, sentinel_ratio, machine, samples, "
            "launches_per_sample, dropped, min, median, spread, low, high",
            [](auto& row) {
              return std::tuple_cat(std::tie(row.dispatch, row.identity, row.device, row.phase,
                                             row.sentinel_ratio, row.machine),
                                    kTimingFields(row.timing));
            }};

template <>
inline constexpr auto kColumns<ProgramMeasurement> =
    Columns{"program_measurement",
            "program_id, build_id, device_id, purpose, variant, ratio, ratio_low, ratio_high, "
            "correct, same_as, verdict, machine, samples, launches_per_sample, dropped, min, "
            "median, spread, low, high",
            [](auto& row) {
              return std::tuple_cat(std::tie(row.program, row.build, row.device, row.purpose,
                                             row.variant, row.ratio, row.ratio_low, row.ratio_high,
                                             row.right, row.same_as, row.verdict, row.machine),
                                    kTimingFields(row.timing));
            }};

template <>
inline constexpr auto kColumns<Selection> =
    Columns{"selection",
            "dispatch_id, build_id, device_id, winner_id, speedup, speedup_low, speedup_high, "
            "shipped, reason",
            [](auto& row) {
              return std::tie(row.dispatch, row.build, row.device, row.winner, row.speedup,
                              row.speedup_low, row.speedup_high, row.shipped, row.reason);
            }};

template <>
inline constexpr auto kColumns<DispatchResult> = Columns{
    "dispatch_result",
    "dispatch_id, payload, replacing, launch, accuracy, default_is_wrong, budget", [](auto& row) {
      return std::tie(row.dispatch, row.payload, row.replacing, row.launch, row.accuracy,
                      row.default_is_wrong, row.budget);
    }};

template <>
inline constexpr auto kColumns<NearTie> =
    Columns{"near_tie", "candidate_id, payload, replacing",
            [](auto& row) { return std::tie(row.candidate, row.payload, row.replacing); }};

template <>
inline constexpr auto kColumns<Flags> = Columns{
    "flag_choice", "label, flags", [](auto& row) { return std::tie(row.label, row.flags); }};

template <>
inline constexpr auto kColumns<DeviceFact> =
    Columns{"device_fact", "device_id, name, value, unit",
            [](auto& row) { return std::tie(row.device, row.name, row.value, row.unit); }};

template <>
inline constexpr auto kColumns<Lease> =
    Columns{"lease", "key, owner, taken, heartbeat, expires", [](auto& row) {
              return std::tie(row.key, row.owner, row.taken, row.heartbeat, row.expires);
            }};

// Returns all fields that are read: the row's own and those that the store fills.
template <class Row>
requires requires {
  kColumns<Row>.table;
}
auto fields_of(Row& row) {
  const auto filled = [&] {
    if constexpr (requires { row.has_code; })
      return std::tie(row.when, row.run, row.has_code);
    else if constexpr (requires { row.id, row.run; })
      return std::tie(row.when, row.run, row.id);
    else if constexpr (requires { row.run; })
      return std::tie(row.when, row.run);
    else if constexpr (requires { row.id; })
      return std::tie(row.id);
    else
      return std::tuple();
  };
  return std::tuple_cat(kColumns<Row>.fields(row), filled());
}

// A row with one column more.
template <class Row, class More>
auto fields_of(std::pair<Row, More>& row) {
  return std::tuple_cat(fields_of(row.first), std::tie(row.second));
}

// Returns "SELECT ... FROM ... " for fields_of() and the columns in `more`: ", spec_id".
template <class Row>
std::string select_sql(std::string_view more = {}) {
  std::string columns(kColumns<Row>.names);
  if constexpr (requires(Row row) { row.run; }) columns += ", created, run_id";
  if constexpr (requires(Row row) { row.id; }) columns += ", id";
  if constexpr (requires(Row row) { row.has_code; }) columns += ", code_id IS NOT NULL";
  return fmt::format("SELECT {}{} FROM {} ", columns, more, kColumns<Row>.table);
}

// `tail` is what follows the table: "WHERE candidate_id = ? ORDER BY id".
template <class Row, class... Arguments>
Result<std::vector<Row>> select_all(Database& database, std::string_view tail,
                                    const Arguments&... arguments) {
  return database.all<Row>(select_sql<Row>().append(tail), arguments...);
}

template <class Row, class... Arguments>
Result<std::optional<Row>> select_first(Database& database, std::string_view tail,
                                        const Arguments&... arguments) {
  return database.find<Row>(select_sql<Row>().append(tail) + " LIMIT 1", arguments...);
}

// Returns the row; an input error, which calls the row `name`, if there is none.
template <class Row>
Result<Row> select_id(Database& database, std::string_view name, Id id) {
  HONE_ASSIGN(std::optional<Row> row, select_first<Row>(database, "WHERE id = ?", id));
  if (!row) return input_error("the store '{}' has no {} {}", database.path().string(), name, id);
  return *std::move(row);
}

// SQL written beside a row's fields: columns, and their values with a '?' for each argument.
struct MoreColumns {
  std::string_view columns = {}, values = {};
  std::string_view verb = "INSERT";
};
// Columns of a run's results. `uid` identifies a row in every store that it is merged into.
inline constexpr MoreColumns kOfRun = {", created, run_id, uid",
                                       ", ?, ?, lower(hex(randomblob(16)))"};

// Inserts the row and returns its id.
template <class Row, class... Arguments>
Result<Id> insert(Database& database, const Row& row, const MoreColumns& more = {},
                  const Arguments&... arguments) {
  return std::apply(
      [&](const auto&... fields) -> Result<Id> {
        std::string marks = "?";
        for (std::size_t i = 1; i < sizeof...(fields); ++i) marks += ", ?";
        HONE_TRY(database.execute(
            fmt::format("{} INTO {} ({}{}) VALUES ({}{})", more.verb, kColumns<Row>.table,
                        kColumns<Row>.names, more.columns, marks, more.values),
            fields..., arguments...));
        return database.last_id();
      },
      kColumns<Row>.fields(row));
}

// Set `value` to the enumerator called `name`. An input error if there is none.
Status find_named(std::string_view name, Phase& value);
Status find_named(std::string_view name, RunState& value);
Status find_named(std::string_view name, Purpose& value);

}  // namespace hone::store
