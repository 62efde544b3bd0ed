#include "store/schema.h"

#include <algorithm>
#include <ranges>
#include <type_traits>

#include "base/ranges.h"
#include "store/encoding.h"
#include "store/row_queries.h"

namespace hone::store {
namespace {

constexpr const char* kIndexes = R"sql(
CREATE INDEX artifact_identity ON artifact (identity);
CREATE INDEX artifact_code ON artifact (code_id);  -- asked for whenever a blob goes
CREATE INDEX failure_candidate ON failure (candidate_id);
CREATE INDEX failure_identity ON failure (identity) WHERE identity <> '';
CREATE INDEX verification_identity ON verification (identity, dispatch_id, device_id);
CREATE INDEX measurement_identity ON measurement (identity, dispatch_id, device_id, phase);
CREATE INDEX dispatch_result_run ON dispatch_result (run_id);
)sql";

// SQL type of a column of values T, and the values that it admits.
template <class T>
std::string sql_type(std::string_view name, std::string_view null = " NOT NULL") {
  if constexpr (std::is_enum_v<T>)
    return fmt::format(
        "TEXT{} CHECK ({} IN ('{}'))", null, name,
        fmt::join(mapped(kNames<T>, &std::pair<T, std::string_view>::second), "', '"));
  else if constexpr (std::is_same_v<T, bool>)
    return fmt::format("INTEGER{} CHECK ({} IN (0, 1))", null, name);
  else if constexpr (std::is_same_v<T, Id>)
    return fmt::format("INTEGER{}", null);
  else if constexpr (std::is_same_v<T, double>)
    return fmt::format("REAL{}", null);
  else if constexpr (std::is_same_v<T, std::string>)
    return fmt::format("TEXT{}", null);
  else if constexpr (requires { typename T::value_type; } && !std::ranges::range<T>)
    return sql_type<typename T::value_type>(name, "");  // std::optional
  else
    return fmt::format("BLOB{}", null);
}

template <class Row, Filled kFilled, class Field>
ColumnSchema schema_of(const TableColumn<kFilled, Field>& column) {
  std::string type;
  if constexpr (kFilled == Filled::kHidden)
    type = sql_type<typename Field::Value>(column.name);
  else if constexpr (kFilled == Filled::kPresence)
    type = sql_type<std::optional<Id>>(column.name);
  else if (column.declared.nullable)
    type = sql_type<std::optional<std::string>>(column.name);
  else
    type = sql_type<std::remove_cvref_t<std::invoke_result_t<Field, Row&>>>(column.name);
  return {column.name, std::move(type), column.declared};
}

template <class... Rows>
std::vector<TableSchema> schemas_of(RowTypes<Rows...>) {
  std::vector<TableSchema> tables;
  const auto add = [&]<class Row>(std::type_identity<Row>) {
    tables.push_back({kTable<Row>.name, {}});
    for_each_column<Row>(
        [&](const auto& column) { tables.back().columns.push_back(schema_of<Row>(column)); });
  };
  (add(std::type_identity<Rows>()), ...);
  return tables;
}

std::string create_sql(const TableSchema& table) {
  std::vector<std::string> lines;
  std::vector<std::string_view> keys;
  for (const auto& [name, type, declared] : table.columns) {
    if (declared.key && !declared.id) keys.push_back(name);
    std::string line = fmt::format("{} {}", name, declared.id ? "INTEGER PRIMARY KEY" : type);
    if (!declared.references.empty())
      line += fmt::format(" REFERENCES {} (id)", declared.references);
    if (!declared.more.empty()) line += fmt::format(" {}", declared.more);
    lines.push_back(std::move(line));
  }
  const bool has_id = table.id() != nullptr;
  if (!keys.empty())
    lines.push_back(
        fmt::format("{} ({})", has_id ? "UNIQUE" : "PRIMARY KEY", fmt::join(keys, ", ")));
  return fmt::format("CREATE TABLE {} ({}) STRICT{};", table.name, fmt::join(lines, ", "),
                     has_id ? "" : ", WITHOUT ROWID");
}

// Adds the rules and the reference of verifications, and the seal of artifacts (seal.h). Older rows
// lack these: rules 1, no seal.
constexpr const char* kRulesAndSeals = R"sql(
ALTER TABLE verification ADD COLUMN rules INTEGER NOT NULL DEFAULT 1;
ALTER TABLE verification ADD COLUMN reference TEXT NOT NULL DEFAULT '';
ALTER TABLE artifact ADD COLUMN seal TEXT NOT NULL DEFAULT '';
)sql";

