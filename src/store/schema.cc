#include "store/schema.h"

namespace hone::store {
namespace {

// Tables of identities: equal ones are one row.
constexpr const char* kIdentityTables = R"sql(
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,  -- content_hash of the bytes before compression
  size INTEGER NOT NULL,      -- of the bytes before compression
  zstd BLOB NOT NULL
) STRICT;

CREATE TABLE build_identity (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  compiler TEXT NOT NULL,
  flags TEXT NOT NULL,
  target TEXT NOT NULL
) STRICT;

CREATE TABLE device_identity (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  driver TEXT NOT NULL,
  protocol TEXT NOT NULL
) STRICT;

CREATE TABLE operation (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  description TEXT NOT NULL,
  json TEXT NOT NULL,
  flops REAL NOT NULL,
  bytes REAL NOT NULL
) STRICT;

CREATE TABLE dispatch (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  operation_id INTEGER REFERENCES operation (id),
  source_id INTEGER NOT NULL REFERENCES blob (id),
  json TEXT NOT NULL
) STRICT;

CREATE TABLE program (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  json TEXT NOT NULL
) STRICT;

CREATE TABLE program_dispatch (
  program_id INTEGER NOT NULL REFERENCES program (id),
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  ordinal INTEGER NOT NULL,
  launches_per_call INTEGER NOT NULL,
  PRIMARY KEY (program_id, dispatch_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,  -- random; the same row in every store it is merged into
  command TEXT NOT NULL,
  version TEXT NOT NULL,
  seed INTEGER NOT NULL,
  program_id INTEGER REFERENCES program (id),
  process TEXT NOT NULL,
  started TEXT NOT NULL,
  ended TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'interrupted', 'failed'))
) STRICT;

CREATE TABLE event (
  run_id INTEGER NOT NULL REFERENCES run (id),
  sequence INTEGER NOT NULL,
  created TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE candidate (
  id INTEGER PRIMARY KEY,
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  build_id INTEGER NOT NULL REFERENCES build_identity (id),
  provider TEXT NOT NULL,
  configuration TEXT NOT NULL,
  constraint_set TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id),
  UNIQUE (dispatch_id, build_id, provider, configuration)
) STRICT;

CREATE TABLE lease (
  key TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  taken TEXT NOT NULL,
  heartbeat TEXT NOT NULL,
  expires TEXT NOT NULL,
  boot TEXT NOT NULL,               -- boot id of the kernel the owner runs on
  expires_boot_ms INTEGER NOT NULL  -- on that kernel's CLOCK_BOOTTIME
) STRICT, WITHOUT ROWID;
)sql";

// Tables of results. Verifications and measurements refer to the artifact's identity, not to the
// candidate: equal code is verified and measured once.
constexpr const char* kResultTables = R"sql(
CREATE TABLE artifact (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id),
  identity TEXT NOT NULL,
  format TEXT NOT NULL,
  launch TEXT NOT NULL,
  code_id INTEGER REFERENCES blob (id),  -- NULL once it is garbage collected
  configured TEXT NOT NULL,
  compile_seconds REAL NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX artifact_identity ON artifact (identity);
CREATE INDEX artifact_code ON artifact (code_id);  -- asked for whenever a blob goes

CREATE TABLE failure (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  candidate_id INTEGER NOT NULL REFERENCES candidate (id),
  device_id INTEGER REFERENCES device_identity (id),
  identity TEXT NOT NULL,
  kind TEXT NOT NULL,
  message TEXT NOT NULL,
  seconds REAL NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX failure_candidate ON failure (candidate_id);
CREATE INDEX failure_identity ON failure (identity) WHERE identity <> '';

CREATE TABLE verification (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  identity TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES device_identity (id),
  correct INTEGER NOT NULL CHECK (correct IN (0, 1)),
  bad_binding INTEGER,
  bad_index INTEGER,
  expected TEXT NOT NULL,
  got TEXT NOT NULL,
  share_bad REAL NOT NULL,
  tolerance TEXT NOT NULL,
  basis TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX verification_identity ON verification (identity, dispatch_id, device_id);

CREATE TABLE measurement (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  identity TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES device_identity (id),
  phase TEXT NOT NULL
    CHECK (phase IN ('search', 'sentinel', 'finalist', 'iree_runtime', 'program')),
  samples BLOB NOT NULL,  -- seconds, 64-bit floats, little endian
  launches_per_sample INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  min REAL NOT NULL,
  median REAL NOT NULL,
  spread REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  sentinel_ratio REAL,
  machine TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX measurement_identity ON measurement (identity, dispatch_id, device_id, phase);

CREATE TABLE program_measurement (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  program_id INTEGER NOT NULL REFERENCES program (id),
  build_id INTEGER NOT NULL REFERENCES build_identity (id),
  device_id INTEGER NOT NULL REFERENCES device_identity (id),
  variant TEXT NOT NULL,
  spec_id INTEGER REFERENCES blob (id),
  samples BLOB NOT NULL,
  launches_per_sample INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  min REAL NOT NULL,
  median REAL NOT NULL,
  spread REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  ratio REAL,
  ratio_low REAL,
  ratio_high REAL,
  correct INTEGER CHECK (correct IN (0, 1)),
  verdict TEXT NOT NULL,
  machine TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;

CREATE TABLE selection (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  dispatch_id INTEGER NOT NULL REFERENCES dispatch (id),
  build_id INTEGER NOT NULL REFERENCES build_identity (id),
  device_id INTEGER NOT NULL REFERENCES device_identity (id),
  winner_id INTEGER REFERENCES candidate (id),
  speedup REAL,
  speedup_low REAL,
  speedup_high REAL,
  shipped INTEGER NOT NULL CHECK (shipped IN (0, 1)),
  reason TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE TABLE selection_tie (
  selection_id INTEGER NOT NULL REFERENCES selection (id),
  candidate_id INTEGER NOT NULL REFERENCES candidate (id),
  PRIMARY KEY (selection_id, candidate_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE device_fact (
  id INTEGER PRIMARY KEY,
  uid TEXT NOT NULL UNIQUE,
  device_id INTEGER NOT NULL REFERENCES device_identity (id),
  name TEXT NOT NULL,
  value REAL NOT NULL,
  unit TEXT NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
)sql";

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

// Migration from version `from` to the next. A released script never changes; a change of the
// schema is a new entry.
struct Migration {
  std::int64_t from;
  const char* script;
};
constexpr Migration kMigrations[] = {
    {0, kIdentityTables}, {0, kResultTables}, {1, kRulesAndSeals}, {2, kResumption}};

}  // namespace

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
    for (const Migration& migration : kMigrations)
      if (migration.from >= version) HONE_TRY(database.script(migration.script));
    HONE_TRY(database.script(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
    return database.script(fmt::format("PRAGMA user_version = {}", kSchemaVersion).c_str());
  });
}

}  // namespace hone::store
