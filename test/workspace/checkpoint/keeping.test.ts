import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Faults } from "../../../src/base/faults.ts"
import type { Checkpoint, WhileOwned } from "../../../src/workspace/checkpoint/contract.ts"
import { restoreCheckpoints } from "../../../src/workspace/checkpoint/restore.ts"
import { describeWhere } from "../../support/requirement.ts"
import { type CheckpointBench, checkpointBench, roomy } from "./support.ts"

let ws: CheckpointBench
beforeEach(() => {
  ws = checkpointBench()
})
afterEach(() => ws[Symbol.dispose]())

/** Type, mode, content, target and name of everything but the state of acode, made by programs that are not ours. */
function manifest(bench: CheckpointBench): string {
  const script =
    "find . -path ./.agent -prune -o -printf '%p %y %m %l\\n' | sort; " +
    "find . -path ./.agent -prune -o -type f -print0 | sort -z | xargs -0r sha256sum"
  const { stdout, exitCode, stderr } = Bun.spawnSync(["sh", "-c", script], { cwd: bench.root.path })
  if (exitCode !== 0) throw new Error(stderr.toString())
  // The mode of a symlink means nothing.
  return stdout.toString().replaceAll(" l 777 ", " l - ")
}

/** Undoes with a kept checkpoint of this id, and returns that checkpoint. */
async function undone(before: Checkpoint, id: string, faults?: Faults, bench = ws): Promise<Checkpoint> {
  const result = await bench.restoreGoal(await bench.goal(before), id, faults)
  expect(result.blocked).toEqual([])
  const kept = bench.store.load(id)
  if (kept === null) throw new Error("nothing was kept")
  return kept
}

/** Brings everything back that a kept checkpoint holds. */
function broughtBack(kept: Checkpoint, id: string, bench = ws) {
  const { leaves = new Map(), leavesDirectories = new Map() } = kept.kept ?? {}
  return bench.restoreGoal({ checkpoint: kept, expected: leaves, directories: leavesDirectories }, id)
}

function wreck(): void {
  ws.put("changed", "after", 0o600)
  chmodSync(ws.path("mode"), 0o755)
  rmSync(ws.path("gone"), { recursive: true })
  rmSync(ws.path("empty"), { recursive: true })
  rmSync(ws.path("link"))
  symlinkSync("elsewhere", ws.path("link"))
  rmSync(ws.path("file-then-link"))
  symlinkSync("changed", ws.path("file-then-link"))
  rmSync(ws.path("file-then-directory"))
  ws.put("file-then-directory/inside", "x")
  rmSync(ws.path("directory-then-file"), { recursive: true })
  ws.put("directory-then-file", "x")
  ws.put("added/deep/file", "x")
  mkdirSync(ws.path("added/empty"))
  chmodSync(ws.path("directory"), 0o700)
  rmSync(ws.path("directory-then-link"), { recursive: true })
  symlinkSync(ws.outside, ws.path("directory-then-link"))
}

function furnish(): void {
  ws.put("changed", "before", 0o640)
  ws.put("mode", "x", 0o644)
  ws.put("gone/deep/file", "x", 0o444)
  ws.put("file-then-link", "x")
  ws.put("file-then-directory", "x")
  ws.put("directory-then-file/inside", "y")
  ws.put("directory-then-link/inside", "z")
  ws.put("directory/inside", "y")
  symlinkSync("changed", ws.path("link"))
  mkdirSync(ws.path("empty"), { mode: 0o711 })
}

describe("what a restore replaces", () => {
  test("restores every mode and empty directory, and so does undoing that restore", async () => {
    furnish()
    const before = await ws.take("one")
    const first = manifest(ws)
    wreck()
    const wrecked = manifest(ws)
    const kept = await undone(before, "chk_1")
    expect(manifest(ws)).toBe(first)
    expect(await broughtBack(kept, "chk_2")).toMatchObject({ foreign: [], blocked: [], keptId: "chk_2" })
    expect(manifest(ws)).toBe(wrecked)
    const again = ws.store.load("chk_2")
    if (again === null) throw new Error("nothing was kept")
    await broughtBack(again, "chk_3")
    expect(manifest(ws)).toBe(first)
    expect(existsSync(join(ws.directory, "displaced", "chk_1"))).toBe(false)
  })

  test("is durable before the first change", async () => {
    ws.put("a", "1")
    const before = await ws.take("one")
    ws.put("a", "2")
    const die = { reach: (point: string) => assertNot(point, "restore.kept") }
    await expect(ws.restoreGoal(await ws.goal(before), "chk_1", die)).rejects.toThrow("restore.kept")
    expect(ws.read("a")).toBe("2")
    expect([...(ws.store.load("chk_1")?.entries.keys() ?? [])]).toEqual(["a"])
  })

  test("is moved and not copied where it is larger than checkpoints copy", async () => {
    using small = checkpointBench({ ...roomy, fileBytesMax: 1_000 })
    const before = await small.take("one")
    small.put("large", "x".repeat(5_000))
    const { ino } = statSync(small.path("large"))
    const kept = await undone(before, "chk_1", undefined, small)
    expect([existsSync(small.path("large")), small.contentNames()]).toEqual([false, []])
    const area = join(small.directory, "displaced/chk_1")
    expect(readdirSync(area).map(name => statSync(join(area, name)).ino)).toEqual([ino])
    await broughtBack(kept, "chk_2", small)
    expect(small.read("large")).toBe("x".repeat(5_000))
  })

  test("is moved and not copied where a file too large for checkpoints replaced a small one", async () => {
    using small = checkpointBench({ ...roomy, fileBytesMax: 1_000 })
    small.put("grown", "1")
    const before = await small.take("one")
    small.put("grown", "x".repeat(5_000), 0o600)
    const { ino } = statSync(small.path("grown"))
    const changed = manifest(small)
    const kept = await undone(before, "chk_1", undefined, small)
    expect([small.read("grown"), small.contentNames().length]).toEqual(["1", 1])
    const area = join(small.directory, "displaced/chk_1")
    expect(readdirSync(area).map(name => statSync(join(area, name)).ino)).toEqual([ino])
    await broughtBack(kept, "chk_2", small)
    expect(manifest(small)).toBe(changed)
  })
})