// Adds columns for resuming: which runs are alike, the flag search's findings and choice, and the
// results of dispatches. Earlier versions kept them in the command, in texts of rows, and in
// events. The script extracts texts behind a prefix (its length): " --budget " (10), "flags: " (7),
// "the same module as " (19).
constexpr const char* kResumption = R"sql(
ALTER TABLE run ADD COLUMN task TEXT NOT NULL DEFAULT '';  -- the command without its budget
UPDATE run SET task = command;
UPDATE run SET task = substr(command, 1, instr(command, ' --budget') - 1) || CASE
    WHEN instr(substr(command, instr(command, ' --budget') + 10), ' ') > 0
    THEN substr(substr(command, instr(command, ' --budget') + 10),
                instr(substr(command, instr(command, ' --budget') + 10), ' '))
    ELSE '' END
  WHERE instr(command, ' --budget ') > 0 OR instr(command, ' --budget=') > 0;

ALTER TABLE program_measurement ADD COLUMN purpose TEXT NOT NULL DEFAULT 'proof'
  CHECK (purpose IN ('proof', 'flags'));
-- The variant whose module is the same, which was timed for it; '': none.
ALTER TABLE program_measurement ADD COLUMN same_as TEXT NOT NULL DEFAULT '';
UPDATE program_measurement SET purpose = 'flags', variant = substr(variant, 8)
  WHERE substr(variant, 1, 7) = 'flags: ';
UPDATE program_measurement SET same_as = substr(verdict, 20)
  WHERE purpose = 'flags' AND substr(verdict, 1, 19) = 'the same module as ';

