import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { event, startSession } from "../../store/support/session-events.ts"
import { runOne } from "../../store/support/store-fixture.ts"
import { type AcodeRun, runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { fixedClock } from "../../support/fixed-clock.ts"
import { planText } from "../../support/plan/plan-workspace.ts"
import { openTempStore } from "../../support/workspace/temp-store.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
beforeEach(() => {
  workspace = tempWorkspace()
})
afterEach(() => workspace[Symbol.dispose]())

const dayMs = 24 * 3_600_000
const acode = (...args: string[]): Promise<AcodeRun> =>
  runAcode(args, { cwd: workspace.root, env: workspace.environment })
const databaseBytes = () => statSync(workspace.state("workspace.db")).size

/** Executions of so many days ago, as an acode of then recorded them. */
function executions(daysAgo: number, count: number): void {
  using store = openTempStore(workspace, { clock: fixedClock(Date.now() - daysAgo * dayMs) })
  for (let index = 0; index < count; index++)
    runOne(store, { result: { stdout: `${daysAgo} ${index} `.repeat(500) } }, `exe_${daysAgo}_${index}`)
}

describe("acode runs prune", () => {
  test("makes the database smaller, and the rest of the history still verifies", async () => {
    executions(40, 400)
    executions(0, 20)
    const before = databaseBytes()
    const { exitCode, stdout } = await acode("runs", "prune", "--older-than", "30d")
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^400 executions removed, .* freed\n$/)])
    expect(databaseBytes()).toBeLessThan(before / 2)
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect(JSON.parse((await acode("runs", "list", "--json")).stdout)).toHaveLength(20)
    expect(await check(workspace)).toEqual([])
  })

  test("without an age removes what is older than execution.audit.retention_days", async () => {
    executions(40, 3)
    executions(0, 2)
    expect((await acode("runs", "prune")).stdout).toStartWith("0 executions removed")
    mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
    const execution = { audit: { retention_days: 30 } }
    const text = JSON.stringify({ schema_version: "1", execution })
    writeFileSync(join(workspace.configHome, "acode/config.yml"), text)
    expect((await acode("runs", "prune")).stdout).toStartWith("3 executions removed")
    expect(await check(workspace)).toEqual([])
  })

  test("session prune counts from the clock only where it is said to be right", async () => {
    const old = agedSession(3650, "finished")
    const line = ["session", "prune", "--older-than", "30d"]
    expect([(await acode(...line)).exitCode, await sessions()]).toEqual([0, [old]])
    expect([(await acode(...line, "--trust-clock")).exitCode, await sessions()]).toEqual([0, []])
  })

  test("removes nothing because the last records are years old, until the clock is said to be right", async () => {
    executions(3650, 3)
    const first = await acode("runs", "prune", "--older-than", "30d")
    expect(first.stdout).toStartWith("0 executions removed")
    expect(first.stderr).toContain("--trust-clock")
    const trusting = await acode("runs", "prune", "--older-than", "30d", "--trust-clock")
    expect([trusting.stdout, trusting.stderr]).toEqual([expect.stringMatching(/^3 executions removed/), ""])
  })
})

/** A plan run that changes a file. Gives its session. */
async function session(content: string): Promise<string> {
  const plan = join(workspace.outside, "plan.json")
  writeFileSync(plan, planText([["write_file", { path: "a.txt", content }]], "p"))
  expect((await acode("plan", "approve", plan)).exitCode).toBe(0)
  const { exitCode, stdout, stderr } = await acode("plan", "run", plan, "--json")
  expect([exitCode, stderr]).toEqual([0, ""])
  return (JSON.parse(stdout) as { session_id: string }).session_id
}

const agent = (...names: string[]) => workspace.state(...names)

/** As the file system counts. */
function du(path: string): number {
  const { stdout } = Bun.spawnSync(["du", "-s", "-B1", path])
  return Number(stdout.toString().split("\t")[0])
}

const sessions = async () =>
  (JSON.parse((await acode("session", "list", "--json")).stdout) as { id: string }[]).map(({ id }) => id)

describe("acode storage show", () => {
  test("counts everything below the state directory as du does", async () => {
    const empty = JSON.parse((await acode("storage", "show", "--json")).stdout) as Shown
    expect([empty.usedBytes, empty.limitBytes]).toEqual([0, 4096 * 1024 * 1024])
    await session("one")
    await acode("exec", "--", "sh", "-c", "seq 1 50000")
    mkdirSync(agent("quarantine/exe_1"), { recursive: true })
    writeFileSync(agent("quarantine/exe_1/.npmrc"), "x".repeat(10_000))
    writeFileSync(agent("artifacts/ab.tmp~"), "x".repeat(20_000))
    const { exitCode, stdout } = await acode("storage", "show", "--json")
    const shown = JSON.parse(stdout) as Shown
    expect([exitCode, shown.usedBytes, shown.directory]).toEqual([0, du(agent()), agent()])
    const bytes = Object.fromEntries(shown.parts.map(part => [part.id, part.bytes]))
    expect(bytes).toMatchObject({
      checkpoints: du(agent("checkpoints")),
      quarantine: du(agent("quarantine")),
      artifacts: du(agent("artifacts")) - du(agent("artifacts/ab.tmp~")),
      temporary: du(agent("artifacts/ab.tmp~")),
      database: du(agent("workspace.db")),
    })
    expect((await acode("storage", "show")).stdout).toContain("storage.max_total_mb")
  })
})

