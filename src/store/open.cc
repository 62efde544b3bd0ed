// Opens the file, and identifies files that are no store.
#include <sys/stat.h>

#include <system_error>
#include <thread>

#include "store/host.h"
#include "store/schema.h"
#include "store/store.h"

namespace hone::store {
namespace {

Status check_path(const std::filesystem::path& path, Mode mode) {
  std::error_code code;
  const std::filesystem::file_status status = std::filesystem::status(path, code);
  if (std::filesystem::is_directory(status))
    return input_error("cannot open the store '{}': it is a folder", path.string());
  if (std::filesystem::exists(status)) return {};
  if (status.type() == std::filesystem::file_type::none)
    return environment_error("cannot open the store '{}': {}", path.string(), code.message());
  if (mode == Mode::kReadOnly)
    return input_error("there is no store '{}': 'hone tune' makes one", path.string());
  if (!std::filesystem::is_directory(path.parent_path(), code))
    return input_error("cannot make the store '{}': there is no folder '{}'", path.string(),
                       path.parent_path().string());
  return {};
}

bool has_write_ahead_log(const std::filesystem::path& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path.string() + "-wal", code);
  return !code && size > 0;
}

// Retries the change of the journal mode: it fails at once, without the busy timeout, while another
// process opens the file.
Status set_journal(Database& database, std::string_view wanted,
                   std::chrono::milliseconds busy_timeout) {
  const auto deadline = std::chrono::steady_clock::now() + busy_timeout;
  const std::string sql = fmt::format("PRAGMA journal_mode = {}", wanted);
  while (true) {
    auto mode = database.find<std::string>(sql);
    if (mode) return {};
    if (!database.was_busy() || std::chrono::steady_clock::now() > deadline)
      return tl::unexpected(std::move(mode).error());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// Chooses the journal mode. A killed process loses nothing in either. With the log, a power cut may
// cost the last transactions, never the file. The rollback journal is for disks shared between
// machines, and waits for the disk each time.
Status set_up_writing(Database& database, std::chrono::milliseconds busy_timeout) {
  if (is_on_shared_file_system(database.path())) {
    HONE_TRY(set_journal(database, "DELETE", busy_timeout));
    return database.script("PRAGMA synchronous = FULL");
  }
  HONE_TRY(set_journal(database, "WAL", busy_timeout));
  HONE_TRY(database.script("PRAGMA synchronous = NORMAL"));
  return database.script("PRAGMA journal_size_limit = 67108864");
}

Result<std::unique_ptr<Database>> open_read_only(const std::filesystem::path& path,
                                                 std::chrono::milliseconds busy_timeout) {
  auto database = Database::open(path, Database::Access::kReadOnly, busy_timeout);
  if (database) {
    const auto version = schema_version(**database);
    // A file closed cleanly in log mode cannot be read from a read-only folder, where the log's
    // index cannot be made. It is complete without its log, so open it as immutable.
    if (!version && version.error().kind == ErrorKind::kEnvironment && !has_write_ahead_log(path))
      database = Database::open(path, Database::Access::kImmutable, busy_timeout);
  }
  return database;
}

}  // namespace

Result<Store> Store::open(const std::filesystem::path& path, Mode mode, StoreOptions options) {
  std::error_code code;
  // Add a folder to the path, so that it is never one of SQLite's special names, such as
  // ":memory:".
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  HONE_TRY(check_path(absolute, mode));
  HONE_ASSIGN(std::unique_ptr<Database> database,
              mode == Mode::kReadOnly ? open_read_only(absolute, options.busy_timeout)
                                      : Database::open(absolute, Database::Access::kReadWriteCreate,
                                                       options.busy_timeout));
  HONE_TRY(database->script(
      "PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF"));
  HONE_ASSIGN(const std::int64_t version, schema_version(*database));
  if (mode == Mode::kReadOnly) {
    if (version == 0) return input_error("the store '{}' is empty", absolute.string());
    if (version < kSchemaVersion)
      return input_error(
          "the store '{}' was made by an older hone (schema {}; this one knows {}) and must be "
          "brought up to date before it is read: run a command that writes to it",
          absolute.string(), version, kSchemaVersion);
  } else {
    if (database->is_read_only())
      return environment_error(
          "the store '{}' cannot be written: give write permission to it, or name another with "
          "--store",
          absolute.string());
    // Writing to a damaged file may destroy data that is still readable.
    if (version > 0) HONE_TRY(database->check_pages());
    HONE_TRY(set_up_writing(*database, options.busy_timeout));
    if (version < kSchemaVersion) HONE_TRY(migrate(*database));
  }
  Store store(std::move(database));
  store.seal_key_ = options.seal_key;
  return store;
}

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::filesystem::path& Store::path() const {
  return database_->path();
}

Status Store::transaction(const std::function<Status()>& work) {
  return write(*database_, work);
}

}  // namespace hone::store
