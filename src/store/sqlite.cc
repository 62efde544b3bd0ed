#include "store/sqlite.h"

#include <sqlite3.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace hone::store {

namespace {

// Returns the texts of the first column, up to an error if there is one.
std::vector<std::string> texts(sqlite3* database, const std::string& sql) {
  std::vector<std::string> found;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return found;
  while (sqlite3_step(statement) == SQLITE_ROW)
    if (const auto* text = sqlite3_column_text(statement, 0))
      found.emplace_back(reinterpret_cast<const char*>(text));
  sqlite3_finalize(statement);
  return found;
}

// Runs PRAGMA integrity_check on each table and its indexes, and returns at most `most` findings of
// each: "table measurement: Tree 12 page 345: ...". Reads the whole file. Empty if it finds
// nothing, or cannot even list the tables.
std::vector<std::string> damage_by_table(sqlite3* database, int most) {
  std::vector<std::string> damage;
  for (const std::string& table :
       texts(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")) {
    int findings = 0;
    for (std::string line : texts(database, fmt::format("PRAGMA integrity_check(\"{}\")", table))) {
      // The first finding comes with a heading: "*** in database main ***".
      if (line.rfind("***", 0) == 0) line.erase(0, line.find('\n') + 1);
      if (line != "ok" && findings++ < most)
        damage.push_back(fmt::format("table {}: {}", table, line));
    }
  }
  return damage;
}

// https://www.sqlite.org/uri.html
std::string uri_of(const std::filesystem::path& path, Database::Access access) {
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  if (access == Database::Access::kReadOnly) uri += "?mode=ro";
  if (access == Database::Access::kImmutable) uri += "?immutable=1";
  return uri;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "samples are stored little endian");

SqlStatement::~SqlStatement() {
  sqlite3_finalize(statement_);
}

Result<bool> SqlStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_->error(code);
}

Status SqlStatement::finish() {
  while (true) {
    HONE_ASSIGN(const bool row, step());
    if (!row) return {};
  }
}

// Binding fails only for a wrong index or want of memory. An unbound value is NULL, which the
// tables' NOT NULL rejects.
void SqlStatement::bind(int index, std::nullopt_t) {
  sqlite3_bind_null(statement_, index);
}
void SqlStatement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}
void SqlStatement::bind(int index, double value) {
  sqlite3_bind_double(statement_, index, value);
}
void SqlStatement::bind(int index, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* text = value.data() == nullptr ? "" : value.data();
  sqlite3_bind_text64(statement_, index, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void SqlStatement::bind(int index, Bytes value) {
  const char* bytes = value.view.data() == nullptr ? "" : value.view.data();
  sqlite3_bind_blob64(statement_, index, bytes, value.view.size(), SQLITE_TRANSIENT);
}
void SqlStatement::bind(int index, const std::vector<double>& value) {
  bind(index, Bytes{{reinterpret_cast<const char*>(value.data()), value.size() * sizeof(double)}});
}

bool SqlStatement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
Status SqlStatement::read_column(int column, std::int64_t& value) const {
  value = sqlite3_column_int64(statement_, column);
  return {};
}
Status SqlStatement::read_column(int column, double& value) const {
  value = sqlite3_column_double(statement_, column);
  return {};
}
Status SqlStatement::read_column(int column, bool& value) const {
  value = sqlite3_column_int64(statement_, column) != 0;
  return {};
}
Status SqlStatement::read_column(int column, std::string& value) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  value.clear();
  if (bytes != nullptr) value.assign(static_cast<const char*>(bytes), size);
  return {};
}
Status SqlStatement::read_column(int column, std::vector<double>& value) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  value.resize(size / sizeof(double));
  if (!value.empty()) std::memcpy(value.data(), bytes, value.size() * sizeof(double));
  return {};
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path, Access access,
                                                 std::chrono::milliseconds busy_timeout) {
  const int flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI |
                    (access == Access::kReadWriteCreate ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                                        : SQLITE_OPEN_READONLY);
  const std::string uri = uri_of(path, access);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(path, uri, handle));
  if (code != SQLITE_OK) return database->error(code);
  sqlite3_busy_timeout(handle, static_cast<int>(busy_timeout.count()));
  // The file may come from anyone: its schema must not run functions or rewrite itself.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return database;
}

