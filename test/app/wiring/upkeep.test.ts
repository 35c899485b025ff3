import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openService } from "../../../src/app/local-service.ts"
import type { AppService } from "../../../src/app/service.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { type FixedClock, fixedClock } from "../../support/fixed-clock.ts"
import { runnableOf } from "../../support/plan/plan-room.ts"
import { planText } from "../../support/plan/plan-workspace.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { contains, greeting, reply } from "../../support/script-replies.ts"

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ files: { "a.txt": "precious\n" } })
})
afterEach(() => room[Symbol.dispose]())

const agent = (...names: string[]) => room.workspace.state(...names)
const manifests = () => agent("checkpoints/manifests")
const kept = () => readdirSync(manifests()).map(name => name.replace(".json", ""))
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** As if everything had been kept for so many days more. */
function age(days: number): void {
  using db = new Database(agent("workspace.db"))
  db.run("PRAGMA busy_timeout = 10000")
  db.query("UPDATE kept SET since_ms = since_ms - ?").run(days * dayMs)
}

/** What the user has configured. */
function limits(sections: object): void {
  const directory = join(room.workspace.configHome, "acode")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", ...sections }))
}

let plans = 0

/** A plan that changes one file. */
function planFile(content = "x"): string {
  plans += 1
  const file = join(room.workspace.outside, "plan.json")
  writeFileSync(file, planText([["write_file", { path: "a.txt", content: `${content} ${plans}` }]], "p"))
  return file
}

async function runPlan(content?: string): Promise<string> {
  const file = planFile(content)
  expect((await room.acode("plan", "approve", file)).exitCode).toBe(0)
  const { exitCode, stderr } = await room.acode("plan", "run", file)
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("error")])
  return stderr
}

/** A session that has changed a file and rests. */
async function resting(): Promise<string> {
  room.script(
    reply.plan({ write: ["a.txt"], acceptance: [contains("a.txt", "new")] }),
    reply.write("a.txt", "changed\n"),
    reply.giveUp("cannot"),
  )
  const { exitCode, events } = await room.run("--yes=plan")
  expect(exitCode).toBe(30)
  return events[0]?.session ?? ""
}

describe("the end of a session", () => {
  test("removes what is older than what can be undone, and nothing younger", async () => {
    await runPlan()
    const [first] = kept()
    age(6)
    await runPlan()
    expect(kept()).toHaveLength(2)
    age(2)
    await runPlan()
    expect(kept()).toHaveLength(2)
    expect(kept()).not.toContain(first ?? "")
  })

  test("counts the days that are configured", async () => {
    limits({ checkpoints: { undo_days: 20 }, storage: { quarantine_days: 3 } })
    mkdirSync(agent("quarantine/exe_1"), { recursive: true })
    await runPlan()
    const [first = ""] = kept()
    age(4)
    await runPlan()
    expect([kept().includes(first), existsSync(agent("quarantine/exe_1"))]).toEqual([true, false])
    age(15)
    await runPlan()
    expect(kept()).toContain(first)
    age(2)
    await runPlan()
    expect(kept()).not.toContain(first)
  })

  test("removes it too when a model drove the session", async () => {
    await runPlan()
    const [first] = kept()
    age(8)
    room.script(...greeting())
    expect((await room.run("--yes=plan")).exitCode).toBe(0)
    expect(kept()).not.toContain(first ?? "")
  })

  test("is not kept from that by one that is damaged", async () => {
    await runPlan()
    writeFileSync(join(manifests(), "cal_damaged.json"), "{")
    await runPlan()
    age(8)
    await runPlan()
    expect(kept()).toHaveLength(1)
    expect(kept()).not.toContain("cal_damaged")
  })

  test("leaves what a session needs that somebody may still resume", async () => {
    const session = await resting()
    const needed = kept()
    age(8)
    await runPlan()
    expect(kept()).toEqual(expect.arrayContaining([...needed]))
    expect((await room.acode("cancel", session)).exitCode).toBe(0)
    await runPlan()
    expect(kept()).not.toEqual(expect.arrayContaining([...needed]))
  })

  describe("where undo, recovery or a restore replaced something", () => {
    /** A person writes something and restores an older file over it. Gives the copy of what she wrote. */
    async function replaced(): Promise<string> {
      await runPlan()
      const [before = ""] = kept()
      room.workspace.write("a.txt", "an afternoon of work\n")
      expect((await room.acode("checkpoint", "restore", before, "a.txt")).exitCode).toBe(0)
      expect(readFileSync(join(room.workspace.root, "a.txt"), "utf8")).toBe("precious\n")
      return kept().find(id => id.startsWith("chk_")) ?? ""
    }

    test("keeps the copy for want of room, however much else there is", async () => {
      limits({ storage: { max_total_mb: 1 }, checkpoints: { max_total_mb: 1 } })
      const copy = await replaced()
      const before = kept()
      for (const letter of "abcdef") {
        await runPlan(letter.repeat(400_000))
        age(1 / 24)
      }
      expect(before.filter(id => !kept().includes(id))).toEqual(before.filter(id => id !== copy))
      expect((await room.acode("checkpoint", "restore", copy, "a.txt")).exitCode).toBe(0)
      expect(readFileSync(join(room.workspace.root, "a.txt"), "utf8")).toBe("an afternoon of work\n")
    })

    test("says what goes when its time is over", async () => {
      const copy = await replaced()
      expect(await runPlan()).not.toContain(copy)
      age(8)
      const told = await runPlan()
      expect(kept()).not.toContain(copy)
      expect(told).toContain(`removed after checkpoints.undo_days: ${copy}: a.txt, replaced on 20`)
    })
  })

  test("removes quarantined files in their turn, also from directories that cannot be written", async () => {
    mkdirSync(agent("quarantine/exe_1/shut"), { recursive: true })
    writeFileSync(agent("quarantine/exe_1/shut/.npmrc"), "x")
    Bun.spawnSync(["chmod", "500", agent("quarantine/exe_1/shut")])
    await runPlan()
    age(29)
    await runPlan()
    expect(existsSync(agent("quarantine/exe_1"))).toBe(true)
    age(1)
    await runPlan()
    expect(existsSync(agent("quarantine/exe_1"))).toBe(false)
  })

  test("removes the oldest copies while all that is kept takes more than it may, and says when that is too little", async () => {
    const large = (letter: string) => letter.repeat(300_000)
    writeFileSync(join(room.workspace.root, "a.txt"), large("0"))
    await runPlan(large("1"))
    const [first] = kept()
    age(1)
    await runPlan(large("2"))
    age(1)
    expect(kept()).toHaveLength(2)
    const limited = 'schema_version: "1"\nstorage: { max_total_mb: 1 }\n'
    mkdirSync(join(room.workspace.configHome, "acode"), { recursive: true })
    writeFileSync(join(room.workspace.configHome, "acode/config.yml"), limited)
    await runPlan(large("3"))
    expect(kept()).not.toContain(first ?? "")
    writeFileSync(agent("ballast"), Buffer.alloc(2_000_000, 1))
    expect(await runPlan()).toContain("acode storage free --dry-run")
    expect(kept()).toHaveLength(1)
  })
})

