import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { type StatePlaces, statePlaces } from "../../../src/app/state/state-directory.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { exitCodes } from "../../../src/domain/exit-codes.ts"
import type { AcodeRun } from "../../support/acode.ts"
import { type CommandLines, commandLines } from "../../support/command-lines.ts"
import { planText } from "../../support/plan/plan-workspace.ts"
import { reply } from "../../support/script-replies.ts"
import { changeDatabase } from "../../support/workspace/at-the-file.ts"
import { type SavedWorkspace, savedWorkspace } from "../../support/workspace/saved-workspace.ts"

let room: SavedWorkspace
let lines: CommandLines
let places: StatePlaces
let verbs: readonly (readonly string[])[]

beforeAll(async () => {
  room = savedWorkspace()
  const { root, outside, write, environment } = room.workspace
  places = statePlaces(root, readEnvironment(environment))
  write(
    "plan.json",
    planText(
      [
        ["file_write", { path: "a.txt", contents: "one\n" }],
        ["run_command", { argv: ["sh", "-c", "seq 1 20000; exit 3"] }],
      ],
      "demo",
    ),
  )
  const script = join(outside, "script.json")
  writeFileSync(script, JSON.stringify({ replies: [reply.plan({ write: ["a.txt"] })] }))
  lines = commandLines(environment)
  for (const [code, ...argv] of [
    [0, "exec", "--", "seq", "1", "300000"],
    [0, "plan", "approve", "plan.json", "--expires", "7d"],
    [30, "plan", "run", "plan.json"],
    [10, "run", "something", "--script", script],
  ] as const) {
    const { exitCode, stderr } = await lines.run(root, ...argv)
    expect([argv, exitCode, exitCode === code ? "" : stderr]).toEqual([argv, code, ""])
  }
  verbs = await verbsOf(script)
  room.save("whole")
})

afterAll(async () => {
  await lines[Symbol.asyncDispose]()
  room[Symbol.dispose]()
})

/** Every command that reads the history, then those that write: each has an id that was there. */
async function verbsOf(script: string): Promise<readonly (readonly string[])[]> {
  const ids = async (...argv: readonly string[]) => {
    const { stdout } = await lines.run(room.workspace.root, ...argv, "--json")
    return (JSON.parse(stdout) as readonly { readonly id: string }[]).map(({ id }) => id)
  }
  const [agent = "", plan = ""] = await ids("session", "list")
  const [second = "", first = ""] = await ids("runs", "list")
  const [approval = ""] = await ids("approvals", "list")
  const [call = ""] = await ids("evidence", "by-tool", "run_command")
  return [
    ["session", "list"],
    ...[agent, plan].flatMap(id => [
      ["session", "show", id],
      ["session", "logs", id],
      ["session", "validate", id],
      ["status", id],
    ]),
    ["approvals", "list", "--all"],
    ["approvals", "show", approval],
    ["evidence", "failures"],
    ["evidence", "by-file", "a.txt"],
    ["evidence", "recurring"],
    ["evidence", "show", call],
    ["runs", "list", "--session-id", plan],
    ["runs", "stats"],
    ["runs", "show", first],
    ["runs", "show", second, "--full-output"],
    ["audit", "verify"],
    ["doctor"],
    ["session", "undo", "--preview", plan],
    ["exec", "--sandbox", "none", "--", "true"],
    ["plan", "approve", "plan.json"],
    ["plan", "run", "plan.json"],
    ["approve", approval],
    ["cancel", agent],
    ["resume", agent, "--script", script],
    ["session", "undo", plan],
    ["runs", "prune", "--older-than", "0s"],
  ]
}

/** Somebody who has `sqlite3` and may write the file. */
function sql(...statements: readonly string[]): () => void {
  return () => changeDatabase(places.databasePath, ...statements)
}

const oldRename = "PRAGMA legacy_alter_table = ON"

function eachArtifact(change: (path: string) => void): void {
  const found = readdirSync(places.artifactsDirectory, { recursive: true, withFileTypes: true })
  for (const entry of found.filter(one => one.isFile())) change(join(entry.parentPath, entry.name))
}

/** Half of the page at which a table or an index begins is overwritten. */
function damagedPage(name: string, byte: number): () => void {
  return () => {
    using database = new Database(places.databasePath)
    const found = database
      .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
      .get(name)
    const fd = openSync(places.databasePath, "r+")
    writeSync(fd, Buffer.alloc(2000, byte), 0, 2000, ((found?.rootpage ?? 0) - 1) * 4096)
    closeSync(fd)
  }
}

