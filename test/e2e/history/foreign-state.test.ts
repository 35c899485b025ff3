import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { startAcode } from "../../support/acode.ts"
import { eventually } from "../../support/eventually.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { testWhere } from "../../support/requirement.ts"

/** Everything acode ever kept in `.agent`, and everything it keeps anywhere: a repository may bring along any of it. */
const statePaths = [
  "workspace.db",
  "workspace.db-wal",
  "workspace.db-shm",
  "workspace.json",
  "artifacts",
  "artifacts/ab",
  "checkpoints",
  "checkpoints/contents",
  "checkpoints/contents/zz",
  "checkpoints/manifests",
  "checkpoints/stat-cache",
  "checkpoints/stat-cache.tmp~",
  "quarantine",
  "sandbox",
  "sandbox/mask",
  "sandbox/probe.json",
  ".gitignore",
]

let room: PlanWorkspace
let victim: string

beforeEach(() => {
  room = planWorkspace({ git: true, files: { "a.txt": "one\n" } })
  room.plan([["write_file", { path: "a.txt", content: "two\n" }]])
  victim = join(room.workspace.outside, "victim")
  for (const directory of ["", "/documents", "/documents/deep"]) mkdirSync(`${victim}${directory}`)
  for (const file of [".bashrc", "documents/letter", "documents/deep/old"])
    writeFileSync(join(victim, file), `${file} of a person\n`)
})
afterEach(() => room[Symbol.dispose]())

const agent = (...names: readonly string[]) => join(room.workspace.root, ".agent", ...names)

/** Types, modes, targets, times and contents, as other programs see them. */
function manifest(directory: string): string {
  const script =
    "find . -printf '%P %y %m %l %s %T@ %i\\n' | sort; find . -type f -exec sha256sum {} + | sort"
  return Bun.spawnSync(["sh", "-c", script], { cwd: directory }).stdout.toString()
}

/** Verbs that only read, in pairs that run side by side. */
const readingVerbs = [
  ["status", "session list"],
  ["runs list", "runs stats"],
  ["approvals list --all", "audit verify"],
  ["doctor", "config show"],
  ["storage show", "workspace list"],
  ["checkpoint list", "evidence failures"],
].map(pair => pair.map(line => line.split(" ")))

/** Each other verb of the command line once, whatever it says. */
const verbs = (): readonly (readonly string[])[] => [
  ["exec", "--", "true"],
  ["exec", "--sandbox", "none", "--", "true"],
  ["plan", "show", room.planFile],
  ["plan", "run", room.planFile],
  ["session", "undo"],
  ["resume"],
  ["cancel"],
  ["runs", "prune", "--older-than", "0s"],
  ["session", "prune", "--older-than", "0s", "--force"],
  ["storage", "free", "--to", "0"],
]

/** The verbs of other lanes, which keep nothing else of a workspace: they run where most could go wrong. */
const furtherVerbs: readonly (readonly string[])[] = [
  ["skills", "list"],
  ["agent", "list"],
  ["agent", "run", "t1"],
  ["workspace", "adopt", "acode-1"],
  ["checkpoint", "restore", "chk_1"],
  ["audit", "accept", "--reason", "x"],
  ["run", "x", "--yes=all", "--ack-danger"],
]

/** Runs every verb and tells of any that touched the victim, granted the plan or left without words. */
async function expectNoEffect(further: typeof furtherVerbs = []): Promise<void> {
  const before = manifest(victim)
  for (const group of [...readingVerbs, ...[...verbs(), ...further].map(verb => [verb])]) {
    const runs = await Promise.all(group.map(verb => room.acode(...verb)))
    const internal = runs.map(({ stderr }) => stderr.includes("ACODE-INT"))
    expect([group, internal, manifest(victim) === before]).toEqual([group, group.map(() => false), true])
    if (group[0]?.[0] === "plan" && group[0][1] === "run")
      expect([runs[0]?.exitCode, room.workspace.root]).toEqual([33, room.workspace.root])
  }
  expect(readFileSync(join(room.workspace.root, "a.txt"), "utf8")).toBe("one\n")
}

function plant(name: string, what: (path: string) => void): void {
  mkdirSync(dirname(agent(name)), { recursive: true })
  what(agent(name))
}

const shell = (script: string, ...args: readonly string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", script, "sh", ...args])
  if (exitCode !== 0) throw new Error(stderr.toString())
}

