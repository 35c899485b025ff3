/** The tables of sessions, approvals and tool calls, all computed from the events. */
export const sessionTables = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  started_position INTEGER NOT NULL,
  lane TEXT NOT NULL,
  goal TEXT NOT NULL,
  plan_id TEXT,
  plan_hash TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  exit_code INTEGER,
  step_count INTEGER NOT NULL,
  steps_done INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT,
  boot_id TEXT NOT NULL,
  pid INTEGER NOT NULL,
  start_ticks TEXT NOT NULL,
  undone_at TEXT
) STRICT;

CREATE INDEX sessions_by_time ON sessions (started_at, started_position);
CREATE INDEX sessions_running ON sessions (started_position) WHERE reason IS NULL;

-- What a person is shown is in the event that asks; here is what decides whether it is still open.
CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  requested_position INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  requested_at TEXT NOT NULL,
  expires_at TEXT,
  answer TEXT,
  answered_at TEXT,
  answered_by TEXT,
  answer_reason TEXT,
  answer_expires_at TEXT,
  used_at TEXT
) STRICT;

CREATE INDEX approvals_by_time ON approvals (requested_at, requested_position);
CREATE INDEX approvals_unanswered ON approvals (requested_at, requested_position) WHERE answer IS NULL;

CREATE TABLE plan_approvals (
  id TEXT PRIMARY KEY,
  position INTEGER NOT NULL,
  plan_id TEXT NOT NULL,
  plan_hash TEXT NOT NULL,
  approver TEXT NOT NULL,
  step_count INTEGER NOT NULL,
  approved_at TEXT NOT NULL,
  expires_at TEXT NOT NULL
) STRICT;

CREATE INDEX plan_approvals_by_hash ON plan_approvals (plan_hash, approved_at, position);
CREATE INDEX plan_approvals_by_plan ON plan_approvals (plan_id, approved_at, position);

CREATE TABLE evidence (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  settled_position INTEGER,
  session_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  canonical_tool TEXT,
  plan_id TEXT,
  plan_hash TEXT,
  task_id TEXT,
  step_id TEXT,
  step_key TEXT,
  status TEXT NOT NULL,
  certainty TEXT,
  exit_code INTEGER,
  duration_ms INTEGER,
  error_code TEXT,
  error_message TEXT,
  result_digest TEXT,
  at TEXT NOT NULL
) STRICT;

CREATE INDEX evidence_by_tool ON evidence (coalesce(canonical_tool, tool), at, position);
CREATE INDEX evidence_failures ON evidence (at, position) WHERE status IN ('failed', 'interrupted');
CREATE INDEX evidence_failures_by_tool ON evidence (coalesce(canonical_tool, tool), at, position)
  WHERE status IN ('failed', 'interrupted');

-- The ends of ids are what people type, and what is random in them.
CREATE INDEX evidence_by_ending ON evidence (substr(id, -4));

-- Time and position are those of the call's row in the table evidence.
CREATE TABLE evidence_files (
  path TEXT NOT NULL,
  at TEXT NOT NULL,
  position INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  PRIMARY KEY (path, at, position)
) STRICT, WITHOUT ROWID;

-- One row for each code and file of a call; the first of a code stands for the call.
CREATE TABLE evidence_diagnostics (
  code TEXT NOT NULL,
  at TEXT NOT NULL,
  position INTEGER NOT NULL,
  file_name TEXT NOT NULL,
  call_id TEXT NOT NULL,
  is_first INTEGER NOT NULL,
  PRIMARY KEY (code, at, position, file_name)
) STRICT, WITHOUT ROWID;

CREATE INDEX evidence_codes ON evidence_diagnostics (code, at, position, call_id) WHERE is_first = 1;
CREATE INDEX evidence_diagnostics_by_file ON evidence_diagnostics (code, file_name, at, position);
`

/**
 * Adds artifacts that turns, plans and shown results refer to: they were missing in the table, so a prune would have
 * removed them.
 */
export const sessionReferences = `
INSERT OR IGNORE INTO artifact_references (ref, position)
SELECT json_extract(data, '$.text.ref'), position FROM events
WHERE type IN ('turn.finished', 'tool_call.settled') AND json_extract(data, '$.text.kind') = 'artifact'
UNION ALL
SELECT json_extract(data, '$.output.ref'), position FROM events
WHERE type = 'turn.finished' AND json_extract(data, '$.output.kind') = 'artifact'
UNION ALL
SELECT json_extract(data, '$.plan.ref'), position FROM events
WHERE type = 'plan.proposed' AND json_extract(data, '$.plan.kind') = 'artifact'
UNION ALL
SELECT json_extract(call.value, '$.arguments.ref'), position
FROM (SELECT position, data FROM events WHERE type = 'turn.finished') AS turn, json_each(turn.data, '$.calls') AS call
WHERE json_extract(call.value, '$.arguments.kind') = 'artifact';
`
