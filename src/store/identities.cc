// Identities: builds, devices, operations, dispatches and programs. Their rows are made once and
// never change.
#include "base/hash.h"
#include "store/encoding.h"
#include "store/row_queries.h"
#include "store/store.h"

namespace hone::store {
namespace {

// Returns the row of equal key, the first of its columns behind the id; `make` makes it if there is
// none.
template <class Row, class Make>
Result<Id> intern_row(Database& database, const Row& row, Make&& make) {
  const auto& key = std::get<1>(kTable<Row>.columns);
  static_assert(std::get<1>(kTable<Row>.columns).declared.key);
  const std::string select =
      fmt::format("SELECT id FROM {} WHERE {} = ?", kTable<Row>.name, key.name);
  const auto find = [&] { return database.find<Id>(select, std::invoke(key.field, row)); };
  return find_or_make(database, find, std::forward<Make>(make));
}

template <class Row>
Result<Id> intern_row(Database& database, const Row& row) {
  return intern_row(database, row, [&] { return insert(database, row); });
}

}  // namespace

Result<Id> Store::intern(const BuildRow& build) {
  BuildRow row = build;
  HONE_ASSIGN(row.flags, canonical_json("build's list of flags", build.flags));
  HONE_ASSIGN(row.target, canonical_json("build's target", build.target));
  row.hash = content_hash(joined({row.compiler, row.flags, row.target}));
  return intern_row(*database_, row);
}

Result<Id> Store::intern(const DeviceRow& device) {
  DeviceRow row = device;
  HONE_ASSIGN(row.protocol, canonical_json("device's protocol", device.protocol));
  row.hash = content_hash(joined({row.name, row.driver, row.protocol}));
  return intern_row(*database_, row);
}

Result<Id> Store::intern(const OperationRow& operation) {
  HONE_TRY(check_json("operation", operation.json));
  return intern_row(*database_, operation);
}

Result<Id> Store::intern(const DispatchRow& dispatch) {
  HONE_TRY(check_json("dispatch's description", dispatch.json));
  return intern_row(*database_, dispatch, [&]() -> Result<Id> {
    HONE_ASSIGN(const Id source, intern_blob(*database_, dispatch.source));
    return insert(*database_, dispatch, {"source_id"}, source);
  });
}

Result<Id> Store::intern(const ProgramRow& program) {
  HONE_TRY(check_json("program's description", program.json));
  HONE_ASSIGN(const Id id, intern_row(*database_, program));
  HONE_TRY(database_->execute("UPDATE program SET path = ?1 WHERE id = ?2 AND path <> ?1",
                              program.path, id));
  return id;
}

Status Store::link_dispatch(const ProgramDispatch& place) {
  HONE_TRY(insert(*database_, place, {.verb = "INSERT OR REPLACE"}));
  return {};
}

Result<BuildRow> Store::build(Id id) {
  return select_id<BuildRow>(*database_, "build", id);
}
Result<DeviceRow> Store::device(Id id) {
  return select_id<DeviceRow>(*database_, "device", id);
}
Result<OperationRow> Store::operation(Id id) {
  return select_id<OperationRow>(*database_, "operation", id);
}
Result<ProgramRow> Store::program(Id id) {
  return select_id<ProgramRow>(*database_, "program", id);
}

Result<DispatchRow> Store::dispatch(Id id) {
  HONE_ASSIGN(DispatchRow dispatch, select_id<DispatchRow>(*database_, "dispatch", id));
  HONE_ASSIGN(const auto source,
              database_->find<Id>("SELECT source_id FROM dispatch WHERE id = ?", id));
  HONE_ASSIGN(dispatch.source, load_blob(*database_, source.value_or(0)));
  return dispatch;
}

Result<std::optional<Id>> Store::find_dispatch(std::string_view fingerprint) {
  return database_->find<Id>("SELECT id FROM dispatch WHERE fingerprint = ?", fingerprint);
}

Result<std::vector<ProgramRow>> Store::programs() {
  return select_all<ProgramRow>(*database_, "ORDER BY id");
}

Result<std::vector<ProgramDispatch>> Store::program_dispatches(Id program) {
  return select_all<ProgramDispatch>(*database_, "WHERE program_id = ? ORDER BY ordinal", program);
}

}  // namespace hone::store