/** What no command can work with: each says so, before it does anything. */
const hopeless: Readonly<Record<string, () => void>> = {
  "the head is gone": sql("DELETE FROM log_head"),
  "the head is behind the events": sql("UPDATE log_head SET position = position - 3"),
  "the head is ahead of the events": sql("UPDATE log_head SET position = position + 5"),
  "the head is below zero": sql("UPDATE log_head SET position = -5"),
  "the last event is gone": sql("DELETE FROM events WHERE position = (SELECT max(position) FROM events)"),
  "the log is another workspace's": sql("UPDATE log_head SET workspace_id = '../../x'"),
  "the key is another one": sql("UPDATE log_head SET key_id = 'x'"),
  "the key is gone": () => rmSync(places.keysDirectory, { recursive: true }),
  "the steps of the schema are gone": sql("DELETE FROM migrations"),
  "the version is 0": sql("PRAGMA user_version = 0"),
  "the version is an older one": sql("PRAGMA user_version = 1"),
  "the version is below zero": sql("PRAGMA user_version = -1"),
  "it is marked as another program's": sql("PRAGMA application_id = 1"),
  "a table is gone": sql("DROP TABLE approvals"),
  "the events are gone": sql("DROP TABLE events"),
  "a table has other columns": sql(oldRename, "ALTER TABLE leases RENAME TO x", "CREATE TABLE leases (x)"),
  "two tables have changed places": sql(
    oldRename,
    "ALTER TABLE sessions RENAME TO x",
    "ALTER TABLE approvals RENAME TO sessions",
    "ALTER TABLE x RENAME TO approvals",
  ),
  "a trigger was added": sql("CREATE TRIGGER x AFTER INSERT ON events BEGIN DELETE FROM sessions; END"),
  "a trigger is gone": () => {
    using database = new Database(places.databasePath)
    database.run("DROP TRIGGER events_are_only_pruned")
  },
  "an index is gone": sql("DROP INDEX approvals_unanswered"),
  "the file is half as long": () =>
    truncateSync(places.databasePath, Math.floor(statSync(places.databasePath).size / 8192) * 4096),
  "the file is only a beginning": () => truncateSync(places.databasePath, 100),
  "the file is a text": () => writeFileSync(places.databasePath, "hello\n".repeat(999)),
}

/** What some commands can still work with; an audit names it. */
const partial: Readonly<Record<string, () => void>> = {
  "the head has another hash": sql("UPDATE log_head SET head = 'x'"),
  "an event in the middle is gone": sql("DELETE FROM events WHERE position = 6"),
  "the first events are gone": sql("DELETE FROM events WHERE position < 4"),
  "events are no JSON": sql("UPDATE events SET data = 'x'"),
  "events are empty": sql("UPDATE events SET data = ''"),
  "events are null": sql("UPDATE events SET data = 'null'"),
  "events lack all their fields": sql("UPDATE events SET data = '{}'"),
  "events are of no known type": sql("UPDATE events SET type = 'what.happened'"),
  "events are of no known version": sql("UPDATE events SET version = 99"),
  "events have no time": sql("UPDATE events SET at = 'yesterday'"),
  "sessions are not listed": sql("DELETE FROM sessions"),
  "sessions are nonsense": sql("UPDATE sessions SET state = 'x', lane = 'y', started_position = 9999"),
  "executions name events that are not there": sql("UPDATE executions SET started_position = 9999"),
  "executions name each other's events": sql(
    "UPDATE executions SET started_position = finished_position, finished_position = started_position",
  ),
  "approvals name another event": sql("UPDATE approvals SET requested_position = 1, expires_at = 'x'"),
  "approved plans are nonsense": sql("UPDATE plan_approvals SET expires_at = 'x', approved_at = 'y'"),
  "evidence names another event": sql("UPDATE evidence SET settled_position = 1, status = 'x', at = 'y'"),
  "artifacts are gone": () => rmSync(places.artifactsDirectory, { recursive: true }),
  "artifacts are a file": () => {
    rmSync(places.artifactsDirectory, { recursive: true })
    writeFileSync(places.artifactsDirectory, "")
  },
  "artifacts were changed": () => eachArtifact(path => writeFileSync(path, "changed")),
  "artifacts are directories": () =>
    eachArtifact(path => {
      rmSync(path)
      mkdirSync(path)
    }),
  "a page of the events is zero": damagedPage("events", 0),
  "a page of the executions is nonsense": damagedPage("executions", 0x41),
  "a page of an index is zero": damagedPage("evidence_failures", 0),
  "a page of an index is nonsense": damagedPage("sqlite_autoindex_events_1", 0xff),
}

/** What stands in its place is no file, or not ours: nothing is opened. */
const foreign: Readonly<Record<string, () => void>> = {
  "a pipe": () => {
    rmSync(places.databasePath)
    expect(Bun.spawnSync(["mkfifo", places.databasePath]).exitCode).toBe(0)
  },
  "a link": () => {
    renameSync(places.databasePath, `${places.databasePath}.moved`)
    symlinkSync(`${places.databasePath}.moved`, places.databasePath)
  },
}

