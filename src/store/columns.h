// The column list of the store: each table with its columns and the fields of rows.h that hold
// them. The schema, reading and writing rows, merging, rescuing and checking a store all follow
// this list. Private to this folder.
//
// A new column or table stands here, in a migration (schema.cc), and nowhere else. A column that a
// migration has added stands last, as ALTER TABLE puts it there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "store/rows.h"
#include "store/sqlite.h"

namespace hone::store {

// Declaration of a column beside its type, which follows from the field's.
struct Declared {
  std::string_view references = {};  // the table whose ids it holds
  std::string_view more = {};        // "DEFAULT 1"
  bool id = false;                   // the row id
  bool key = false;                  // tells rows apart, with the table's other keys
  bool json = false;                 // every reader parses its text as JSON
  bool nullable = false;             // NULL is read as an empty text
};
inline constexpr Declared kKey{.key = true};
inline constexpr Declared kJson{.json = true};
constexpr Declared to(std::string_view table) {
  return {.references = table};
}
constexpr Declared key_to(std::string_view table) {
  return {.references = table, .key = true};
}

// Origin of a column: the caller writes the row's field, or the store fills the column and reads it
// into the field. kPresence tells in the field whether the store has filled it. kHidden is no part
// of the row.
enum class Filled { kByCaller, kByStore, kPresence, kHidden };

// `Field` gives the field of a row: a pointer to a member, or a function.
template <Filled kFilled, class Field>
struct TableColumn {
  std::string_view name;
  Field field;
  Declared declared;
};
template <class T>
struct Hidden {
  using Value = T;
};

template <class Field>
constexpr auto column(std::string_view name, Field field, Declared declared = {}) {
  return TableColumn<Filled::kByCaller, Field>{name, field, declared};
}
template <class Field>
constexpr auto filled(std::string_view name, Field field, Declared declared = {}) {
  return TableColumn<Filled::kByStore, Field>{name, field, declared};
}
template <class Value>
constexpr auto hidden(std::string_view name, Declared declared = {}) {
  return TableColumn<Filled::kHidden, Hidden<Value>>{name, {}, declared};
}
template <class Field>
constexpr auto presence(std::string_view name, Field field, Declared declared) {
  return TableColumn<Filled::kPresence, Field>{name, field, declared};
}

inline constexpr Declared kRowId{.id = true};
// Identifies a row in every store that it is merged into: random.
inline constexpr auto kUid = hidden<std::string>("uid", kKey);

// When and in which run the store wrote the row.
template <class Row>
inline constexpr auto kOfRun =
    std::tuple{filled("created", &Row::when), filled("run_id", &Row::run, to("run"))};

// Samples are seconds: 64-bit floats, little endian.
template <class Row>
constexpr auto timing_columns() {
  constexpr auto of = [](auto Timing::*member) {
    return [member](auto& row) -> auto& {
      return row.timing.*member;
    };
  };
  return std::tuple{column("samples", of(&Timing::samples)),
                    column("launches_per_sample", of(&Timing::launches_per_sample)),
                    column("dropped", of(&Timing::dropped)),
                    column("min", of(&Timing::min)),
                    column("median", of(&Timing::median)),
                    column("spread", of(&Timing::spread)),
                    column("low", of(&Timing::low)),
                    column("high", of(&Timing::high))};
}

// `columns` is a tuple; the constructor's arguments are columns and tuples of them.
template <class Columns>
struct RowTable {
  template <class... Parts>
  constexpr explicit RowTable(std::string_view table, Parts... parts)
      : name(table), columns(std::tuple_cat(std::tuple(parts)...)) {}

