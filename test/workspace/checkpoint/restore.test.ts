import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { Failure } from "../../../src/domain/failure.ts"
import type { Checkpoint } from "../../../src/workspace/checkpoint/contract.ts"
import { changesSince, contentOf, contentsSince } from "../../../src/workspace/checkpoint/manifest.ts"
import { contentOfPresentEntry, presentEntryAt } from "../../../src/workspace/checkpoint/present-entry.ts"
import { planRestore, restoreCheckpoints } from "../../../src/workspace/checkpoint/restore.ts"
import { initRepository } from "../../support/workspace/temp-workspace.ts"
import { seeded } from "../support.ts"
import { type CheckpointBench, checkpointBench, taken } from "./support.ts"

let ws: CheckpointBench
beforeEach(() => {
  ws = checkpointBench()
})
afterEach(() => ws[Symbol.dispose]())

/** What the run left: the contents that restoring may replace. */
const expectedNow = async (checkpoint: Checkpoint) => contentsSince(checkpoint, await ws.tree())

describe("restoring a tree", () => {
  test("brings back contents, modes, targets and names, and removes what was added", async () => {
    ws.put("changed", "before", 0o640)
    ws.put("chmodded", "x", 0o755)
    ws.put("gone/deep/file", "x")
    symlinkSync("changed", ws.path("link"))
    mkdirSync(ws.path("empty"))
    const checkpoint = await ws.take("one")
    ws.put("changed", "after")
    chmodSync(ws.path("chmodded"), 0o600)
    rmSync(ws.path("gone"), { recursive: true })
    rmSync(ws.path("empty"), { recursive: true })
    rmSync(ws.path("link"))
    symlinkSync("elsewhere", ws.path("link"))
    ws.put("added/deep/file", "x")
    const result = await ws.restore(checkpoint)
    expect((await ws.tree()).digest).toBe(checkpoint.digest)
    expect(result.remove).toEqual(["added/deep/file", "added/deep/", "added/"])
    expect(result.write.toSorted()).toEqual([
      "changed",
      "chmodded",
      "empty/",
      "gone/",
      "gone/deep/",
      "gone/deep/file",
      "link",
    ])
    expect(result).toMatchObject({ foreign: [], blocked: [] })
    expect(readdirSync(ws.root.path).sort()).toEqual([
      ".agent",
      "changed",
      "chmodded",
      "empty",
      "gone",
      "link",
    ])
  })

  test("is nothing when nothing changed", async () => {
    ws.put("a", "1")
    const checkpoint = await ws.take("one")
    expect(await ws.restore(checkpoint)).toEqual({
      remove: [],
      write: [],
      foreign: [],
      blocked: [],
      isInterrupted: false,
      keptId: null,
    })
  })

  test("works where files became directories, directories files and parents symlinks", async () => {
    ws.put("file", "x")
    ws.put("directory/inside", "x")
    ws.put("parent/inside", "x")
    const checkpoint = await ws.take("one")
    rmSync(ws.path("file"))
    ws.put("file/now/a/directory", "x")
    rmSync(ws.path("directory"), { recursive: true })
    ws.put("directory", "now a file")
    rmSync(ws.path("parent"), { recursive: true })
    symlinkSync(ws.outside, ws.path("parent"))
    await ws.restore(checkpoint)
    expect((await ws.tree()).digest).toBe(checkpoint.digest)
    expect(readdirSync(ws.outside)).toEqual(["secret.txt"])
  })

  test("names the paths that are blocked and restores the rest", async () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "*.cache\n")
    ws.put("file", "x")
    ws.put("other", "x")
    const checkpoint = await ws.take("one")
    rmSync(ws.path("file"))
    ws.put("file/kept.cache", "precious")
    ws.put("other", "y")
    const { blocked, write } = await ws.restore(checkpoint)
    expect(blocked.map(({ path }) => path)).toEqual(["file/", "file"])
    expect(write).toEqual(["other"])
    expect(ws.read("file/kept.cache")).toBe("precious")
    expect(ws.read("other")).toBe("x")
  })

  test("reports once that an ignore file cannot be restored, and not that it was", async () => {
    ws.put("d/.gitignore", "x\n")
    const checkpoint = await ws.take("one")
    rmSync(ws.path("d"), { recursive: true })
    ws.put("d", "a file where a directory was\n")
    const expected = new Map([["d/.gitignore", null]])
    const { write, blocked } = await ws.restore(checkpoint, expected)
    expect([write, blocked.map(({ path }) => path)]).toEqual([[], ["d/.gitignore"]])
  })

  test("leaves ignored files alone, also when the ignore file was changed", async () => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "ignored\n")
    ws.put("ignored", "precious")
    ws.put("a", "1")
    const checkpoint = await ws.take("one")
    ws.put(".gitignore", "new\na\n")
    ws.put("new", "hidden by the new rules")
    ws.put("a", "2")
    const changed = [".gitignore", "new", "a", "ignored"]
    const now = changed.map(
      path => [path, contentOfPresentEntry(presentEntryAt(ws.root, path, 1e6)) ?? null] as const,
    )
    await ws.restore(checkpoint, new Map(now))
    expect((await ws.tree()).digest).toBe(checkpoint.digest)
    expect(ws.read("ignored")).toBe("precious")
    expect(existsSync(ws.path("new"))).toBe(false)
  })

  test("opens directories and files that a command closed", async () => {
    ws.put("d/e/file", "x", 0o644)
    const checkpoint = await ws.take("one")
    ws.put("d/e/added", "x")
    chmodSync(ws.path("d/e/file"), 0)
    chmodSync(ws.path("d/e"), 0)
    chmodSync(ws.path("d"), 0o111)
    expect(await ws.restore(checkpoint)).toMatchObject({ remove: ["d/e/added"], blocked: [] })
    const { digest, directories } = await ws.tree()
    expect({ digest, directories }).toEqual({
      digest: checkpoint.digest,
      directories: [...checkpoint.directories],
    })
  })

  test("brings back names that are not UTF-8", async () => {
    const bad = Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from([0xff])])
    writeFileSync(bad, "before")
    const checkpoint = await ws.take("one")
    writeFileSync(bad, "after")
    await ws.restore(checkpoint)
    expect((await ws.tree()).digest).toBe(checkpoint.digest)
  })

  test("removes names that are not UTF-8, and files in directories with such names", async () => {
    const inRoot = (...bytes: number[]) =>
      Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from(bytes)])
    mkdirSync(inRoot(0xfe))
    writeFileSync(inRoot(0xfe, 0x2f, 0x61), "old")
    const checkpoint = await ws.take("one")
    writeFileSync(inRoot(0xff), "new")
    writeFileSync(inRoot(0xfe, 0x2f, 0x62), "new")
    expect(await ws.restore(checkpoint)).toMatchObject({ remove: ["bad\udcff", "bad\udcfe/b"], blocked: [] })
    expect((await ws.tree()).digest).toBe(checkpoint.digest)
  })
})