const declared = new Set<number>(Object.values(exitCodes).map(({ code }) => code))

/** The codes of all commands after a damage, by command; whatever happens, none of them is lost for words. */
async function codesAfter(damage: () => void): Promise<ReadonlyMap<string, number | null>> {
  room.restore("whole")
  damage()
  const codes = new Map<string, number | null>()
  for (const argv of verbs) {
    const run = await lines.run(room.workspace.root, ...argv)
    expect([argv, run.exitCode, wrongWith(argv, run)]).toEqual([argv, run.exitCode, null])
    codes.set(argv.join(" "), run.exitCode)
  }
  return codes
}

function wrongWith(argv: readonly string[], { exitCode, stdout, stderr }: AcodeRun): string | null {
  const isDeclared = argv[0] === "exec" ? exitCode === 0 || exitCode === 125 : declared.has(exitCode ?? -1)
  if (!isDeclared || exitCode === 70 || stderr.includes("ACODE-INT-"))
    return `not a declared failure: ${stderr}`
  if (/\n\s+at .*:\d+:\d+/.test(stderr)) return `a stack trace: ${stderr}`
  // What a plan run, `doctor` and `session validate` found is what they print.
  const isSaid = /^error (ACODE-|E\d)/m.test(stderr) || stdout !== ""
  return exitCode === 0 || isSaid ? null : "nothing was said"
}

test("of a history that is whole, everything works", async () => {
  const codes = await codesAfter(() => undefined)
  expect([...codes.values()].filter(code => code === 65 || code === 1)).toEqual([])
})

describe("a history that was changed outside acode is refused by every command when", () => {
  for (const [name, damage] of Object.entries(hopeless))
    test(name, async () => {
      const codes = await codesAfter(damage)
      const others = [...codes].filter(([, code]) => code !== 65)
      expect(others.map(([line, code]) => [line.split(" ", 1)[0], code])).toEqual([
        ["doctor", 1],
        ["exec", 125],
      ])
    })
})

describe("a history that was changed outside acode is named by an audit when", () => {
  for (const [name, damage] of Object.entries(partial))
    test(name, async () => {
      const codes = await codesAfter(damage)
      expect([codes.get("audit verify"), codes.get("doctor")]).toEqual([65, 1])
    })
})

describe("a history is not opened in the place of which there is", () => {
  for (const [name, damage] of Object.entries(foreign))
    test(name, async () => {
      const codes = await codesAfter(damage)
      expect(new Set(codes.values())).toEqual(new Set([32, 1, 125]))
    })
})

describe("one thing that the tables and events disagree about is not shown as if nothing were wrong", () => {
  const about: Readonly<Record<string, () => void>> = {
    "the last event of each session stands in another stream": sql(
      "UPDATE events SET stream = 'exe_' || position, seq = 1 WHERE type IN ('session.rested', 'session.finished')",
    ),
    "each row has another id": sql(
      ...["sessions", "approvals", "executions", "evidence"].map(
        table => `UPDATE ${table} SET id = id || 'x'`,
      ),
    ),
    "the rows are gone": sql(
      ...["sessions", "approvals", "executions", "evidence"].map(table => `DELETE FROM ${table}`),
    ),
  }
  const isOne = ([noun, verb]: readonly string[]) =>
    verb === "show" ? noun === "session" || noun === "approvals" : noun === "status" || verb === "logs"
  for (const [name, damage] of Object.entries(about))
    test(name, async () => {
      const codes = await codesAfter(damage)
      const shown = verbs.filter(isOne).map(argv => [argv.slice(0, 2), codes.get(argv.join(" "))])
      expect(shown.length).toBeGreaterThan(6)
      expect(shown.filter(([, code]) => code !== 65)).toEqual([])
    })
})

test("a history of a later version is left alone", async () => {
  const codes = await codesAfter(sql("PRAGMA user_version = 99"))
  expect(new Set(codes.values())).toEqual(new Set([1, 125]))
})

test("what a person is shown without a part that is missing exits 65", async () => {
  const { root } = room.workspace
  room.restore("whole")
  rmSync(places.artifactsDirectory, { recursive: true })
  for (const argv of verbs.filter(
    ([noun, verb]) => verb === "show" && (noun === "runs" || noun === "evidence"),
  )) {
    const { exitCode, stderr } = await lines.run(root, ...argv)
    expect([argv, exitCode, stderr]).toEqual([
      argv,
      65,
      expect.stringMatching(/^error ACODE-SEC-004: .*not there/),
    ])
    const asJson = await lines.run(root, ...argv, "--json")
    expect([argv, asJson.exitCode]).toEqual([argv, 65])
    expect(JSON.parse(asJson.stdout)).toBeObject()
  }
})