test("acode storage show names the state of a directory that is gone, and what frees it", async () => {
  await acode("exec", "--", "true")
  const [kept, gone] = [du(agent()), join(workspace.outside, "gone")]
  mkdirSync(gone)
  expect((await acode("-C", gone, "exec", "--", "true")).exitCode).toBe(0)
  rmSync(gone, { recursive: true })
  const { stdout } = await acode("storage", "show")
  const [, size, key = ""] = /([\d.]+ KB) of .*\/gone, .*`acode workspace forget ([^`]+)`/.exec(stdout) ?? []
  const directory = join(agent(), "..", key)
  expect(size).toBe(`${(du(directory) / 1024).toFixed(1)} KB`)
  const shown = JSON.parse((await acode("storage", "show", "--json")).stdout) as Shown
  expect(shown.goneWorkspaces).toEqual([{ key, root: gone, bytes: du(directory) }])
  expect((await acode("workspace", "forget", key)).exitCode).toBe(0)
  expect([existsSync(directory), du(agent())]).toEqual([false, kept])
  expect((await acode("storage", "show")).stdout).not.toContain("forget")
})

interface Shown {
  readonly goneWorkspaces: readonly unknown[]
  readonly directory: string
  readonly usedBytes: number
  readonly limitBytes: number
  readonly parts: readonly { readonly id: string; readonly bytes: number }[]
}

describe("acode storage free", () => {
  test("removes the oldest first, says what it costs, and leaves a history that verifies", async () => {
    const large = (letter: string) => letter.repeat(400_000)
    workspace.write("a.txt", large("0"))
    const [first, second, third] = [
      await session(large("1")),
      await session(large("2")),
      await session(large("3")),
    ]
    executions(0, 30)
    const before = du(agent())
    const target = before - 300_000
    const planned = await acode("storage", "free", "--to", String(target), "--dry-run", "--json")
    expect(du(agent())).toBe(before)
    const { exitCode, stdout } = await acode("storage", "free", "--to", String(target), "--json")
    const freed = JSON.parse(stdout) as Freed
    expect([exitCode, freed.removed]).toEqual([0, (JSON.parse(planned.stdout) as Freed).removed])
    expect(freed.removed[0]).toMatchObject({ kind: "copies", id: first, undoLost: [first] })
    expect(freed.removed.some(({ id }) => id === third)).toBe(false)
    expect(du(agent())).toBeLessThanOrEqual(target)
    expect((await acode("session", "undo", third)).exitCode).toBe(0)
    expect((await acode("session", "undo", second)).exitCode).toBe(0)
    expect((await acode("session", "undo", first)).exitCode).not.toBe(0)
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect(await check(workspace)).toEqual([])
  })

  test("can remove all that has ended, and says so when that is not enough", async () => {
    await session("one")
    executions(0, 30)
    const { exitCode, stdout, stderr } = await acode("storage", "free", "--to", "0")
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("acode storage show")])
    expect(stdout).toContain("can no longer be undone")
    expect([await sessions(), readdirSync(agent("checkpoints/manifests"))]).toEqual([[], []])
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect(await check(workspace)).toEqual([])
    expect((await acode("storage", "free", "--to", "lots")).exitCode).toBe(2)
  })
})

describe("what acode storage free foresees", () => {
  const free = async (...flags: readonly string[]) =>
    JSON.parse((await acode("storage", "free", ...flags, "--json")).stdout) as Freed

  /** Forecasts and frees, with du as the judge of both. */
  async function judged(to: number) {
    const before = du(agent())
    const foreseen = await free("--to", String(to), "--replaced", "--dry-run")
    expect([foreseen.beforeBytes, du(agent())]).toEqual([before, before])
    const freed = await free("--to", String(to), "--replaced")
    const after = du(agent())
    expect([freed.beforeBytes, freed.afterBytes]).toEqual([before, after])
    expect(after).toBeLessThanOrEqual(before)
    expect(after).toBeLessThanOrEqual(foreseen.afterBytes)
    return { before, after, foreseen: foreseen.afterBytes }
  }

  test("is what du counts afterwards, or a little more, and never more than before", async () => {
    await acode("exec", "--", "true")
    await judged(0)
    await judged(0)
    const random = seeded(7)
    for (let index = 0; index < 4; index++) {
      const id = await session("x".repeat(Math.floor(random() * 300_000)))
      executions(index, Math.floor(random() * 150))
      if (index % 2 === 0) expect((await acode("session", "undo", id)).exitCode).toBe(0)
      await acode("exec", "--", "seq", "1", String(Math.floor(random() * 40_000)))
    }
    mkdirSync(agent("quarantine/exe_1"), { recursive: true })
    writeFileSync(agent("quarantine/exe_1/.npmrc"), "x".repeat(50_000))
    await judged(Math.floor(du(agent()) * 0.8))
    await judged(Math.floor(du(agent()) * 0.5))
    const { before, after, foreseen } = await judged(0)
    expect(before - foreseen).toBeGreaterThan((before - after) / 2)
    await judged(0)
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect(await check(workspace)).toEqual([])
  }, 120_000)
})

/** The same numbers from 0 to 1 each time. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test("acode storage free leaves what undo replaced unless it is told to, and names it either way", async () => {
  workspace.write("a.txt", "old")
  const id = await session("an afternoon of work")
  expect((await acode("session", "undo", id)).exitCode).toBe(0)
  const manifests = () => readdirSync(agent("checkpoints/manifests"))
  const [copy = ""] = manifests().filter(name => name.startsWith("chk_"))
  const copyId = copy.replace(".json", "")
  const { at } = JSON.parse(readFileSync(agent("checkpoints/manifests", copy), "utf8"))
  const name = `${copyId}: a.txt, replaced on ${at.slice(0, 10)} by the undo of session ${id}`
  const first = await acode("storage", "free", "--to", "0")
  expect(manifests()).toEqual([copy])
  expect(first.stderr).toContain(name)
  expect((await acode("checkpoint", "restore", copyId)).exitCode).toBe(0)
  expect(readFileSync(join(workspace.root, "a.txt"), "utf8")).toBe("an afternoon of work")
  const [advice = ""] = /(?<=`acode )storage free --replaced[^`]*/.exec(first.stderr) ?? []
  const second = await acode(...advice.split(" "))
  expect([manifests(), second.stdout]).toEqual([[], expect.stringContaining(`removed the copy ${name}`)])
  expect(await check(workspace)).toEqual([])
})

interface Freed {
  readonly beforeBytes: number
  readonly afterBytes: number
  readonly removed: readonly { readonly kind: string; readonly id: string }[]
}

describe("acode session prune", () => {
  test("removes what is old, with a tombstone, and keeps what is young, new or still of use", async () => {
    const old = [agedSession(40, "finished"), agedSession(39, "finished"), agedSession(38, "asking")]
    const young = await session("one")
    const plan = ["session", "prune", "--older-than", "30d"]
    const dry = await acode(...plan, "--dry-run", "--json")
    expect(JSON.parse(dry.stdout)).toMatchObject({
      removed: [{ id: old[1] }, { id: old[0] }],
      left: [{ id: old[2], reason: "it waits for an answer" }],
    })
    expect(await sessions()).toHaveLength(4)
    expect((await acode(...plan, "--keep", "3")).exitCode).toBe(0)
    expect(await sessions()).toEqual([young, old[2] ?? "", old[1] ?? ""])
    expect((await acode(...plan)).exitCode).toBe(0)
    expect((await acode(...plan, "--force")).exitCode).toBe(0)
    expect(await sessions()).toEqual([young])
    using db = new Database(agent("workspace.db"))
    const tombstones = db
      .query<{ data: string }, []>("SELECT data FROM events WHERE stream LIKE 'prn_%'")
      .all()
    const named = tombstones.flatMap(({ data }) =>
      (JSON.parse(data) as { streams: { stream: string }[] }).streams.map(({ stream }) => stream),
    )
    expect(named).toEqual(expect.arrayContaining(old))
    expect(db.query("SELECT 1 FROM events WHERE stream = ?").get(old[0] ?? "")).toBeNull()
    expect((await acode("audit", "verify")).exitCode).toBe(0)
    expect((await acode("session", "show", old[0] ?? "")).exitCode).toBe(2)
    expect(await check(workspace)).toEqual([])
  })

  test("keeps what can still be undone unless it is forced, and then takes its copies too", async () => {
    const id = await session("one")
    const plan = ["session", "prune", "--older-than", "0s"]
    expect((await acode(...plan)).stdout).toContain("it can still be undone")
    expect(await sessions()).toEqual([id])
    expect((await acode(...plan, "--force", "--dry-run")).stdout).toEndWith("\n1 session would be removed\n")
    expect((await acode(...plan, "--force")).stdout).toContain("\n1 session removed, ")
    expect([await sessions(), readdirSync(agent("checkpoints/manifests"))]).toEqual([[], []])
    expect(readFileSync(join(workspace.root, "a.txt"), "utf8")).toBe("one")
    expect(await check(workspace)).toEqual([])
  })
})

/** A session of so many days ago, as an acode of then recorded it. */
function agedSession(daysAgo: number, end: "finished" | "asking"): string {
  using store = openTempStore(workspace, { clock: fixedClock(Date.now() - daysAgo * dayMs) })
  const writer = startSession(store, { lane: "agent", planId: null, planHash: null })
  if (end === "finished") writer.append(event.sessionFinished())
  else writer.append(event.approvalRequested(`apr_${daysAgo}`, writer.id), event.sessionRested())
  store.leases.release({ stream: writer.id, epoch: 1 })
  return writer.id
}
