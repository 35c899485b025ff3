import { Database } from "bun:sqlite"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Random } from "../../soak/random.ts"
import type { AcodeRun } from "../acode.ts"
import { commandLines } from "../command-lines.ts"
import { planText } from "../plan/plan-workspace.ts"
import { reply } from "../script-replies.ts"
import { changeDatabase } from "../workspace/at-the-file.ts"
import { type SavedWorkspace, savedWorkspace } from "../workspace/saved-workspace.ts"
import { openTempStore } from "../workspace/temp-store.ts"

/** One change that a person with `sqlite3` makes while no acode runs. */
export interface Tamper {
  /** The table and column, and the type of the event. */
  readonly name: string
  readonly sql: string
  /** True when every action on the session must be refused afterwards. */
  readonly concernsSession: boolean
}

/**
 * A workspace in which a session rests with a question that waits and a changed file that could be undone, a plan was
 * run, another approval has expired and a third plan was never approved.
 */
export interface TamperedRoom extends AsyncDisposable {
  /** Every cell of every row that says what may be done, and of every event behind it. */
  readonly tampers: readonly Tamper[]
  /** Returns one line for each effect of a change, other than that acode refused to continue (65). */
  violations(tamper: Tamper): Promise<readonly string[]>
}

interface Ids {
  readonly session: string
  readonly approval: string
  readonly execution: string
  readonly call: string
}

export async function tamperedRoom(): Promise<TamperedRoom> {
  const room = savedWorkspace()
  const lines = commandLines(room.workspace.environment)
  const acode = (argv: readonly string[]) => lines.run(room.workspace.root, ...argv)
  const ids = await prepared(room, acode)
  room.save("rests")
  const looks = looking(ids)
  const shown = new Map<string, AcodeRun>()
  for (const argv of looks) shown.set(argv.join(" "), await acode(argv))
  return {
    tampers: tampersOf(room, ids),
    violations: async tamper => {
      room.restore("rests")
      changeDatabase(room.workspace.state("workspace.db"), tamper.sql)
      const before = { files: filesOf(room), events: eventsOf(room) }
      const found = [
        ...(await seen(looks, shown, acode)),
        ...(await done(tamper, ids, acode)),
        ...changed("files of the workspace", before.files, filesOf(room)),
        ...(tamper.concernsSession ? changed("the log", before.events, eventsOf(room)) : []),
      ]
      return found.map(violation => `${tamper.name}: ${violation}`)
    },
    [Symbol.asyncDispose]: async () => {
      await lines[Symbol.asyncDispose]()
      room[Symbol.dispose]()
    },
  }
}

type Run = (argv: readonly string[]) => Promise<AcodeRun>

const script = "script.json"

async function prepared({ workspace }: SavedWorkspace, acode: Run): Promise<Ids> {
  mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
  writeFileSync(
    join(workspace.configHome, "acode", "config.yml"),
    'schema_version: "1"\napprovals: { non_interactive: rest }\n',
  )
  workspace.write("a.txt", "one\n")
  const write = (path: string) => ["write_file", { path, content: "two\n" }] as const
  for (const id of ["ran", "expired", "other"])
    workspace.write(`${id}.json`, planText([write(`${id}.txt`), ["run_command", { argv: ["true"] }]], id))
  const replies = [
    reply.plan({ write: ["a.txt"] }),
    reply.write("a.txt", "two\n"),
    reply.write("outside.txt", "x\n"),
  ]
  workspace.write(script, JSON.stringify({ replies }))
  await expected(acode, 0, "plan", "approve", "ran.json")
  await expected(acode, 0, "plan", "run", "ran.json")
  await expireApproval(workspace, acode)
  await expected(acode, 10, "run", "change it", "--script", script, "--yes=plan")
  const listed = async (...argv: readonly string[]) => {
    const { stdout } = await acode([...argv, "--json"])
    const [first] = JSON.parse(stdout) as readonly { readonly id: string }[]
    if (first === undefined) throw new Error(`${argv.join(" ")} lists nothing`)
    return first.id
  }
  return {
    session: await listed("session", "list"),
    approval: await listed("approvals", "list"),
    execution: await listed("runs", "list"),
    call: await listed("evidence", "by-tool", "write_file"),
  }
}

