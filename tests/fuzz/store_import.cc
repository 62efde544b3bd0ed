// A store from elsewhere, read and merged. The first byte says how the input makes the file: the
// bytes of the file, bytes to change in a good store, or values to change in its tables.
#include <sqlite3.h>

#include <chrono>

#include "base/file.h"
#include "store/export.h"
#include "store/store.h"
#include "tests/fuzz/fuzz_target.h"

namespace hone::store {
namespace {

Status fill(Store& store, int dispatches) {
  HONE_ASSIGN(const Id build,
              store.intern(BuildRow{.compiler = "iree", .flags = "[]", .target = "{}"}));
  HONE_ASSIGN(const Id device,
              store.intern(DeviceRow{.name = "cpu", .driver = "6", .protocol = "{}"}));
  HONE_ASSIGN(const Id program,
              store.intern(ProgramRow{.hash = "p", .path = "p.mlir", .json = "{}"}));
  HONE_TRY(store.begin_run(Run{.command = "hone tune", .version = "0", .program = program}));
  HONE_TRY(store.log_event("openblas", "not there"));
  for (int i = 0; i < dispatches; ++i) {
    HONE_ASSIGN(const Id operation,
                store.intern(OperationRow{.fingerprint = fmt::format("o{}", i), .json = "{}"}));
    HONE_ASSIGN(const Id dispatch, store.intern(DispatchRow{.fingerprint = fmt::format("d{}", i),
                                                            .name = "matmul",
                                                            .operation = operation,
                                                            .source = fmt::format("source {}", i),
                                                            .json = "{}"}));
    HONE_TRY(store.link_dispatch({program, dispatch, i, 1}));
    for (const char* configuration : {"{}", R"({"tile":8})"}) {
      HONE_ASSIGN(const Id candidate, store.add_candidate({.dispatch = dispatch,
                                                           .build = build,
                                                           .provider = "iree",
                                                           .configuration = configuration}));
      const std::string identity = fmt::format("e{}", candidate);
      HONE_TRY(store.record(ArtifactRow{.candidate = candidate,
                                        .identity = identity,
                                        .format = "elf",
                                        .launch = "{}",
                                        .code = "code " + identity}));
      HONE_TRY(store.record(VerificationRow{
          .dispatch = dispatch, .identity = identity, .device = device, .right = true}));
      const Timing timing{.samples = {1.0, 1.5}, .launches_per_sample = 2, .median = 1.25};
      HONE_TRY(store.record(Measurement{
          .dispatch = dispatch, .identity = identity, .device = device, .timing = timing}));
      HONE_TRY(store.record(FailureRow{.candidate = candidate, .kind = "wrong", .message = "so"}));
      HONE_TRY(store.record(SelectionRow{.dispatch = dispatch,
                                         .build = build,
                                         .device = device,
                                         .winner = candidate,
                                         .ties = {candidate}}));
      HONE_TRY(store.record(ProgramMeasurement{.program = program,
                                               .build = build,
                                               .device = device,
                                               .variant = "default",
                                               .spec = "spec",
                                               .timing = timing}));
    }
  }
  return store.record(DeviceFact{.device = device, .name = "peak", .value = 1, .unit = "flop/s"});
}

// The two stores every input starts from, and where its copies of them go.
struct Stage {
  TemporaryFolder folder = *TemporaryFolder::create("hone-fuzz-");
  std::string mine = made("mine-template.db", 1);
  std::string theirs = made("theirs-template.db", 2);

