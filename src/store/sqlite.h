// A thin layer over SQLite's C interface: statements that free themselves, values bound and read by
// type, errors as Result. Private to this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::store {

class Database;

// Bytes bound as a BLOB; a plain string is bound as TEXT.
struct Bytes {
  std::string_view view;
};

// A prepared statement with its values bound: step through its rows and read them.
class Statement {
 public:
  Statement(Statement&& other) noexcept
      : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // True at a row, false behind the last one.
  Result<bool> step();
  // Steps behind the last row.
  Status finish();

  // Reads the row's columns in order, as many as there are fields.
  template <class... Fields>
  void read(Fields&... fields) const {
    int column = 0;
    (read_column(column++, fields), ...);
  }

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  void bind(int index, std::nullopt_t);
  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, std::int64_t{value}); }
  void bind(int index, bool value) { bind(index, std::int64_t{value}); }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, Bytes value);
  void bind(int index, const std::vector<double>& value);  // as a BLOB, little endian
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) return bind(index, *value);
    bind(index, std::nullopt);
  }

  bool is_null(int column) const;
  void read_column(int column, std::int64_t& value) const;
  void read_column(int column, double& value) const;
  void read_column(int column, bool& value) const;
  void read_column(int column, std::string& value) const;  // TEXT or BLOB; NULL reads as ""
  void read_column(int column, std::vector<double>& value) const;
  template <class T>
  void read_column(int column, std::optional<T>& value) const {
    value.reset();
    if (!is_null(column)) read_column(column, value.emplace());
  }

  Database* database_;
  sqlite3_stmt* statement_;  // null once moved from
};

// A connection to one file.
class Database {
 public:
  enum class Access { kReadWriteCreate, kReadOnly, kImmutable };

  static Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Access access,
                                                std::chrono::milliseconds busy_timeout);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::filesystem::path& path() const { return path_; }
  // What the file was opened as: ATTACH takes it too.
  const std::string& uri() const { return uri_; }
  // SQLite found that the file may only be read, whatever was asked for.
  bool is_read_only() const;

  // `sql` is one statement with a '?' for each argument.
  template <class... Arguments>
  Result<Statement> query(std::string_view sql, const Arguments&... arguments) {
    HONE_ASSIGN(Statement statement, prepare(sql));
    int index = 0;
    (statement.bind(++index, arguments), ...);
    return statement;
  }

  template <class... Arguments>
  Status execute(std::string_view sql, const Arguments&... arguments) {
    HONE_ASSIGN(Statement statement, query(sql, arguments...));
    return statement.finish();
  }

  // The first row's columns, or none where there is no row.
  template <class... Fields, class... Arguments>
  Result<std::optional<std::tuple<Fields...>>> find(std::string_view sql,
                                                    const Arguments&... arguments) {
    HONE_ASSIGN(Statement statement, query(sql, arguments...));
    HONE_ASSIGN(const bool found, statement.step());
    std::optional<std::tuple<Fields...>> row;
    if (found) std::apply([&](auto&... fields) { statement.read(fields...); }, row.emplace());
    return row;
  }

  // Statements without arguments, separated by semicolons.
  Status script(const char* sql);

  std::int64_t last_id() const;       // row id of the last insert
  std::int64_t changed_rows() const;  // by the last statement

  // An error that names the first damaged table and page; for files that came from elsewhere.
  Status check_pages();

  // Errors then do not say where the damage is, which takes reading all of the file each time.
  void expect_damage() { expects_damage_ = true; }

  // What damage_by_table (damage.h) finds.
  std::vector<std::string> damage() const;

  bool was_busy() const;  // the last call failed because another process held the file

  // The error of a call that returned `code`, in words.
  Error error(int code) const;

 private:
  friend class Transaction;
  friend class Statement;
  Database(std::filesystem::path path, std::string uri, sqlite3* handle)
      : path_(std::move(path)), uri_(std::move(uri)), handle_(handle) {}
  Result<Statement> prepare(std::string_view sql);

  std::filesystem::path path_;
  std::string uri_;
  sqlite3* handle_;
  bool expects_damage_ = false;
};

// Writes that are kept together or not at all: rolled back unless committed. Inside another one it
// is a savepoint of it.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)), nested_(other.nested_) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Status commit();

 private:
  Transaction(Database& database, bool nested) : database_(&database), nested_(nested) {}
  void roll_back();

  Database* database_;  // null once ended or moved from
  bool nested_;
};

// Calls `work` in a transaction that is committed if the Result it returns is a value.
template <class Work>
auto write(Database& database, Work&& work) -> decltype(work()) {
  HONE_ASSIGN(Transaction transaction, Transaction::begin(database));
  auto result = work();
  if (result) HONE_TRY(transaction.commit());
  return result;
}

}  // namespace hone::store