function assertNot(point: string, forbidden: string): void {
  if (point === forbidden) throw new Error(point)
}

/** Does something at the first time that a point is reached. */
function once(point: string, step: () => void): Faults {
  let isDone = false
  return {
    reach: reached => {
      if (reached !== point || isDone) return
      isDone = true
      step()
    },
  }
}

const ways: readonly (readonly [string, (path: string, content: string) => void])[] = [
  ["in place", (path, content) => writeFileSync(path, content)],
  [
    "by a rename",
    (path, content) => {
      writeFileSync(`${path}.swp`, content)
      renameSync(`${path}.swp`, path)
    },
  ],
]

describe.each(["restore.kept", "restore.made", "restore.displaced"])("a file that is saved at %s", point => {
  test.each(ways)("%s is left to its owner, and the rest is restored", async (_, save) => {
    ws.put("a", "1")
    ws.put("b", "1")
    const before = await ws.take("one")
    ws.put("a", "2")
    ws.put("b", "2")
    const goal = await ws.goal(before)
    const result = await ws.restoreGoal(
      goal,
      "chk_1",
      once(point, () => save(ws.path("a"), "hers")),
    )
    // Saved after the exchange it is an edit of what was restored.
    expect(result.foreign).toEqual(point === "restore.displaced" ? [] : ["a"])
    expect([ws.read("a"), ws.read("b")]).toEqual(["hers", "1"])
  })

  test.each(ways)("%s and was to be removed stays", async (_, save) => {
    const before = await ws.take("one")
    ws.put("a", "2")
    const goal = await ws.goal(before)
    await ws.restoreGoal(
      goal,
      "chk_1",
      once(point, () => save(ws.path("a"), "hers")),
    )
    const isRemovedByThen = point === "restore.made"
    expect(existsSync(ws.path("a")) ? ws.read("a") : null).toBe(isRemovedByThen ? null : "hers")
  })

  test.each(ways)("%s in the place of a deleted one stays", async (_, save) => {
    ws.put("a", "1")
    const before = await ws.take("one")
    rmSync(ws.path("a"))
    const goal = await ws.goal(before)
    await ws.restoreGoal(
      goal,
      "chk_1",
      once(point, () => save(ws.path("a"), "hers")),
    )
    expect(ws.read("a")).toBe(point === "restore.displaced" ? "1" : "hers")
  })
})

describe("a file that another process has open", () => {
  test("and writes to after it was displaced is restored with the newer content", async () => {
    const before = await ws.take("one")
    ws.put("log", "one\n")
    const fd = openSync(ws.path("log"), "a")
    const kept = await undone(before, "chk_1")
    expect(existsSync(ws.path("log"))).toBe(false)
    writeSync(fd, "two\n")
    closeSync(fd)
    await broughtBack(kept, "chk_2")
    expect(ws.read("log")).toBe("one\ntwo\n")
  })

  test("and changes by another name while it is copied keeps nothing else from being restored", async () => {
    ws.put("b", "1")
    const before = await ws.take("one")
    ws.put("log", "one\n")
    const fd = openSync(ws.path("log"), "a")
    linkSync(ws.path("log"), ws.path(".agent/link"))
    const kept = await undone(before, "chk_1")
    writeSync(fd, "two\n")
    closeSync(fd)
    ws.put("b", "2")
    const owned = whenDone(() => appendFileSync(ws.path(".agent/link"), "three\n"))
    const keeping = { id: "chk_2", about: { kind: "undo" as const, sessionId: null, subjectId: null } }
    await restoreCheckpoints(ws.source, [await ws.goal(before)], keeping, owned)
    expect(ws.read("b")).toBe("1")
    await broughtBack(kept, "chk_3")
    expect(ws.read("log")).toBe("one\ntwo\nthree\n")
  })

  /** Does something right after the first piece of work. */
  function whenDone(act: () => void): WhileOwned {
    let isDone = false
    return work => {
      const result = work()
      if (!isDone) act()
      isDone = true
      return result
    }
  }

  test("and only reads is not kept twice", async () => {
    const before = await ws.take("one")
    ws.put("a", "2")
    const fd = openSync(ws.path("a"), "r")
    await undone(before, "chk_1")
    closeSync(fd)
    expect(existsSync(join(ws.directory, "displaced/chk_1"))).toBe(false)
  })
})