describe("restoring what a run changed", () => {
  test("leaves a file that another process changed since, and names it", async () => {
    ws.put("ours", "1")
    ws.put("theirs", "1")
    const checkpoint = await ws.take("one")
    ws.put("ours", "2")
    ws.put("theirs", "2")
    ws.put("added", "2")
    ws.put("added-then-edited", "2")
    const expected = await expectedNow(checkpoint)
    ws.put("theirs", "3")
    ws.put("added-then-edited", "3")
    ws.put("new-of-theirs", "3")
    const result = await ws.restore(checkpoint, expected)
    expect(result.foreign.toSorted()).toEqual(["added-then-edited", "theirs"])
    expect(result.remove).toEqual(["added"])
    expect(["ours", "theirs", "added-then-edited", "new-of-theirs"].map(ws.read)).toEqual([
      "1",
      "3",
      "3",
      "3",
    ])
    expect(existsSync(ws.path("added"))).toBe(false)
  })

  test("takes a file that was already restored for done", async () => {
    ws.put("a", "1")
    const checkpoint = await ws.take("one")
    ws.put("a", "2")
    const expected = await expectedNow(checkpoint)
    ws.put("a", "1")
    expect(await ws.restore(checkpoint, expected)).toMatchObject({ write: [], foreign: [] })
  })

  test("treats a file that is missing, or not a file any more, as foreign", async () => {
    ws.put("gone", "1")
    ws.put("directory", "1")
    const checkpoint = await ws.take("one")
    ws.put("gone", "2")
    ws.put("directory", "2")
    const expected = await expectedNow(checkpoint)
    rmSync(ws.path("gone"))
    rmSync(ws.path("directory"))
    mkdirSync(ws.path("directory"))
    expect((await ws.restore(checkpoint, expected)).foreign.toSorted()).toEqual(["directory", "gone"])
  })
})

describe("restoring some files", () => {
  test("touches no other", async () => {
    ws.put("a", "1")
    ws.put("b", "1")
    const checkpoint = taken(await ws.store.takeFiles("f", ws.root, ["a", "new/c"]))
    ws.put("a", "2")
    ws.put("b", "2")
    ws.put("new/c", "2")
    const result = await ws.restore(checkpoint)
    expect(result).toMatchObject({ remove: ["new/c"], foreign: [], blocked: [] })
    expect([ws.read("a"), ws.read("b"), existsSync(ws.path("new/c"))]).toEqual(["1", "2", false])
  })

  test("does not touch a path that it does not hold", async () => {
    ws.put("a", "1")
    const checkpoint = taken(await ws.store.takeFiles("f", ws.root, ["a"]))
    ws.put("other", "2")
    const expected = new Map([
      ["other", contentOf((await ws.tree()).entries.find(entry => entry.path === "other") ?? null)],
    ])
    expect(await ws.restore(checkpoint, expected)).toMatchObject({ remove: [], write: [] })
    expect(ws.read("other")).toBe("2")
  })
})

