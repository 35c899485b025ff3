import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, acodeProgram, runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { mountSkip, ownMount, smallDisk } from "../../support/workspace/mount-namespace.ts"

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ git: true, files: { "a.txt": "one\n" } })
})
afterEach(() => room[Symbol.dispose]())

const limited = (args: readonly string[], ...through: string[]): Promise<AcodeRun> =>
  runAcode(args, { cwd: room.workspace.root, env: room.workspace.environment, through })

/** A declared code, advice, no stack trace and no words of the runtime. */
function expectExplained({ exitCode, stderr }: Omit<AcodeRun, "signal" | "stdout">, code: string): void {
  expect([exitCode, stderr]).not.toEqual([0, stderr])
  expect([exitCode, stderr]).not.toEqual([70, stderr])
  expect(stderr).toMatch(new RegExp(code))
  expect(stderr).toMatch(/→|hint:/)
  expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+|Bun v\d/m)
}

const isCompiled = process.env["ACODE_TEST_BINARY"] !== undefined
const limitTest = testWhere(missingProgram("prlimit"))

describe("little memory", () => {
  // The compiled program has no launcher that could speak for the runtime.
  for (const megabytes of isCompiled ? [600, 1500] : [100, 300, 600, 1500])
    limitTest(`of ${megabytes} MB is told, whatever is asked for`, async () => {
      for (const args of [
        ["session", "list"],
        ["exec", "--", "true"],
        ["runs", "list", "--json"],
      ]) {
        const { exitCode, stdout, stderr } = await limited(args, "prlimit", `--as=${megabytes * 1_000_000}`)
        expectExplained({ exitCode, stderr: `${stdout.replace('"hint"', "hint")}${stderr}` }, "ACODE-SYS-001")
        expect(exitCode).toBe(args[0] === "exec" ? 125 : 1)
      }
    })
})

describe("too few open files", () => {
  // An unconfined command needs fewer than are left here.
  testWhere(missingProgram("prlimit") ?? missingSandbox)(
    "keep a command from being started, and that is told",
    async () => {
      const run = await limited(["exec", "--", "true"], "prlimit", "--nofile=16:16")
      expectExplained(run, "ACODE-EXE-003")
      expect(run.exitCode).toBe(125)
      expect(run.stderr).toContain("ulimit -n")
    },
  )
})

describe("a path that is longer than the system allows", () => {
  test("in the tree is told, or does not matter", async () => {
    deepTree(room.workspace.root)
    expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
    room.plan([["write_file", { path: "b.txt", content: "x" }]])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    const run = await room.acode("plan", "run", room.planFile)
    if (run.exitCode !== 0) expectExplained(run, "ACODE-FS-001")
  })

  test("on the command line is told", async () => {
    const long = Array.from({ length: 30 }, () => "x".repeat(200)).join("/")
    const lines = [
      ["-C", `/${long}`, "status"],
      ["exec", "--cwd", long, "--", "true"],
      ["exec", "--", `/${long}`],
      ["exec", "--writable", long, "--", "true"],
      ["plan", "run", long],
      ["run", "x", "--script", long],
      ["--config", `/${long}`, "config", "show"],
    ]
    for (const line of lines) expectExplained(await room.acode(...line), "ACODE-")
  })
})

/** Made by steps, since no system call takes all of it. */
function deepTree(root: string): void {
  const script = `cd "$0" && for i in $(seq 30); do mkdir ${"d".repeat(200)} && cd -P ${"d".repeat(200)} || exit 1; done; echo x > leaf`
  expect(Bun.spawnSync(["sh", "-c", script, root], { stderr: "inherit" }).exitCode).toBe(0)
}

describe("a full disk", () => {
  testWhere(mountSkip())(
    "lets everything be read, is told by whatever writes, and can be freed of the oldest copies",
    async () => {
      const disk = join(room.workspace.outside, "disk")
      mkdirSync(disk)
      room.plan([["write_file", { path: "b.txt", content: "x" }]])
      const ends = await onFullDisk(disk)
      const reading = ends.filter(({ line }) => /^(session list|status|runs list|audit verify)/.test(line))
      expect(reading).toHaveLength(8)
      for (const { line, exitCode, stderr } of reading)
        expect([line, exitCode, stderr]).toEqual([line, 0, ""])
      const freeing = ends.filter(({ line }) => /^(storage free|exec -- sh)/.test(line))
      expect(freeing.map(({ exitCode }) => exitCode)).toEqual([0, 0])
      for (const { stderr } of freeing) expect(stderr).not.toContain("ACODE-")
      const writing = ends.filter(({ line }) => /^(exec -- true|plan approve|config set)/.test(line))
      expect(writing).toHaveLength(3)
      for (const end of writing) expectExplained(end, "ACODE-(DB-004|FS-010)")
    },
    120_000,
  )
})

interface Ended {
  readonly line: string
  readonly exitCode: number
  readonly stderr: string
}

