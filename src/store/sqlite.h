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
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::store {

class Database;

// Fields that the columns of a row are read into, in order. For a row of rows.h the column list
// defines them (row_queries.h).
template <class... Fields>
std::tuple<Fields...>& fields_of(std::tuple<Fields...>& row) {
  return row;
}

// Bytes bound as a BLOB; a plain string is bound as TEXT.
struct Bytes {
  std::string_view view;
};

// A prepared statement with its values bound: step through its rows and read them.
class SqlStatement {
 public:
  SqlStatement(SqlStatement&& other) noexcept
      : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  SqlStatement& operator=(SqlStatement&&) = delete;
  ~SqlStatement();

  // True at a row, false behind the last one.
  Result<bool> step();
  // Steps behind the last row.
  Status finish();

  // Reads the row's columns in order: into the fields of a tuple or of a row of rows.h
  // (row_queries.h), else into `row` itself. An input error if an enumerator's name is wanted and
  // the text is none.
  template <class Row>
  Status read(Row& row) const {
    if constexpr (requires { fields_of(row); }) {
      int column = 0;
      Status status;
      std::apply([&](auto&... fields) { (void)((status = read_column(column++, fields)) && ...); },
                 fields_of(row));
      return status;
    } else {
      return read_column(0, row);
    }
  }

 private:
  friend class Database;
  SqlStatement(Database& database, sqlite3_stmt* statement)
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
  template <class E>
  requires std::is_enum_v<E>
  void bind(int index, E value) { bind(index, name_of(value)); }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value) return bind(index, *value);
    bind(index, std::nullopt);
  }

  bool is_null(int column) const;
  Status read_column(int column, std::int64_t& value) const;
  Status read_column(int column, double& value) const;
  Status read_column(int column, bool& value) const;
  Status read_column(int column, std::string& value) const;  // TEXT or BLOB; NULL reads as ""
  Status read_column(int column, std::vector<double>& value) const;
  template <class E>
  requires std::is_enum_v<E> Status read_column(int column, E& value)
  const {
    std::string name;
    HONE_TRY(read_column(column, name));
    return find_named(name, value);
  }
  template <class T>
  Status read_column(int column, std::optional<T>& value) const {
    value.reset();
    if (is_null(column)) return {};
    return read_column(column, value.emplace());
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
  // URI that the file was opened by; ATTACH takes it too.
  const std::string& uri() const { return uri_; }
  // Whether SQLite can only read the file, whatever access was requested.
  bool is_read_only() const;

  // `sql` is one statement with a '?' for each argument.
  template <class... Arguments>
  Result<SqlStatement> query(std::string_view sql, const Arguments&... arguments) {
    HONE_ASSIGN(SqlStatement statement, prepare(sql));
    int index = 0;
    (statement.bind(++index, arguments), ...);
    return statement;
  }

  template <class... Arguments>
  Status execute(std::string_view sql, const Arguments&... arguments) {
    HONE_ASSIGN(SqlStatement statement, query(sql, arguments...));
    return statement.finish();
  }

  // Calls `visit` with each row, as SqlStatement::read() reads it, until it returns an error.
  template <class Row, class Visit, class... Arguments>
  Status each(std::string_view sql, Visit&& visit, const Arguments&... arguments) {
    HONE_ASSIGN(SqlStatement statement, query(sql, arguments...));
    while (true) {
      HONE_ASSIGN(const bool found, statement.step());
      if (!found) return {};
      Row row{};
      HONE_TRY(statement.read(row));
      HONE_TRY(visit(row));
    }
  }

  template <class Row, class... Arguments>
  Result<std::vector<Row>> all(std::string_view sql, const Arguments&... arguments) {
    std::vector<Row> rows;
    const auto keep = [&rows](Row& row) -> Status {
      rows.push_back(std::move(row));
      return {};
    };
    HONE_TRY(each<Row>(sql, keep, arguments...));
    return rows;
  }

  // The first row, or none where there is no row.
  template <class Row, class... Arguments>
  Result<std::optional<Row>> find(std::string_view sql, const Arguments&... arguments) {
    HONE_ASSIGN(SqlStatement statement, query(sql, arguments...));
    HONE_ASSIGN(const bool found, statement.step());
    std::optional<Row> row;
    if (found) HONE_TRY(statement.read(row.emplace()));
    return row;
  }

  // Statements without arguments, separated by semicolons.
  Status script(const char* sql);

  std::int64_t last_id() const;       // row id of the last insert
  std::int64_t changed_rows() const;  // by the last statement

  // Returns an error that names the first damaged table and page; for files from elsewhere.
  Status check_pages();

  // Stops later errors from locating damage, which reads the whole file each time.
  void expect_damage() { expects_damage_ = true; }

  // Returns the findings of PRAGMA integrity_check on each table and its indexes, at most 100 of
  // each: "table measurement: Tree 12 page 345: ...". Reads the whole file.
  std::vector<std::string> damage() const;

  bool was_busy() const;  // the last call failed because another process held the file

  // The error of a call that returned `code`, in words.
  tl::unexpected<Error> error(int code) const;

 private:
  friend class Transaction;
  friend class SqlStatement;
  Database(std::filesystem::path path, std::string uri, sqlite3* handle)
      : path_(std::move(path)), uri_(std::move(uri)), handle_(handle) {}
  Result<SqlStatement> prepare(std::string_view sql);

  std::filesystem::path path_;
  std::string uri_;
  sqlite3* handle_;
  bool expects_damage_ = false;
};

// All-or-nothing writes: rolled back unless committed. A nested transaction is a savepoint of the
// outer one.
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

// Returns the result of `find`, else of `make`. Looks first without the write lock, which most
// calls then never take.
template <class Find, class Make>
auto find_or_make(Database& database, Find&& find, Make&& make) -> decltype(make()) {
  HONE_ASSIGN(const auto known, find());
  if (known) return *known;
  return write(database, [&]() -> decltype(make()) {
    HONE_ASSIGN(const auto found, find());
    if (found) return *found;
    return make();
  });
}

}  // namespace hone::store