  std::string_view name;
  Columns columns;
};
template <class... Parts>
RowTable(std::string_view, Parts...)
    -> RowTable<decltype(std::tuple_cat(std::tuple(std::declval<Parts>())...))>;

// The table of a row type. Blob and SelectionTie have no rows of their own in rows.h.
struct Blob;
struct SelectionTie;
template <class Row>
inline constexpr auto kTable = nullptr;

template <>
inline constexpr auto kTable<Blob> = RowTable{
    "blob",
    hidden<Id>("id", kRowId),
    hidden<std::string>("hash", kKey),  // content_hash of the bytes before compression
    hidden<Id>("size"),                 // of the bytes before compression
    hidden<Bytes>("zstd"),
};

template <>
inline constexpr auto kTable<BuildRow> = RowTable{
    "build_identity",
    filled("id", &BuildRow::id, kRowId),
    column("hash", &BuildRow::hash, kKey),
    column("compiler", &BuildRow::compiler),
    column("flags", &BuildRow::flags, kJson),
    column("target", &BuildRow::target, kJson),
};

template <>
inline constexpr auto kTable<DeviceRow> = RowTable{
    "device_identity",
    filled("id", &DeviceRow::id, kRowId),
    column("hash", &DeviceRow::hash, kKey),
    column("name", &DeviceRow::name),
    column("driver", &DeviceRow::driver),
    column("protocol", &DeviceRow::protocol, kJson),
};

template <>
inline constexpr auto kTable<OperationRow> = RowTable{
    "operation",
    filled("id", &OperationRow::id, kRowId),
    column("fingerprint", &OperationRow::fingerprint, kKey),
    column("kind", &OperationRow::kind),
    column("description", &OperationRow::description),
    column("json", &OperationRow::json, kJson),
    column("flops", &OperationRow::flops),
    column("bytes", &OperationRow::bytes),
};

template <>
inline constexpr auto kTable<DispatchRow> = RowTable{
    "dispatch",
    filled("id", &DispatchRow::id, kRowId),
    column("fingerprint", &DispatchRow::fingerprint, kKey),
    column("name", &DispatchRow::name),
    column("operation_id", &DispatchRow::operation, to("operation")),
    hidden<Id>("source_id", to("blob")),
    column("json", &DispatchRow::json, kJson),
};

template <>
inline constexpr auto kTable<ProgramRow> = RowTable{
    "program",
    filled("id", &ProgramRow::id, kRowId),
    column("hash", &ProgramRow::hash, kKey),
    column("path", &ProgramRow::path),
    column("json", &ProgramRow::json, kJson),
};

template <>
inline constexpr auto kTable<ProgramDispatch> = RowTable{
    "program_dispatch",
    column("program_id", &ProgramDispatch::program, key_to("program")),
    column("dispatch_id", &ProgramDispatch::dispatch, key_to("dispatch")),
    column("ordinal", &ProgramDispatch::ordinal),
    column("launches_per_call", &ProgramDispatch::launches_per_call),
};

template <>
inline constexpr auto kTable<Run> = RowTable{
    "run",
    filled("id", &Run::id, kRowId),
    kUid,
    column("command", &Run::command),
    column("version", &Run::version),
    column("seed", &Run::seed),
    column("program_id", &Run::program, to("program")),
    column("process", &Run::process),
    column("started", &Run::started),
    filled("ended", &Run::ended, {.nullable = true}),
    column("state", &Run::state),
    column("task", &Run::task, {.more = "DEFAULT ''"}),
};

template <>
inline constexpr auto kTable<EventRow> = RowTable{
    "event",
    hidden<Id>("run_id", key_to("run")),
    column("sequence", &EventRow::sequence, kKey),
    column("created", &EventRow::when),
    column("kind", &EventRow::kind),
    column("text", &EventRow::text),
};

template <>
inline constexpr auto kTable<CandidateRow> = RowTable{
    "candidate",
    filled("id", &CandidateRow::id, kRowId),
    column("dispatch_id", &CandidateRow::dispatch, key_to("dispatch")),
    column("build_id", &CandidateRow::build, key_to("build_identity")),
    column("provider", &CandidateRow::provider, kKey),
    column("configuration", &CandidateRow::configuration, {.key = true, .json = true}),
    column("constraint_set", &CandidateRow::constraint_set),
    kOfRun<CandidateRow>,
};

template <>
inline constexpr auto kTable<Lease> = RowTable{
    "lease",
    column("key", &Lease::key, kKey),
    column("owner", &Lease::owner),
    column("taken", &Lease::taken),
    column("heartbeat", &Lease::heartbeat),
    column("expires", &Lease::expires),
    hidden<std::string>("boot"),    // boot id of the kernel the owner runs on
    hidden<Id>("expires_boot_ms"),  // on that kernel's CLOCK_BOOTTIME
};

// Verifications and measurements refer to the artifact's identity, not to the candidate: equal code
// is verified and measured once.
template <>
inline constexpr auto kTable<ArtifactRow> = RowTable{
    "artifact",
    column("candidate_id", &ArtifactRow::candidate,
           {.references = "candidate", .id = true, .key = true}),
    column("identity", &ArtifactRow::identity),
    column("format", &ArtifactRow::format),
    column("launch", &ArtifactRow::launch, kJson),
    presence("code_id", &ArtifactRow::has_code, to("blob")),  // NULL once it is garbage collected
    column("configured", &ArtifactRow::configured),
    column("compile_seconds", &ArtifactRow::compile_seconds),
    kOfRun<ArtifactRow>,
    hidden<std::string>("seal", {.more = "DEFAULT ''"}),  // seal.h
};

template <>
inline constexpr auto kTable<FailureRow> = RowTable{
    "failure",
    filled("id", &FailureRow::id, kRowId),
    kUid,
    column("candidate_id", &FailureRow::candidate, to("candidate")),
    column("device_id", &FailureRow::device, to("device_identity")),
    column("identity", &FailureRow::identity),
    column("kind", &FailureRow::kind),
    column("message", &FailureRow::message),
    column("seconds", &FailureRow::seconds),
    kOfRun<FailureRow>,
};

template <>
inline constexpr auto kTable<VerificationRow> = RowTable{
    "verification",
    filled("id", &VerificationRow::id, kRowId),
    kUid,
    column("dispatch_id", &VerificationRow::dispatch, to("dispatch")),
    column("identity", &VerificationRow::identity),
    column("device_id", &VerificationRow::device, to("device_identity")),
    column("correct", &VerificationRow::right),
    column("bad_binding", &VerificationRow::bad_binding),
    column("bad_index", &VerificationRow::bad_index),
    column("expected", &VerificationRow::expected),
    column("got", &VerificationRow::got),
    column("share_bad", &VerificationRow::share_bad),
    column("tolerance", &VerificationRow::tolerance),
    column("basis", &VerificationRow::basis),
    kOfRun<VerificationRow>,
    column("rules", &VerificationRow::rules, {.more = "DEFAULT 1"}),
    column("reference", &VerificationRow::reference, {.more = "DEFAULT ''"}),
    column("absolute_tolerance", &VerificationRow::absolute_tolerance),
    column("relative_tolerance", &VerificationRow::relative_tolerance),
};

template <>
inline constexpr auto kTable<Measurement> = RowTable{
    "measurement",
    filled("id", &Measurement::id, kRowId),
    kUid,
    column("dispatch_id", &Measurement::dispatch, to("dispatch")),
    column("identity", &Measurement::identity),
    column("device_id", &Measurement::device, to("device_identity")),
    column("phase", &Measurement::phase),
    timing_columns<Measurement>(),
    column("sentinel_ratio", &Measurement::sentinel_ratio),
    column("machine", &Measurement::machine, kJson),
    kOfRun<Measurement>,
};

template <>
inline constexpr auto kTable<ProgramMeasurement> = RowTable{
    "program_measurement",
    filled("id", &ProgramMeasurement::id, kRowId),
    kUid,
    column("program_id", &ProgramMeasurement::program, to("program")),
    column("build_id", &ProgramMeasurement::build, to("build_identity")),
    column("device_id", &ProgramMeasurement::device, to("device_identity")),
    column("variant", &ProgramMeasurement::variant),
    hidden<std::optional<Id>>("spec_id", to("blob")),
    timing_columns<ProgramMeasurement>(),
    column("ratio", &ProgramMeasurement::ratio),
    column("ratio_low", &ProgramMeasurement::ratio_low),
    column("ratio_high", &ProgramMeasurement::ratio_high),
    column("correct", &ProgramMeasurement::right),
    column("verdict", &ProgramMeasurement::verdict),
    column("machine", &ProgramMeasurement::machine, kJson),
    kOfRun<ProgramMeasurement>,
    column("purpose", &ProgramMeasurement::purpose, {.more = "DEFAULT 'proof'"}),
    column("same_as", &ProgramMeasurement::same_as, {.more = "DEFAULT ''"}),
};

template <>
inline constexpr auto kTable<SelectionRow> = RowTable{
    "selection",
    filled("id", &SelectionRow::id, kRowId),
    kUid,
    column("dispatch_id", &SelectionRow::dispatch, to("dispatch")),
    column("build_id", &SelectionRow::build, to("build_identity")),
    column("device_id", &SelectionRow::device, to("device_identity")),
    column("winner_id", &SelectionRow::winner, to("candidate")),
    column("speedup", &SelectionRow::speedup),
    column("speedup_low", &SelectionRow::speedup_low),
    column("speedup_high", &SelectionRow::speedup_high),
    column("shipped", &SelectionRow::shipped),
    column("reason", &SelectionRow::reason),
    kOfRun<SelectionRow>,
};

template <>
inline constexpr auto kTable<SelectionTie> = RowTable{
    "selection_tie",
    hidden<Id>("selection_id", key_to("selection")),
    hidden<Id>("candidate_id", key_to("candidate")),
};

template <>
inline constexpr auto kTable<DeviceFact> = RowTable{
    "device_fact",
    hidden<Id>("id", kRowId),
    kUid,
    column("device_id", &DeviceFact::device, to("device_identity")),
    column("name", &DeviceFact::name),
    column("value", &DeviceFact::value),
    column("unit", &DeviceFact::unit),
    kOfRun<DeviceFact>,
};

template <>
inline constexpr auto kTable<DispatchResult> = RowTable{
    "dispatch_result",
    filled("id", &DispatchResult::id, kRowId),
    kUid,
    column("dispatch_id", &DispatchResult::dispatch, to("dispatch")),
    column("payload", &DispatchResult::payload),
    column("replacing", &DispatchResult::replacing),
    hidden<Bytes>("code"),
    column("launch", &DispatchResult::launch),
    column("accuracy", &DispatchResult::accuracy),
    column("default_is_wrong", &DispatchResult::default_is_wrong),
    column("budget", &DispatchResult::budget),
    kOfRun<DispatchResult>,
};

template <>
inline constexpr auto kTable<NearTieRow> = RowTable{
    "near_tie",
    hidden<Id>("result_id", key_to("dispatch_result")),
    hidden<Id>("rank", kKey),
    column("candidate_id", &NearTieRow::candidate, to("candidate")),
    column("payload", &NearTieRow::payload, kJson),
    column("replacing", &NearTieRow::replacing),
};

template <>
inline constexpr auto kTable<Flags> = RowTable{
    "flag_choice",
    hidden<Id>("run_id", key_to("run")),
    hidden<std::string>("role", {.more = "CHECK (role IN ('best', 'base', 'tried'))", .key = true}),
    hidden<Id>("place", kKey),  // among those of its role
    column("label", &Flags::label),
    column("flags", &Flags::flags, kJson),
};

// Tables in the order of their creation, each behind those that it refers to.
template <class... Rows>
struct RowTypes {};
using AllRows = RowTypes<Blob, BuildRow, DeviceRow, OperationRow, DispatchRow, ProgramRow,
                         ProgramDispatch, Run, EventRow, CandidateRow, Lease, ArtifactRow,
                         FailureRow, VerificationRow, Measurement, ProgramMeasurement, SelectionRow,
                         SelectionTie, DeviceFact, DispatchResult, NearTieRow, Flags>;

}  // namespace hone::store