/** A history on a small disk; then the disk is filled, and emptied again. Gives what was said from then on. */
async function onFullDisk(disk: string): Promise<readonly Ended[]> {
  const report = join(room.workspace.outside, "report")
  const reading = ["session list", "status", "runs list", "audit verify"]
  const told = (line: string) =>
    `"$ACODE" ${line} >/dev/null 2>"$REPORT.err"; echo "{\\"line\\":\\"${line.split(" $")[0]}\\",\\"exitCode\\":$?}" >> "$REPORT"; tr '\\n' '~' < "$REPORT.err" >> "$REPORT"; echo >> "$REPORT"`
  const script = [
    `mkdir "$DISK/ws" && cd "$DISK/ws" && seq 1 200000 > b.txt || exit 1`,
    `"$ACODE" exec -- true && "$ACODE" plan approve "$PLAN" >/dev/null && "$ACODE" plan run "$PLAN" >/dev/null || exit 2`,
    `dd if=/dev/zero of="$DISK/fill" bs=1k 2>/dev/null`,
    ...[...reading, "exec -- true", `plan approve $PLAN`, "config set execution.max_concurrent 3"].map(told),
    ...["storage free --to 500KB", "exec -- sh"].map(told),
    `rm "$DISK/fill"`,
    ...reading.map(told),
  ].join("\n")
  const env = {
    ...room.workspace.environment,
    XDG_DATA_HOME: join(disk, "data"),
    XDG_CACHE_HOME: join(disk, "cache"),
    XDG_STATE_HOME: join(disk, "state"),
    ACODE: acodeProgram(),
    DISK: disk,
    PLAN: room.planFile,
    REPORT: report,
  }
  const line = [...smallDisk(disk, 4_000_000), "sh", "-c", script]
  const child = Bun.spawn(line, { cwd: room.workspace.outside, env, stderr: "inherit" })
  expect(await child.exited).toBe(0)
  const lines = readFileSync(report, "utf8").split("\n").slice(0, -1)
  rmSync(report)
  return Array.from({ length: lines.length / 2 }, (_, index) => ({
    ...(JSON.parse(lines[2 * index] ?? "") as Ended),
    stderr: (lines[2 * index + 1] ?? "").replaceAll("~", "\n"),
  }))
}

describe("a damaged page of the database", () => {
  test("is told with its code by whatever comes upon it", async () => {
    room.plan([
      ["write_file", { path: "b.txt", content: "x" }],
      ["file_read", { path: "a.txt" }],
    ])
    await room.approveAndRun()
    const path = room.workspace.state("workspace.db")
    const whole = readFileSync(path)
    const pages = whole.length / pageBytes
    const met = new Map<string, number>()
    for (let page = 1; page < pages; page += 3) {
      const verb = verbs[page % verbs.length] ?? []
      for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true })
      writeFileSync(path, damaged(whole, page))
      const run = await room.acode(...verb)
      met.set(String(run.exitCode), (met.get(String(run.exitCode)) ?? 0) + 1)
      if (run.exitCode !== 0) expectExplained(run, "ACODE-(DB-005|SEC-004)")
    }
    expect(met.get("65")).toBeGreaterThan(0)
  }, 120_000)
})

const pageBytes = 4096
const verbs = [
  ["session", "list"],
  ["status"],
  ["runs", "stats"],
  ["session", "show"],
  ["audit", "verify"],
  ["evidence", "by-tool", "read_file"],
  ["approvals", "list"],
]

/** By turns without content, with a header of another kind, and cut off there. */
function damaged(whole: Uint8Array, page: number): Uint8Array {
  const copy = Uint8Array.from(whole)
  if (page % 3 === 0) return copy.slice(0, page * pageBytes + 100)
  copy.fill(page % 2 === 0 ? 0 : 0xa5, page * pageBytes, page * pageBytes + (page % 2 === 0 ? pageBytes : 12))
  return copy
}

describe("a workspace that is a mount of its own, of the file system that the state is on", () => {
  const bytesOver64MB = 65 * 1024 * 1024
  const path = (name: string) => join(room.workspace.root, name)
  const texts = () => ["a.txt", "d/b.txt", "new.txt"].map(name => readOrNull(path(name)))
  const inside = (...args: string[]) => limited(args, ...ownMount(room.workspace.root))

  testWhere(mountSkip())("is undone and restored like any other", async () => {
    mkdirSync(path("d"))
    writeFileSync(path("d/b.txt"), "b\n")
    room.plan([
      ["file_write", { path: "a.txt", contents: "two\n" }],
      ["file_create", { path: "new.txt", contents: "new\n" }],
      ["delete_file", { paths: ["d/b.txt"] }],
    ])
    await inside("plan", "approve", room.planFile)
    expect(await inside("plan", "run", room.planFile)).toMatchObject({ exitCode: 0 })
    expect(texts()).toEqual(["two\n", null, "new\n"])
    const undone = await inside("session", "undo", "--json")
    expect([undone.exitCode, texts()]).toEqual([0, ["one\n", "b\n", null]])
    // Too large for a copy, so that it is moved as it is.
    writeFileSync(path("new.txt"), Buffer.alloc(bytesOver64MB))
    const { keptId } = JSON.parse(undone.stdout) as { readonly keptId: string }
    const refused = await inside("checkpoint", "restore", keptId, "new.txt", "a.txt")
    expect(refused.stdout).toContain("restored: a.txt")
    expect(refused.stdout).toContain("not restored: new.txt (")
    expect([refused.exitCode, statSync(path("new.txt")).size]).toEqual([1, bytesOver64MB])
    rmSync(path("new.txt"))
    expect((await inside("checkpoint", "restore", keptId)).exitCode).toBe(0)
    expect(texts()).toEqual(["two\n", null, "new\n"])
    expect(await check(room.workspace)).toEqual([])
  })

  function readOrNull(at: string): string | null {
    return existsSync(at) ? readFileSync(at, "utf8") : null
  }
})