describe("a clock that is set wrong for one session", () => {
  for (const [name, wrongMs] of [
    ["ten years ahead", 3650 * dayMs],
    ["ten years behind", -3650 * dayMs],
  ] as const)
    test(`${name} takes nothing away, and what was kept by it goes when its time has passed`, async () => {
      const clock = fixedClock(Date.now())
      await drive(clock)
      clock.advance(hourMs)
      await drive(clock)
      clock.jump(wrongMs)
      await drive(clock)
      clock.advance(hourMs)
      await drive(clock)
      clock.jump(-wrongMs)
      clock.advance(hourMs)
      await drive(clock)
      expect(kept()).toHaveLength(5)
      clock.advance(8 * dayMs)
      await drive(clock)
      expect(kept()).toHaveLength(1)
    })
})

/** A plan run by an acode whose machine has been up since the clock was made. */
async function drive(clock: FixedClock): Promise<void> {
  const service: AppService = openService({
    environment: readEnvironment(room.environment),
    workspace: room.workspace.root,
    configFile: undefined,
    notice: () => undefined,
    clock,
    uptimeMs: () => clock.monotonicMs(),
  })
  try {
    const { plan } = runnableOf(readFileSync(planFile(), "utf8"))
    await service.approvePlan(plan, hourMs, () => undefined)
    const result = await service.runPlan({
      plan,
      where: "plan.json",
      approvalId: null,
      watcher: {},
      signal: new AbortController().signal,
      isInteractive: false,
      prompt: async () => null,
      notice: () => undefined,
    })
    expect(result.status).toBe("Completed")
  } finally {
    await service.close()
  }
}

describe("the start of a session", () => {
  const straced = testWhere(missingProgram("strace") ?? noTracing())

  straced(
    "opens no manifest, however many there are",
    async () => {
      await runPlan()
      const [id = ""] = kept()
      const text = readFileSync(join(manifests(), `${id}.json`), "utf8")
      for (let count = 0; count < 2000; count++)
        writeFileSync(join(manifests(), `cal_${count}.json`), text.replaceAll(id, `cal_${count}`))
      const file = planFile()
      expect((await room.acode("plan", "approve", file)).exitCode).toBe(0)
      const trace = join(room.workspace.outside, "trace")
      const through = ["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", trace]
      const { exitCode } = await runAcode(["plan", "run", file], {
        cwd: room.workspace.root,
        env: room.environment,
        through,
      })
      expect(exitCode).toBe(0)
      const opened = readFileSync(trace, "utf8").match(/manifests\/cal_[^"]*"/g) ?? []
      // One is written, under its temporary name.
      expect(opened).toHaveLength(1)
    },
    60_000,
  )

  test("removes what dead processes left half written, and nothing that is being written", async () => {
    await runPlan()
    const { bootId, pid, startTicks } = processIdentity()
    const aside = (owner: string) => `artifacts/ab/.aside-${owner}.${crypto.randomUUID()}`
    const living = aside(`${bootId.replace("/", "_")}.${pid}.${startTicks}`)
    const dead = [
      aside(`${bootId.replace("/", "_")}.${pid}.1`),
      aside(`00000000-0000-4000-8000-000000000000_1.${pid}.${startTicks}`),
      "checkpoints/manifests/cal_1.json.tmp~",
      "checkpoints/contents/ab/0123.tmp~",
    ]
    for (const name of ["artifacts/ab", "checkpoints/contents/ab"])
      mkdirSync(agent(name), { recursive: true })
    for (const name of [living, ...dead]) writeFileSync(agent(name), "half")
    await runPlan()
    expect([living, ...dead].filter(name => existsSync(agent(name)))).toEqual([living])
  })
})

function noTracing(): string | null {
  const { exitCode } = Bun.spawnSync(["strace", "-qq", "-o", "/dev/null", "true"], { stderr: "ignore" })
  return exitCode === 0 ? null : `${acodeProgram()} cannot be traced here`
}