describe("a repository that brings state along", () => {
  const leaves = statePaths.filter(path => !statePaths.some(other => other.startsWith(`${path}/`)))
  const kinds: Readonly<Record<string, (path: string, index: number) => void>> = {
    files: path => writeFileSync(path, "acode state\n"),
    "links to a file": path => shell('ln -s "$1" "$2"', join(victim, ".bashrc"), path),
    "links to a directory": path => shell('ln -s "$1" "$2"', join(victim, "documents"), path),
    "dangling links": path => shell('ln -s "$1" "$2"', join(victim, "made"), path),
    pipes: path => shell('mkfifo "$1"', path),
  }
  for (const [name, make] of Object.entries(kinds)) {
    test(`as ${name}`, async () => {
      for (const [index, path] of leaves.entries()) plant(path, at => make(at, index))
      await expectNoEffect(name === "links to a directory" ? furtherVerbs : [])
    }, 120_000)

    test(`with directories of it as ${name}`, async () => {
      for (const path of ["artifacts", "checkpoints", "quarantine", "sandbox"]) plant(path, at => make(at, 0))
      await expectNoEffect()
    }, 120_000)
  }

  const places: Readonly<Record<string, (path: string) => void>> = {
    "a file": path => writeFileSync(path, "acode state\n"),
    "a link to itself": path => shell('ln -s "$1" "$2"', path, path),
  }
  for (const [name, make] of Object.entries(places))
    test(`as .agent that is ${name}`, async () => {
      make(agent())
      for (const verb of [...readingVerbs.flat(), ...verbs()]) {
        const { stdout, stderr } = await room.acode(...verb)
        expect([verb, /ACODE-INT|report this/.exec(stdout + stderr)]).toEqual([verb, null])
      }
    }, 60_000)

  testWhere(process.getuid?.() === 0 ? null : "only root can make devices")(
    "as devices",
    async () => {
      for (const path of leaves) plant(path, at => shell('mknod "$1" c 1 5', at))
      await expectNoEffect()
    },
    120_000,
  )

  test("with .agent itself as a link", async () => {
    shell('ln -s "$1" "$2"', join(victim, "documents"), agent())
    await expectNoEffect()
  }, 120_000)

  test("with a real database in which somebody else approved the plan", async () => {
    using attacker = planWorkspace({ files: { "a.txt": "one\n" } })
    writeFileSync(attacker.planFile, readFileSync(room.planFile))
    expect((await attacker.approveAndRun()).run.exitCode).toBe(0)
    expect((await attacker.acode("plan", "approve", attacker.planFile)).exitCode).toBe(0)
    cpSync(attacker.workspace.state(), agent(), { recursive: true })
    const shipped = readFileSync(agent("workspace.db"))
    await expectNoEffect()
    expect(readFileSync(agent("workspace.db")).equals(shipped)).toBe(true)
    rmSync(room.workspace.state(), { recursive: true })
    expect((await room.acode("doctor")).stdout).toContain("not written by this user's acode")
    expect(JSON.parse((await room.acode("session", "list", "--json")).stdout)).toEqual([])
  }, 120_000)
})

test("nothing of acode is left in a repository", async () => {
  const { run } = await room.approveAndRun()
  expect(run.exitCode).toBe(0)
  await room.acode("exec", "--", "true")
  expect(readdirSync(room.workspace.root).sort()).toEqual([".git", "a.txt"])
})

describe("state that an older acode kept in .agent", () => {
  /** Puts everything where an older acode had it. */
  async function old(): Promise<string> {
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    const listed = (await room.acode("session", "list", "--json")).stdout
    mkdirSync(agent(), { mode: 0o700 })
    for (const name of readdirSync(room.workspace.state()))
      if (name !== "workspace.json") renameSync(room.workspace.state(name), agent(name))
    rmSync(room.workspace.state(), { recursive: true })
    writeFileSync(agent(".gitignore"), "*\n!.gitignore\n!config.yml\n")
    return listed
  }

  test("is moved once with all that is in it, and .agent goes with it", async () => {
    const listed = await old()
    expect((await room.acode("session", "list", "--json")).stdout).toBe(listed)
    expect(existsSync(agent())).toBe(false)
    expect((await room.acode("audit", "verify")).exitCode).toBe(0)
    expect((await room.acode("session", "undo")).exitCode).toBe(0)
    expect(readFileSync(join(room.workspace.root, "a.txt"), "utf8")).toBe("one\n")
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(0)
  })

  test("leaves what people wrote there", async () => {
    await old()
    writeFileSync(agent("config.yml"), 'schema_version: "1"\n')
    writeFileSync(agent("plan.json"), "{}")
    expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
    expect(readdirSync(agent()).sort()).toEqual(["config.yml", "plan.json"])
  })

  test("that somebody changed is not taken over: exit 65, and it stays as it is", async () => {
    await old()
    const database = new Database(agent("workspace.db"))
    database.run("UPDATE plan_approvals SET expires_at = '2999-01-01T00:00:00.000Z'")
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    const before = readFileSync(agent("workspace.db"))
    for (const verb of [["plan", "run", room.planFile], ["session", "list"], ["resume"]]) {
      const { exitCode, stderr } = await room.acode(...verb)
      expect([verb, exitCode, stderr.includes("ACODE-SEC-004")]).toEqual([verb, 65, true])
    }
    expect(readFileSync(agent("workspace.db")).equals(before)).toBe(true)
    expect(readFileSync(join(room.workspace.root, "a.txt"), "utf8")).toBe("two\n")
    expect(existsSync(room.workspace.state("workspace.db"))).toBe(false)
  })

  test("does not bring links of the repository along", async () => {
    await old()
    const before = manifest(victim)
    rmSync(agent("checkpoints/contents"), { recursive: true })
    shell('ln -s "$1" "$2"', join(victim, "documents"), agent("checkpoints/contents"))
    expect((await room.acode("session", "list")).exitCode).toBe(0)
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(0)
    expect((await room.acode("storage", "free", "--to", "0")).exitCode).toBeLessThan(2)
    expect(manifest(victim)).toBe(before)
  })
})

