// The tables of schema 1, as the first hone made them.
#pragma once

namespace hone::store {

inline constexpr const char* kSchema1 = R"sql(
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  size INTEGER NOT NULL,
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
  uid TEXT NOT NULL UNIQUE,
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
  boot TEXT NOT NULL,
  expires_boot_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact (
  candidate_id INTEGER PRIMARY KEY REFERENCES candidate (id),
  identity TEXT NOT NULL,
  format TEXT NOT NULL,
  launch TEXT NOT NULL,
  code_id INTEGER REFERENCES blob (id),
  configured TEXT NOT NULL,
  compile_seconds REAL NOT NULL,
  created TEXT NOT NULL,
  run_id INTEGER REFERENCES run (id)
) STRICT;
CREATE INDEX artifact_identity ON artifact (identity);
CREATE INDEX artifact_code ON artifact (code_id);

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
  samples BLOB NOT NULL,
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

PRAGMA application_id = 0x686f6e65;
PRAGMA user_version = 1;
)sql";

}  // namespace hone::store
