// What is tuned, for what and where: rows that are made once and never change.
#include "base/hash.h"
#include "store/blobs.h"
#include "store/canonical.h"
#include "store/select.h"
#include "store/store.h"

namespace hone::store {
namespace {

Result<std::optional<Id>> find_id(Database& database, std::string_view sql, std::string_view key) {
  HONE_ASSIGN(const auto found, database.find<Id>(sql, key));
  if (!found) return std::nullopt;
  return std::get<0>(*found);
}

// The row that `select` finds by `key`; `insert` makes it where there is none. Looks once without
// the write lock, which most calls then never take.
template <class Insert>
Result<Id> intern_row(Database& database, std::string_view select, std::string_view key,
                      Insert&& insert) {
  HONE_ASSIGN(const std::optional<Id> known, find_id(database, select, key));
  if (known) return *known;
  return write(database, [&]() -> Result<Id> {
    HONE_ASSIGN(const std::optional<Id> found, find_id(database, select, key));
    if (found) return *found;
    HONE_TRY(insert());
    return database.last_id();
  });
}

}  // namespace

Result<Id> Store::intern(const Build& build) {
  HONE_ASSIGN(const std::string flags, canonical_json("build's list of flags", build.flags));
  HONE_ASSIGN(const std::string target, canonical_json("build's target", build.target));
  const std::string hash = content_hash(joined({build.compiler, flags, target}));
  return intern_row(*database_, "SELECT id FROM build_identity WHERE hash = ?", hash, [&] {
    return database_->execute(
        "INSERT INTO build_identity (hash, compiler, flags, target) VALUES (?, ?, ?, ?)", hash,
        build.compiler, flags, target);
  });
}

Result<Id> Store::intern(const Device& device) {
  HONE_ASSIGN(const std::string protocol, canonical_json("device's protocol", device.protocol));
  const std::string hash = content_hash(joined({device.name, device.driver, protocol}));
  return intern_row(*database_, "SELECT id FROM device_identity WHERE hash = ?", hash, [&] {
    return database_->execute(
        "INSERT INTO device_identity (hash, name, driver, protocol) VALUES (?, ?, ?, ?)", hash,
        device.name, device.driver, protocol);
  });
}

Result<Id> Store::intern(const Operation& operation) {
  HONE_TRY(check_json("operation", operation.json));
  return intern_row(
      *database_, "SELECT id FROM operation WHERE fingerprint = ?", operation.fingerprint, [&] {
        return database_->execute(
            "INSERT INTO operation (fingerprint, kind, description, json, flops, bytes) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            operation.fingerprint, operation.kind, operation.description, operation.json,
            operation.flops, operation.bytes);
      });
}

Result<Id> Store::intern(const Dispatch& dispatch) {
  HONE_TRY(check_json("dispatch's description", dispatch.json));
  return intern_row(*database_, "SELECT id FROM dispatch WHERE fingerprint = ?",
                    dispatch.fingerprint, [&]() -> Status {
                      HONE_ASSIGN(const Id source, intern_blob(*database_, dispatch.source));
                      return database_->execute(
                          "INSERT INTO dispatch (fingerprint, name, operation_id, source_id, json) "
                          "VALUES (?, ?, ?, ?, ?)",
                          dispatch.fingerprint, dispatch.name, dispatch.operation, source,
                          dispatch.json);
                    });
}

Result<Id> Store::intern(const Program& program) {
  HONE_TRY(check_json("program's description", program.json));
  HONE_ASSIGN(const Id id,
              intern_row(*database_, "SELECT id FROM program WHERE hash = ?", program.hash, [&] {
                return database_->execute(
                    "INSERT INTO program (hash, path, json) "
                    "VALUES (?, ?, ?)",
                    program.hash, program.path, program.json);
              }));
  HONE_TRY(database_->execute("UPDATE program SET path = ?1 WHERE id = ?2 AND path <> ?1",
                              program.path, id));
  return id;
}

Status Store::link_dispatch(const ProgramDispatch& place) {
  return database_->execute(
      "INSERT INTO program_dispatch (program_id, dispatch_id, ordinal, launches_per_call) "
      "VALUES (?, ?, ?, ?) ON CONFLICT (program_id, dispatch_id) DO UPDATE "
      "SET ordinal = excluded.ordinal, launches_per_call = excluded.launches_per_call",
      place.program, place.dispatch, place.ordinal, place.launches_per_call);
}

Result<Build> Store::build(Id id) {
  return select_id<Build>(*database_, id);
}
Result<Device> Store::device(Id id) {
  return select_id<Device>(*database_, id);
}
Result<Operation> Store::operation(Id id) {
  return select_id<Operation>(*database_, id);
}
Result<Program> Store::program(Id id) {
  return select_id<Program>(*database_, id);
}

Result<Dispatch> Store::dispatch(Id id) {
  HONE_ASSIGN(Statement statement,
              database_->query("SELECT id, fingerprint, name, operation_id, source_id, json "
                               "FROM dispatch WHERE id = ?",
                               id));
  HONE_ASSIGN(const bool found, statement.step());
  if (!found) return input_error("the store '{}' has no dispatch {}", path().string(), id);
  Dispatch dispatch;
  Id source = 0;
  statement.read(dispatch.id, dispatch.fingerprint, dispatch.name, dispatch.operation, source,
                 dispatch.json);
  HONE_ASSIGN(dispatch.source, load_blob(*database_, source));
  return dispatch;
}

Result<std::vector<Program>> Store::programs() {
  return select_all<Program>(*database_, "ORDER BY id");
}

Result<std::vector<ProgramDispatch>> Store::program_dispatches(Id program) {
  HONE_ASSIGN(Statement statement,
              database_->query("SELECT program_id, dispatch_id, ordinal, launches_per_call "
                               "FROM program_dispatch WHERE program_id = ? ORDER BY ordinal",
                               program));
  std::vector<ProgramDispatch> places;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return places;
    ProgramDispatch& place = places.emplace_back();
    statement.read(place.program, place.dispatch, place.ordinal, place.launches_per_call);
  }
}

}  // namespace hone::store