test("a plan says what restoring would do and does nothing", async () => {
  ws.put("a", "1")
  const checkpoint = await ws.take("one")
  ws.put("a", "2")
  ws.put("b", "2")
  const plan = await planRestore(ws.source, [await ws.goal(checkpoint)])
  expect(plan).toEqual({ remove: ["b"], write: ["a"], foreign: [] })
  expect(ws.read("a")).toBe("2")
})

test("changes since a checkpoint are added, changed and removed", async () => {
  ws.put("same", "1")
  ws.put("changed", "1")
  ws.put("mode", "1")
  ws.put("removed", "1")
  const checkpoint = await ws.take("one")
  ws.put("changed", "2")
  chmodSync(ws.path("mode"), 0o755)
  rmSync(ws.path("removed"))
  ws.put("added", "1")
  expect(changesSince(checkpoint, await ws.tree())).toEqual({
    added: ["added"],
    changed: ["changed", "mode"],
    removed: ["removed"],
  })
})

test("a restore changes one thing after the other as its owner, and nothing once it is not", async () => {
  for (const path of ["a", "b", "c"]) ws.put(path, "1")
  const checkpoint = await ws.take("one")
  for (const path of ["a", "b", "c", "d", "e"]) ws.put(path, "2")
  let changes = 0
  const owned = <Result>(work: () => Result): Result => {
    changes += 1
    if (changes === 6) throw new Failure({ kind: "general", code: "ACODE-DB-007", message: "taken over" })
    return work()
  }
  const goals = [await ws.goal(checkpoint)]
  const keeping = { id: "chk_1", about: { kind: "undo" as const, sessionId: null, subjectId: null } }
  const ended = await restoreCheckpoints(ws.source, goals, keeping, owned).catch((error: unknown) => error)
  expect(ended instanceof Failure && ended.report).toMatchObject({
    code: "ACODE-DB-007",
    message: "taken over; 3 paths had been restored or removed by then",
    hint: "what was there before is kept: `acode checkpoint restore chk_1`",
  })
  expect(["a", "b", "c"].map(path => readFileSync(ws.path(path), "utf8"))).toEqual(["1", "2", "2"])
  expect(["d", "e"].map(path => existsSync(ws.path(path)))).toEqual([false, false])
})

test("a restore that dies at any point, and again, ends in the checkpoint when it is repeated", async () => {
  const build = async (bench: CheckpointBench) => {
    bench.put("a", "1")
    bench.put("b/c", "1")
    symlinkSync("a", bench.path("l"))
    const checkpoint = await bench.take("one")
    bench.put("a", "2")
    rmSync(bench.path("b"), { recursive: true })
    bench.put("b", "2")
    bench.put("x/y", "2")
    rmSync(bench.path("l"))
    return checkpoint
  }
  using whole = checkpointBench()
  const counter = dieAfter(Number.POSITIVE_INFINITY)
  await whole.restoreGoal(await whole.goal(await build(whole)), "chk_1", counter)
  expect(counter.reached()).toBeGreaterThan(10)
  for (let point = 1; point <= counter.reached(); point++) {
    using bench = checkpointBench()
    const checkpoint = await build(bench)
    const goal = await bench.goal(checkpoint)
    await expect(bench.restoreGoal(goal, "chk_1", dieAfter(point))).rejects.toThrow("power gone")
    if (point < counter.reached() - 2)
      await expect(bench.restoreGoal(goal, "chk_2", dieAfter(2))).rejects.toThrow("power gone")
    expect((await bench.restoreGoal(goal, "chk_3")).blocked).toEqual([])
    expect((await bench.tree()).digest).toBe(checkpoint.digest)
  }
})

function dieAfter(count: number) {
  let reached = 0
  return {
    reached: () => reached,
    reach: () => {
      reached += 1
      if (reached === count) throw new Error("power gone")
    },
  }
}

test("a restore after random commands restores the digest", async () => {
  const random = seeded(99)
  const anyPath = () => Array.from({ length: 1 + random(3) }, () => "abc"[random(3)]).join("/")
  for (let round = 0; round < 40; round++) {
    using bench = checkpointBench()
    const wreck = () => {
      const path = bench.path(anyPath())
      const steps = [
        () => bench.put(anyPath(), `${random(100)}`),
        () => rmSync(path, { recursive: true, force: true }),
        () => chmodSync(path, random(2) === 0 ? 0o755 : 0o700),
        () => symlinkSync(anyPath(), path),
        () => renameSync(path, bench.path(anyPath())),
      ]
      try {
        steps[random(steps.length)]?.()
      } catch {
        // The random step does not fit the random tree, which is then a tree without it.
      }
    }
    for (let count = 0; count < 15; count++) wreck()
    const checkpoint = await bench.take("one")
    for (let count = 0; count < 15; count++) wreck()
    const { blocked } = await bench.restore(checkpoint)
    expect(blocked).toEqual([])
    expect((await bench.tree()).digest).toBe(checkpoint.digest)
  }
})