Database::~Database() {
  sqlite3_close(handle_);
}

bool Database::is_read_only() const {
  return sqlite3_db_readonly(handle_, "main") == 1;
}

Result<SqlStatement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return SqlStatement(*this, statement);
}

Status Database::script(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

std::int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}
std::int64_t Database::changed_rows() const {
  return sqlite3_changes64(handle_);
}
Status Database::check_pages() {
  HONE_ASSIGN(const auto said, find<std::string>("PRAGMA quick_check(1)"));
  if (said == "ok") return {};
  return error(SQLITE_CORRUPT);
}

std::vector<std::string> Database::damage() const {
  return damage_by_table(handle_, 100);
}

bool Database::was_busy() const {
  return (sqlite3_errcode(handle_) & 0xff) == SQLITE_BUSY;
}

tl::unexpected<Error> Database::error(int code) const {
  const std::string file = path_.string();
  const std::string words = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int reason = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  int primary = code & 0xff;
  // SQLite extends the log's index without a write, and reports a full disk there as any failed
  // operation.
  if (primary == SQLITE_IOERR && (reason == ENOSPC || reason == EDQUOT)) primary = SQLITE_FULL;
  switch (primary) {
    case SQLITE_NOTADB:
      return input_error("'{}' is not a store of hone: it is not an SQLite database", file);
    case SQLITE_CORRUPT: {
      std::vector<std::string> where;
      if (!expects_damage_) where = damage_by_table(handle_, 1);
      return input_error(
          "the store '{0}' is damaged ({1}); 'hone store check {0}' says what can be saved, 'hone "
          "store rescue {0} NEW' saves it",
          file, where.empty() ? words : where.front());
    }
    case SQLITE_ERROR:  // hone's SQL is right for its schema, so a table or column is missing
      return input_error("the store '{0}' is damaged ({1}); 'hone store check {0}' says where",
                         file, words);
    case SQLITE_FULL:
      return environment_error(
          "no space left on the disk of the store '{}': free some and run the same command again; "
          "everything recorded so far is kept",
          file);
    case SQLITE_BUSY:
      return environment_error("the store '{}' is held by another process for too long ({})", file,
                               words);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return environment_error(
          "the store '{}' cannot be written ({}): give write permission to it and its folder, or "
          "name another with --store",
          file, words);
    case SQLITE_CANTOPEN:
      return environment_error(
          "the store '{}' or a file beside it cannot be opened ({}): check the permissions of the "
          "file and its folder",
          file, words);
    case SQLITE_CONSTRAINT:
      if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        return input_error("store '{}': a row refers to one that is not there", file);
      return input_error("store '{}': {}", file, words);
    case SQLITE_IOERR:
      return environment_error("the store '{}' cannot be read or written: {} ({})", file, words,
                               std::strerror(reason));
    default:
      return environment_error("store '{}': {}", file, words);
  }
}

Result<Transaction> Transaction::begin(Database& database) {
  const bool nested = sqlite3_get_autocommit(database.handle_) == 0;
  // IMMEDIATE takes the write lock now, while waiting for it is still possible. A reader that
  // becomes a writer later fails at once if another process wrote in between.
  HONE_TRY(database.script(nested ? "SAVEPOINT nested" : "BEGIN IMMEDIATE"));
  return Transaction(database, nested);
}

Status Transaction::commit() {
  HONE_TRY(database_->script(nested_ ? "RELEASE nested" : "COMMIT"));
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // SQLite itself rolls back after a full disk or a read error.
  if (database_ == nullptr || sqlite3_get_autocommit(database_->handle_) != 0) return;
  sqlite3_exec(database_->handle_, nested_ ? "ROLLBACK TO nested; RELEASE nested" : "ROLLBACK",
               nullptr, nullptr, nullptr);
}

}  // namespace hone::store