describe("a directory that was moved, or made anew at its path", () => {
  const moved = () => join(room.workspace.outside, "moved")
  const keys = async (): Promise<
    readonly { readonly id: string; readonly key: string; readonly standing: string }[]
  > => JSON.parse((await room.acode("workspace", "list", "--json")).stdout)

  test("has no history until it adopts the old one", async () => {
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    const listed = (await room.acode("session", "list", "--json")).stdout
    expect(await keys()).toMatchObject([{ standing: "here" }])
    renameSync(room.workspace.root, moved())
    mkdirSync(room.workspace.root)
    const there = (...args: readonly string[]) => room.acode("-C", moved(), ...args)
    expect((await there("session", "list", "--json")).stdout).toBe("[]\n")
    expect((await room.acode("session", "list", "--json")).stdout).toBe("[]\n")
    const [known] = await keys()
    expect(known?.id).toBe(known?.key)
    for (const told of [
      (await there("session", "list")).stderr,
      (await room.acode("session", "list")).stderr,
    ])
      expect(told).toContain(`workspace adopt ${known?.key}`)
    expect(known).toMatchObject({ standing: "gone", root: room.workspace.root })
    const adopted = await there("workspace", "adopt", known?.key.slice(-8) ?? "")
    expect([adopted.exitCode, adopted.stderr]).toEqual([0, ""])
    expect((await there("session", "list", "--json")).stdout).toBe(listed)
    expect((await there("audit", "verify")).exitCode).toBe(0)
    expect((await there("session", "undo")).exitCode).toBe(0)
    expect(readFileSync(join(moved(), "a.txt"), "utf8")).toBe("one\n")
  })

  const advised = (text: string) =>
    /`acode (?:-C \S+ )?(workspace adopt [^`]+)`/.exec(text)?.[1]?.split(" ") ?? []

  test("says once how to get the old history back, also when it has one of its own by then", async () => {
    const { result } = await room.approveAndRun()
    const { session_id: session } = result
    const checkpoint = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)[0].id as string
    const listed = (await room.acode("session", "list", "--json")).stdout
    renameSync(room.workspace.root, moved())
    mkdirSync(room.workspace.root)
    const there = (...args: readonly string[]) => room.acode("-C", moved(), ...args)
    const first = await there("exec", "--", "true")
    const adopt = advised(first.stderr)
    expect([first.exitCode, adopt.length]).toEqual([0, 3])
    expect(advised((await there("exec", "--", "true")).stderr)).toEqual([])
    const runs = (await there("runs", "list", "--json")).stdout
    for (const verb of [
      ["session", "show", session],
      ["session", "undo", session.slice(-8)],
      ["resume", session],
      ["runs", "list", "--session-id", session],
      ["checkpoint", "restore", checkpoint],
      ["session", "undo"],
      ["resume"],
    ]) {
      const { exitCode, stderr } = await there(...verb)
      expect([verb, exitCode, advised(stderr)]).toEqual([verb, 2, adopt])
    }
    const adopted = await there(...adopt)
    const back = advised(adopted.stdout)
    expect([adopted.exitCode, back.length]).toEqual([0, 3])
    expect((await there("session", "list", "--json")).stdout).toBe(listed)
    expect((await there("audit", "verify")).exitCode).toBe(0)
    const [run] = JSON.parse(runs) as { id: string }[]
    expect(advised((await there("runs", "show", run?.id ?? "")).stderr)).toEqual(back)
    expect((await there("session", "undo", session)).exitCode).toBe(0)
    expect(readFileSync(join(moved(), "a.txt"), "utf8")).toBe("one\n")
    const returned = await there(...back)
    expect([returned.exitCode, (await there("runs", "list", "--json")).stdout]).toEqual([0, runs])
    const directory = dirname(room.workspace.state())
    const inUse = readdirSync(directory, { recursive: true }).filter(name => /-(wal|shm)$/.test(String(name)))
    expect(inUse).toEqual([])
    expect((await there("audit", "verify")).exitCode).toBe(0)
    expect((await there("storage", "show")).stdout).toContain(
      `workspace forget ${advised(returned.stdout)[2]}`,
    )
    expect((await there(...advised(returned.stdout))).exitCode).toBe(0)
    expect((await there("workspace", "forget", back[2] ?? "")).exitCode).toBe(0)
    const standings = JSON.parse((await there("workspace", "list", "--json")).stdout) as {
      standing: string
    }[]
    expect(standings.map(({ standing }) => standing)).toEqual(["here"])
  })

  test("is not given another history while a process works in it", async () => {
    expect((await room.approveAndRun()).run.exitCode).toBe(0)
    renameSync(room.workspace.root, moved())
    mkdirSync(room.workspace.root)
    const there = (...args: readonly string[]) => room.acode("-C", moved(), ...args)
    const [, , key = ""] = advised((await there("exec", "--", "true")).stderr)
    const command = ["exec", "--sandbox", "none", "--", "sh", "-c", "touch up; sleep 60"]
    await using running = startAcode(command, { cwd: moved(), env: room.workspace.environment })
    await eventually("the command runs", () => existsSync(join(moved(), "up")))
    const { exitCode, stderr } = await there("workspace", "adopt", key)
    expect([exitCode, stderr.includes("another process is working in")]).toEqual([2, true])
    running.kill("SIGTERM")
    await running.ended
    expect((await there("workspace", "adopt", key)).exitCode).toBe(0)
  })

  test("keeps what it has: a history is neither replaced nor taken from a directory that is still there", async () => {
    expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
    const [own] = await keys()
    for (const verb of ["adopt", "forget"]) {
      const { exitCode, stderr } = await room.acode("workspace", verb, own?.key ?? "")
      expect([verb, exitCode, stderr.includes("still there")]).toEqual([verb, 2, true])
      expect((await room.acode("workspace", verb, "nothing-like-it")).exitCode).toBe(2)
    }
    mkdirSync(moved())
    const listed = JSON.parse((await room.acode("-C", moved(), "workspace", "list", "--json")).stdout)
    expect(listed).toMatchObject([{ key: own?.key, standing: "elsewhere" }])
    for (const verb of ["adopt", "forget"]) {
      const { exitCode, stderr } = await room.acode("-C", moved(), "workspace", verb, own?.key ?? "")
      expect([verb, exitCode, stderr.includes("still there")]).toEqual([verb, 2, true])
    }
    expect(existsSync(room.workspace.state("workspace.db"))).toBe(true)
    rmSync(moved(), { recursive: true })
    renameSync(room.workspace.root, moved())
    mkdirSync(room.workspace.root)
    expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
    expect(await keys()).toHaveLength(2)
    expect((await room.acode("workspace", "forget", own?.key ?? "")).exitCode).toBe(0)
    expect(await keys()).toMatchObject([{ standing: "here" }])
  })
})

test("a history that was recorded here and is gone is missed by the audit", async () => {
  expect((await room.acode("audit", "verify")).exitCode).toBe(0)
  expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
  rmSync(room.workspace.state(), { recursive: true })
  const { exitCode, stdout, stderr } = await room.acode("audit", "verify")
  expect([exitCode, `${stdout}${stderr}`]).toEqual([65, expect.stringContaining("its database is gone")])
})

test("a directory for state that others can write to is refused", async () => {
  const open = join(room.workspace.outside, "open")
  mkdirSync(join(open, "workspaces"), { recursive: true })
  chmodSync(join(open, "workspaces"), 0o777)
  const env = { ...room.workspace.environment, ACODE_STATE_DIR: open }
  const { runAcode } = await import("../../support/acode.ts")
  const run = await runAcode(["exec", "--", "touch", "ran"], { cwd: room.workspace.root, env })
  expect([run.exitCode, run.stderr.includes("ACODE-SEC-006")]).toEqual([125, true])
  const inside = { ...env, ACODE_STATE_DIR: join(room.workspace.root, "state") }
  const second = await runAcode(["exec", "--", "touch", "ran"], { cwd: room.workspace.root, env: inside })
  expect([second.exitCode, second.stderr.includes("ACODE-SEC-006")]).toEqual([125, true])
  expect(readdirSync(room.workspace.root).sort()).toEqual([".git", "a.txt"])
})