async function expected(acode: Run, code: number, ...argv: readonly string[]): Promise<AcodeRun> {
  const run = await acode(argv)
  if (run.exitCode !== code) throw new Error(`${argv.join(" ")} exits ${run.exitCode}: ${run.stderr}`)
  return run
}

/** Approves a plan with a time that has expired already. */
async function expireApproval(workspace: SavedWorkspace["workspace"], acode: Run): Promise<void> {
  const { stdout } = await expected(acode, 0, "plan", "hash", "expired.json")
  const planHash = /sha256:[0-9a-f]{64}/.exec(stdout)?.[0] ?? ""
  using store = openTempStore(workspace, { stateDirectory: workspace.state() })
  const plan = { planId: "expired", planHash, approver: "ada", stepCount: 2 }
  store.approvals.approvePlan({ approvalId: "apr_expired", ...plan, expiresAt: "2020-01-01T00:00:00.000Z" })
}

function looking({ session, approval, execution, call }: Ids): readonly (readonly string[])[] {
  return [
    ["session", "show", session],
    ["session", "logs", session],
    ["status", session],
    ["session", "list"],
    ["approvals", "list", "--all"],
    ["approvals", "show", approval],
    ["runs", "list"],
    ["runs", "show", execution],
    ["evidence", "by-tool", "write_file"],
    ["evidence", "by-file", "a.txt"],
    ["evidence", "by-code", "ACODE-EXEC-005"],
    ["evidence", "failures"],
    ["evidence", "show", call],
  ]
}

/** Checks that acode shows exactly the same as before, or reports the change: what is missing counts as well. */
async function seen(
  looks: readonly (readonly string[])[],
  shown: ReadonlyMap<string, AcodeRun>,
  acode: Run,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const argv of looks) {
    const { exitCode, stdout, stderr } = await acode(argv)
    if (exitCode === 65 && stderr.includes("ACODE-SEC-004")) continue
    if (exitCode !== 0 || stdout !== shown.get(argv.join(" "))?.stdout)
      found.push(`${argv.join(" ")} exits ${exitCode} and shows ${JSON.stringify(stdout)} ${stderr}`)
  }
  return found
}

/** Checks that nothing continues the session, and that no plan runs without an approval. */
async function done(
  { concernsSession }: Tamper,
  { session, approval }: Ids,
  acode: Run,
): Promise<readonly string[]> {
  const acts: readonly (readonly string[])[] = [
    ["plan", "run", "expired.json"],
    ["plan", "run", "other.json"],
    ["resume", session, "--script", script],
    ...(concernsSession
      ? [
          ["approve", approval],
          ["deny", approval],
          ["pause", session],
          ["session", "undo", session],
          ["cancel", session],
        ]
      : []),
  ]
  const found: string[] = []
  for (const argv of acts) {
    const { exitCode, stderr } = await acode(argv)
    const allowed = argv[0] === "plan" ? [33, 65] : concernsSession ? [65] : [1, 10, 65]
    if (!allowed.includes(exitCode ?? -1) || stderr.includes("ACODE-INT"))
      found.push(`${argv.join(" ")} exits ${exitCode}: ${stderr}`)
  }
  return found
}

function changed(what: string, before: string, after: string): readonly string[] {
  return before === after ? [] : [`${what} changed`]
}

/** Returns the files as other programs see them. */
function filesOf({ workspace }: SavedWorkspace): string {
  const list = "find . -printf '%P %y %m %l %s %i\\n' | sort; find . -type f -exec sha256sum {} + | sort"
  return Bun.spawnSync(["sh", "-c", list], { cwd: workspace.root }).stdout.toString()
}

function eventsOf({ workspace }: SavedWorkspace): string {
  using database = new Database(workspace.state("workspace.db"), { readonly: true })
  return JSON.stringify(database.query("SELECT * FROM events ORDER BY position").all())
}

/** Rows of a table, grouped by what a change to them affects. */
interface Rows {
  readonly table: string
  readonly where: string
  readonly concernsSession: boolean
}