/** Why there is no directory on another file system than the tests' own; null where there is one. */
const elsewhere = statSync("/dev/shm", { throwIfNoEntry: false })?.dev
const missing =
  elsewhere === undefined || elsewhere === statSync(tmpdir()).dev
    ? "/dev/shm is not another file system"
    : null

describeWhere(missing)("a workspace on another file system than the state", () => {
  let far: CheckpointBench
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync("/dev/shm/acode-test-")
    far = checkpointBench(
      { ...roomy, fileBytesMax: 1_000 },
      undefined,
      undefined,
      join(directory, "checkpoints"),
    )
  })
  afterEach(() => {
    far[Symbol.dispose]()
    rmSync(directory, { recursive: true })
  })

  test("is restored, and the replaced content can be restored again", async () => {
    far.put("a", "1")
    far.put("gone", "1")
    const before = await far.take("one")
    const first = manifest(far)
    far.put("a", "2")
    far.put("new/b", "2")
    rmSync(far.path("gone"))
    const changed = manifest(far)
    const kept = await undone(before, "chk_1", undefined, far)
    expect(manifest(far)).toBe(first)
    await broughtBack(kept, "chk_2", far)
    expect(manifest(far)).toBe(changed)
  })

  test("leaves a file alone that is too large to be copied, and names it", async () => {
    const before = await far.take("one")
    far.put("large", "x".repeat(5_000))
    far.put("small", "x")
    const result = await far.restoreGoal(await far.goal(before), "chk_1")
    expect(result).toMatchObject({
      remove: ["small"],
      blocked: [{ path: "large", reason: expect.stringContaining("no copy of what is there can be kept") }],
    })
    expect(far.read("large")).toHaveLength(5_000)
  })

  test("keeps a file saved at the moment of the exchange", async () => {
    far.put("a", "1")
    const before = await far.take("one")
    far.put("a", "2")
    const goal = await far.goal(before)
    const result = await far.restoreGoal(
      goal,
      "chk_1",
      once("restore.made", () => writeFileSync(far.path("a"), "hers")),
    )
    expect([result.foreign, far.read("a")]).toEqual([["a"], "hers"])
    expect(readdirSync(far.root.path)).toEqual(["a"])
  })

  test("restores what another process wrote to a file that was displaced beside its path", async () => {
    const before = await far.take("one")
    far.put("log", "one\n")
    const fd = openSync(far.path("log"), "a")
    const kept = await undone(before, "chk_1", undefined, far)
    writeSync(fd, "two\n")
    closeSync(fd)
    await broughtBack(kept, "chk_2", far)
    expect(far.read("log")).toBe("one\ntwo\n")
    expect(readdirSync(far.root.path)).toEqual(["log"])
  })
})

describe("a process that dies in the middle", () => {
  /** The bytes of everything there is: in the workspace, or as something that was kept. */
  const everything = (bench: CheckpointBench): string =>
    Bun.spawnSync(["sh", "-c", "find . -type f -exec cat {} +"], { cwd: bench.root.path }).stdout.toString()

  test("between the exchange and the comparison restores what was saved then, when repeated", async () => {
    ws.put("a", "1")
    const before = await ws.take("one")
    ws.put("a", "2")
    const goal = await ws.goal(before)
    // What a kill at that moment leaves: the new file has the place, and what somebody saved is displaced.
    const child = Bun.spawnSync(
      [
        process.execPath,
        join(import.meta.dir, "restore-and-die-program.ts"),
        ws.root.path,
        "restore.displaced",
        "hers",
      ],
      { stdin: Buffer.from(JSON.stringify([...goal.expected])) },
    )
    expect(child.signalCode).toBe("SIGKILL")
    expect(everything(ws)).toContain("hers")
    await ws.restoreGoal(goal, "chk_2")
    expect(ws.read("a")).toBe("hers")
  })
})

test("a large file that is not touched is displaced without being read once more", async () => {
  using large = checkpointBench({ ...roomy, fileBytesMax: 1_000 })
  const before = await large.take("one")
  large.put("sparse", "x")
  truncateSync(large.path("sparse"), 64 * 1024 * 1024)
  appendFileSync(large.path("sparse"), "end")
  await undone(before, "chk_1", undefined, large)
  expect(existsSync(large.path("sparse"))).toBe(false)
  expect(
    readFileSync(large.store.displaced.find("chk_1", "sparse", large.root.path) ?? "")
      .subarray(-3)
      .toString(),
  ).toBe("end")
})
