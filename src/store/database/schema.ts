import { sessionReferences, sessionTables } from "./schema-sessions.ts"

/** One step of the schema. A released step is never edited: its checksum is in every database that it made. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  /** The digest of `sqlite_schema` after this step: a database with any other is refused. */
  readonly schema: string
  /** True if a reader can work without what this step creates. */
  readonly forWritersOnly?: true
}

/** Marks a file as acode's (`PRAGMA application_id`): "acod". */
export const applicationId = 0x61636f64

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: "log, leases, executions",
    schema: "4d24d20505dcef4c120590967d0c84b8cf5e84be951a65bd61e937612a5fed35",
    sql: `
CREATE TABLE migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;

CREATE TABLE log_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  workspace_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  head TEXT NOT NULL
) STRICT;

CREATE TABLE events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  at TEXT NOT NULL,
  type TEXT NOT NULL,
  version INTEGER NOT NULL,
  data TEXT NOT NULL,
  prev_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE (stream, seq)
) STRICT;

-- The streams a prune is removing. A row exists only inside the transaction that removes them.
CREATE TABLE pruning (stream TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;

CREATE TRIGGER events_are_only_pruned BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM pruning WHERE stream = OLD.stream)
BEGIN SELECT RAISE(ABORT, 'events are only removed by pruning'); END;

-- Not a projection: who may append to a stream now. No owner means it was given back.
CREATE TABLE leases (
  stream TEXT PRIMARY KEY,
  epoch INTEGER NOT NULL,
  boot_id TEXT,
  pid INTEGER,
  start_ticks TEXT,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  stream TEXT NOT NULL,
  started_position INTEGER NOT NULL,
  finished_position INTEGER,
  command_line TEXT NOT NULL,
  run_id TEXT NOT NULL,
  session_id TEXT,
  task_id TEXT,
  start_time TEXT NOT NULL,
  ending TEXT,
  exit_code INTEGER,
  success INTEGER,
  duration_ms INTEGER
) STRICT;

CREATE INDEX executions_by_time ON executions (start_time, started_position);
CREATE INDEX executions_open ON executions (started_position) WHERE finished_position IS NULL;

CREATE TABLE artifact_references (
  ref TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (ref, position)
) STRICT, WITHOUT ROWID;
`,
  },
  {
    version: 2,
    name: "sessions, approvals, evidence",
    schema: "0665b14ea328fdcfa432ed070618f6120f03958f1e50d77428a573b67736cf34",
    sql: sessionTables,
  },
  {
    version: 3,
    name: "artifacts that sessions name",
    schema: "0665b14ea328fdcfa432ed070618f6120f03958f1e50d77428a573b67736cf34",
    sql: sessionReferences,
  },
  {
    version: 4,
    name: "observed time",
    schema: "d8d3b4a13435ce065e48e5a95c60fdaae7f9a668d360f2318b34380c1922e572",
    forWritersOnly: true,
    sql: `
-- Neither is a projection: how much time has passed as far as this machine can prove it, and since when things that
-- lie outside the database are kept, in that time. Without them everything is as old as their next reading.
CREATE TABLE observed_time (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  boot_id TEXT NOT NULL,
  uptime_ms INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL,
  aged_ms INTEGER NOT NULL,
  offset_ms INTEGER NOT NULL,
  watched_since_ms INTEGER NOT NULL,
  low_ms INTEGER NOT NULL,
  high_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE kept (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
`,
  },
]