function tampersOf({ workspace }: SavedWorkspace, { session, approval, execution }: Ids): readonly Tamper[] {
  using database = new Database(workspace.state("workspace.db"), { readonly: true })
  const ofSession = `(position IN (SELECT position FROM evidence WHERE session_id = '${session}'))`
  const all: readonly Rows[] = [
    { table: "events", where: `stream IN ('${session}', '${approval}')`, concernsSession: true },
    { table: "events", where: `stream NOT IN ('${session}', '${approval}')`, concernsSession: false },
    { table: "sessions", where: `id = '${session}'`, concernsSession: true },
    { table: "sessions", where: `id <> '${session}'`, concernsSession: false },
    { table: "approvals", where: "1", concernsSession: true },
    { table: "plan_approvals", where: "1", concernsSession: false },
    { table: "evidence", where: `session_id = '${session}'`, concernsSession: true },
    { table: "evidence", where: `session_id <> '${session}'`, concernsSession: false },
    { table: "evidence_files", where: ofSession, concernsSession: true },
    { table: "evidence_files", where: `NOT ${ofSession}`, concernsSession: false },
    { table: "evidence_diagnostics", where: ofSession, concernsSession: true },
    { table: "executions", where: `id = '${execution}'`, concernsSession: false },
    { table: "leases", where: "1", concernsSession: false },
  ]
  return all.flatMap(rows => [...tampersIn(database, rows)])
}

function* tampersIn(database: Database, { table, where, concernsSession }: Rows): Generator<Tamper> {
  const rows = database
    .query<Record<string, string | number | null>, []>(`SELECT * FROM ${table} WHERE ${where}`)
    .all()
  const types = new Map(
    database
      .query<{ name: string; type: string }, []>(`SELECT name, type FROM pragma_table_info('${table}')`)
      .all()
      .map(({ name, type }) => [name, type]),
  )
  // The tables are strict: SQLite itself refuses a value of another type.
  const fits = (column: string, value: string | number | null) =>
    value === null || (types.get(column) === "INTEGER") === (typeof value === "number")
  for (const row of rows) {
    const of = table === "events" ? ` of ${row["type"]}` : ""
    const isRow = Object.entries(row).map(([column, value]) => `${column} IS ${quoted(value)}`)
    const thatRow = `WHERE ${isRow.join(" AND ")}`
    // Without a lease no process holds the stream, which is what a session at rest is like.
    if (table !== "leases")
      yield {
        name: `a row of ${table}${of} removed`,
        sql: `DELETE FROM ${table} ${thatRow}`,
        concernsSession,
      }
    for (const [column, value] of Object.entries(row))
      for (const other of othersOf(column, value).filter(one => fits(column, one))) {
        const set = `UPDATE OR REPLACE ${table} SET ${column} = ${quoted(other)} ${thatRow}`
        yield { name: `${table}.${column}${of} = ${quoted(other)}`, sql: set, concernsSession }
      }
  }
}

/** Returns values that an attacker would write to gain more than was granted, and random ones. */
function othersOf(column: string, value: string | number | null): readonly (string | number | null)[] {
  const wanted: Readonly<Record<string, readonly (string | number | null)[]>> = {
    answer: ["granted"],
    used_at: ["2026-01-01T00:00:00.000Z"],
    expires_at: ["2099-01-01T00:00:00.000Z"],
    answer_expires_at: ["2099-01-01T00:00:00.000Z"],
    boot_id: ["x"],
    pid: [1],
    reason: [null],
    exit_code: [0],
    ended_at: ["2026-01-01T00:00:00.000Z"],
  }
  const byChance =
    typeof value === "number" ? value + 1 : value === null || value === "" ? null : `${value.slice(0, -1)}~`
  const chosen = [
    ...(wanted[column] ?? []),
    ...(byChance === null || column === "position" ? [] : [byChance]),
  ]
  return chosen.filter(other => other !== value)
}

function quoted(value: string | number | null): string {
  if (value === null) return "NULL"
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`
}

/** Chooses a few of them, half of which concern the session. */
export function someTampers(all: readonly Tamper[], count: number, random: Random): readonly Tamper[] {
  const [own, others] = [all.filter(one => one.concernsSession), all.filter(one => !one.concernsSession)]
  return Array.from({ length: count }, (_, index) => random.oneOf(index % 2 === 0 ? own : others))
}