  std::filesystem::path path(const char* name) const { return folder.path() / name; }
  std::string made(const char* name, int dispatches) const {
    // Small pages: more of what an input changes is content.
    sqlite3* handle = nullptr;
    sqlite3_open(path(name).c_str(), &handle);
    sqlite3_exec(handle, "PRAGMA page_size = 512", nullptr, nullptr, nullptr);
    sqlite3_exec(handle, "VACUUM", nullptr, nullptr, nullptr);
    sqlite3_close(handle);
    Store store = *Store::open(path(name), Mode::kReadWrite);
    const Status filled = fill(store, dispatches);
    fuzz::require(filled.has_value(), filled ? "" : filled.error().message.c_str());
    fuzz::require(store.gc().has_value(), "the log is in the file");
    return *read_file(path(name));
  }
};

constexpr const char* kTables[] = {"blob",
                                   "build_identity",
                                   "device_identity",
                                   "operation",
                                   "dispatch",
                                   "program",
                                   "run",
                                   "program_dispatch",
                                   "event",
                                   "candidate",
                                   "artifact",
                                   "failure",
                                   "verification",
                                   "lease",
                                   "measurement",
                                   "selection",
                                   "selection_tie",
                                   "program_measurement",
                                   "device_fact"};
constexpr const char* kColumns[] = {
    "id",        "hash",      "size",       "zstd",         "fingerprint", "operation_id",
    "source_id", "json",      "program_id", "dispatch_id",  "build_id",    "provider",
    "run_id",    "state",     "uid",        "candidate_id", "identity",    "launch",
    "code_id",   "device_id", "kind",       "seed",         "correct",     "phase",
    "samples",   "median",    "machine",    "winner_id",    "name",        "flags",
    "target",    "protocol",  "ordinal",    "sequence",     "message",     "path",
    "bad_index", "expected",  "configured", "configuration"};

std::string value_in(fuzz::Choices& input) {
  switch (input.byte() % 5) {
    case 0:
      return std::to_string(static_cast<std::int64_t>(input.number(8)));
    case 1:
      return "NULL";
    case 2:
      return fmt::format("'{}'", input.byte() % 2 == 0 ? "{" : "e1");
    case 3:
      return fmt::format("zeroblob({})", input.byte());
    default:
      return std::to_string(input.byte() % 8);
  }
}

void change_tables(const std::filesystem::path& path, fuzz::Choices& input) {
  sqlite3* handle = nullptr;
  sqlite3_open(path.c_str(), &handle);
  sqlite3_exec(handle, "PRAGMA ignore_check_constraints = ON", nullptr, nullptr, nullptr);
  for (int i = 0; i < 16 && !input.empty(); ++i) {
    const char* table = kTables[input.byte() % std::size(kTables)];
    const char* column = kColumns[input.byte() % std::size(kColumns)];
    std::string sql;
    switch (input.byte() % 6) {
      case 0:
        sql = fmt::format("DELETE FROM {}", table);
        break;
      case 1:
        sql = fmt::format("ALTER TABLE {} DROP COLUMN {}", table, column);
        break;
      case 2:
        sql = fmt::format("ALTER TABLE {0} RENAME TO x; CREATE VIEW {0} AS SELECT * FROM x", table);
        break;
      default:
        sql = fmt::format("UPDATE OR REPLACE {} SET {} = {} WHERE rowid % 2 = {}", table, column,
                          value_in(input), input.byte() % 2);
    }
    sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(handle);
}

void change_bytes(std::string& file, fuzz::Choices& input) {
  while (!input.empty()) {
    const std::size_t at = input.below(file.size());
    const std::string_view bytes = input.text(1 + input.byte() % 8);
    file.replace(at, std::min(bytes.size(), file.size() - at), bytes.substr(0, file.size() - at));
  }
}

void read_all(Store& store) {
  (void)store.check();
  if (const auto rows = store.candidate_rows()) {
    (void)export_csv(*rows);
    (void)export_json(*rows).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (const CandidateView& row : *rows) {
      (void)store.details(row.candidate);
      (void)store.load_artifact(row.candidate);
      (void)store.known(row.candidate, 1);
    }
  }
  (void)store.dispatch_rows();
  (void)store.leases();
  (void)store.runs();
  (void)store.programs();
  (void)store.selections();
  (void)store.device_facts(1);
  (void)store.program_measurements(1);
}

void merge_and_check(Store& mine, const std::filesystem::path& other) {
  const std::size_t before = mine.candidate_rows()->size();
  const auto added = mine.merge({other});
  if (!added)
    fuzz::require(mine.candidate_rows()->size() == before, "a merge that fails adds nothing");
  const auto report = mine.check();
  fuzz::require(report && report->ok(), report && !report->damage.empty()
                                            ? report->damage.front().c_str()
                                            : "the store is whole after a merge");
  if (!added) return;
  const auto again = mine.merge({other});
  fuzz::require(again.has_value(), "what was merged can be merged again");
  for (const auto& [table, rows] : *again)
    fuzz::require(rows == 0, ("merging twice adds rows to " + table).c_str());
}

}  // namespace
}  // namespace hone::store

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  using namespace hone::store;
  static const Stage stage;
  fuzz::Choices input(fuzz::text_of(bytes, size));
  const std::filesystem::path theirs = stage.path("theirs.db"), mine = stage.path("mine.db");
  std::string file = stage.theirs;
  const int how = input.byte() % 3;
  if (how == 0) file = input.rest();
  if (how == 1) change_bytes(file, input);
  fuzz::require(write_file_atomically(theirs, file) && write_file_atomically(mine, stage.mine),
                "the folder takes files");
  if (how == 2) change_tables(theirs, input);
  {
    const store::StoreOptions patience{.busy_timeout = std::chrono::milliseconds(0)};
    if (auto store = Store::open(theirs, Mode::kReadOnly, patience)) read_all(*store);
    auto store = Store::open(mine, Mode::kReadWrite, patience);
    fuzz::require(store.has_value(), "a good store opens");
    merge_and_check(*store, theirs);
  }
  for (const char* rest : {"-wal", "-shm", "-journal"})
    for (const std::filesystem::path& path : {theirs, mine})
      std::filesystem::remove(path.string() + rest);
  return 0;
}