CREATE TABLE dispatch_result (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  payload TEXT,             -- JSON; NULL: it keeps its default
  replacing TEXT NOT NULL,  -- the provider whose kernel takes the compiler's place; '': none
  code BLOB NOT NULL,       -- that ships where it is other code than what was measured
  launch TEXT,              -- JSON, of a kernel in the compiler's place
  accuracy TEXT,            -- JSON
  default_is_wrong INTEGER NOT NULL CHECK (default_is_wrong IN (0, 1)),
  budget REAL,              -- seconds of its run; NULL: not known
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX dispatch_result_run ON dispatch_result (run_id);
CREATE TABLE near_tie (
  result_id INTEGER NOT NULL REFERENCES dispatch_result (id),
  rank INTEGER NOT NULL,
  candidate_id INTEGER NOT NULL REFERENCES candidate (id),
  payload TEXT NOT NULL,    -- JSON
  replacing TEXT NOT NULL,
  PRIMARY KEY (result_id, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO dispatch_result (id, uid, dispatch_id, payload, replacing, code, launch, accuracy,
    default_is_wrong, budget, created, run_id)
  SELECT run_id * 1000000 + sequence, lower(hex(randomblob(16))),
    json_extract(text, '$.dispatch'),
    CASE json_type(text, '$.attributes') WHEN 'null' THEN NULL ELSE text -> '$.attributes' END,
    coalesce(json_extract(text, '$.replacing'), ''),
    CAST(coalesce(json_extract(text, '$.code'), '') AS BLOB),
    text -> '$.launch', text -> '$.accuracy',
    coalesce(json_extract(text, '$.default_is_wrong'), 0),
    CAST(json_extract(text, '$.budget') AS REAL), created, run_id
  FROM event
  WHERE kind = 'tuned' AND json_valid(text)
    AND json_extract(text, '$.dispatch') IN (SELECT id FROM dispatch);
INSERT INTO near_tie (result_id, rank, candidate_id, payload, replacing)
  SELECT event.run_id * 1000000 + event.sequence, tie.key, json_extract(tie.value, '$.candidate'),
    tie.value -> '$.attributes', coalesce(json_extract(tie.value, '$.replacing'), '')
  FROM event, json_each(event.text, '$.near_ties') AS tie
  WHERE event.kind = 'tuned' AND json_valid(event.text)
    AND event.run_id * 1000000 + event.sequence IN (SELECT id FROM dispatch_result)
    AND json_extract(tie.value, '$.candidate') IN (SELECT id FROM candidate);

CREATE TABLE flag_choice (
  run_id INTEGER NOT NULL REFERENCES run (id),
  role TEXT NOT NULL CHECK (role IN ('best', 'base', 'tried')),
  place INTEGER NOT NULL,  -- among those of its role
  label TEXT NOT NULL,
  flags TEXT NOT NULL,     -- JSON
  PRIMARY KEY (run_id, role, place)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO flag_choice (run_id, role, place, label, flags)
  SELECT run_id, 'best', 0, json_extract(text, '$.best.name'), text -> '$.best.flags'
  FROM event WHERE kind = 'chosen flags' AND json_valid(text) ORDER BY sequence;
INSERT OR REPLACE INTO flag_choice (run_id, role, place, label, flags)
  SELECT event.run_id, 'base', base.key, json_extract(base.value, '$.name'),
    base.value -> '$.flags'
  FROM event, json_each(event.text, '$.bases') AS base
  WHERE event.kind = 'chosen flags' AND json_valid(event.text) ORDER BY event.sequence;
INSERT OR REPLACE INTO flag_choice (run_id, role, place, label, flags)
  SELECT event.run_id, 'tried', tried.key, '', tried.value
  FROM event, json_each(event.text, '$.tried') AS tried
  WHERE event.kind = 'chosen flags' AND json_valid(event.text) ORDER BY event.sequence;
)sql";

// Adds the tolerance of verifications as numbers. Earlier versions kept it in a text only:
// "absolute 1e-05, relative 0.001: why; absolute ...". The script extracts the first two numbers,
// behind "absolute " (9) and ", relative " (11). Other texts, and infinite tolerances, leave NULL.
constexpr const char* kTolerances = R"sql(
ALTER TABLE verification ADD COLUMN absolute_tolerance REAL;
ALTER TABLE verification ADD COLUMN relative_tolerance REAL;
UPDATE verification SET
  absolute_tolerance = CAST(substr(tolerance, 10) AS REAL),
  relative_tolerance = CAST(substr(tolerance, instr(tolerance, ', relative ') + 11) AS REAL)
  WHERE tolerance GLOB 'absolute [0-9]*, relative [0-9]*:*';
)sql";

// Migration from version `from` to the next. A released script never changes. A change of the
// schema is a new entry, and a change of columns.h, which a new file is made by.
struct Migration {
  std::int64_t from;
  const char* script;
};
constexpr Migration kMigrations[] = {{1, kRulesAndSeals}, {2, kResumption}, {3, kTolerances}};

}  // namespace

const ColumnSchema* TableSchema::id() const {
  const auto found =
      std::ranges::find_if(columns, [](const ColumnSchema& each) { return each.declared.id; });
  return found == columns.end() ? nullptr : &*found;
}

bool TableSchema::gives_ids() const {
  return id() != nullptr && id()->declared.references.empty();
}

std::vector<TableSchema> tables() {
  return schemas_of(AllRows());
}

std::string blobs_in_use() {
  std::vector<std::string> queries;
  for (const TableSchema& table : tables())
    for (const ColumnSchema& column : table.columns)
      if (column.declared.references == kTable<Blob>.name)
        queries.push_back(
            fmt::format("SELECT {0} FROM {1} WHERE {0} IS NOT NULL", column.name, table.name));
  return fmt::format("{}", fmt::join(queries, " UNION "));
}

Result<std::int64_t> schema_version(Database& database) {
  // A single statement sees a consistent file, even while another process creates it.
  HONE_ASSIGN(const auto row,
              (database.find<std::tuple<std::int64_t, std::int64_t, std::int64_t>>(
                  "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema) "
                  "FROM pragma_application_id, pragma_user_version")));
  const auto [application, version, tables] = row.value_or(std::tuple{0, 0, 0});
  if (application == 0 && version == 0 && tables == 0) return 0;
  const std::string path = database.path().string();
  if (application != kApplicationId)
    return input_error("'{}' is not a store of hone: it is the database of another program", path);
  if (version > kSchemaVersion)
    return input_error(
        "the store '{}' was made by a newer hone (schema {}; this one knows {}): use that hone, or "
        "name another store with --store",
        path, version, kSchemaVersion);
  return version;
}

Status migrate(Database& database) {
  return write(database, [&]() -> Status {
    HONE_ASSIGN(const std::int64_t version, schema_version(database));
    if (version == kSchemaVersion) return {};
    if (version == 0) {
      for (const TableSchema& table : tables())
        HONE_TRY(database.script(create_sql(table).c_str()));
      HONE_TRY(database.script(kIndexes));
    }
    for (const Migration& migration : kMigrations)
      if (version > 0 && migration.from >= version) HONE_TRY(database.script(migration.script));
    HONE_TRY(database.script(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
    return database.script(fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str());
  });
}

}  // namespace hone::store
