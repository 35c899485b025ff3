import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { type Clock, systemClock } from "../../../src/base/clock.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { digestOf, TreeReader, type TreeScope } from "../../../src/workspace/tree/reader.ts"
import { StatCache } from "../../../src/workspace/tree/stat-cache.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { initRepository } from "../../support/workspace/temp-workspace.ts"
import { git } from "../git-repository.ts"
import { seeded, type TestWorkspace, testWorkspace } from "../support.ts"

const gitTest = testWhere(missingProgram("git"))

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
})
afterEach(() => ws[Symbol.dispose]())

const everything: TreeScope = { isProtected: () => false, ownOutputs: new Set(), fileBytesMax: 1_000_000 }

/** Time enough has passed for every file to have come to rest. */
const muchLater: Clock = { now: () => systemClock.now() + 60_000, monotonicMs: systemClock.monotonicMs }

const reader = (scope = everything, clock: Clock = muchLater) =>
  new TreeReader(ws.root, scope, new StatCache(), clock)
const paths = async (scope?: TreeScope) => (await reader(scope).read()).entries.map(entry => entry.path)

describe("the tree of a workspace without git", () => {
  test("is every file and symlink, files of a directory before its directories", async () => {
    ws.put("b.txt", "b", 0o640)
    ws.put("a/z", "z")
    ws.put("a/b/c", "c")
    ws.put(".gitignore", "b.txt\n")
    symlinkSync("../outside", ws.path("link"))
    mkdirSync(ws.path("empty"))
    const tree = await reader().read()
    expect(tree.entries).toEqual([
      { path: ".gitignore", kind: "file", mode: 0o644, sizeBytes: 6, sha256: sha256Hex("b.txt\n") },
      { path: "b.txt", kind: "file", mode: 0o640, sizeBytes: 1, sha256: sha256Hex("b") },
      { path: "link", kind: "symlink", mode: 0o777, sizeBytes: 10, target: "../outside" },
      { path: "a/z", kind: "file", mode: 0o644, sizeBytes: 1, sha256: sha256Hex("z") },
      { path: "a/b/c", kind: "file", mode: 0o644, sizeBytes: 1, sha256: sha256Hex("c") },
    ])
    expect(tree.directories.map(({ path }) => path)).toEqual([".", "a", "a/b", "empty"])
    expect(digestOf(tree.entries)).toBe(tree.digest)
  })

  test("is without .git, .agent, protected files and the files of acode's own output", async () => {
    for (const path of [
      ".git/config",
      ".agent/x",
      "sub/.git/config",
      ".env",
      "secrets/key",
      "log.txt",
      "kept",
    ])
      ws.put(path, path)
    const { dev, ino } = statSync(ws.path("log.txt"))
    const scope = {
      isProtected: (path: string) => path === ".env" || path === "secrets",
      ownOutputs: new Set([`${dev}:${ino}`]),
      fileBytesMax: 1_000_000,
    }
    expect(await paths(scope)).toEqual(["kept"])
  })

  test("has a FIFO with its mode, and does not wait for it", async () => {
    expect(Bun.spawnSync(["mkfifo", "-m", "640", ws.path("fifo")]).exitCode).toBe(0)
    ws.put("kept")
    const { entries } = await reader().read()
    expect(entries.map(({ path, kind, mode }) => [path, kind, mode])).toEqual([
      ["fifo", "special", 0o640],
      ["kept", "file", 0o644],
    ])
  })

  test("holds names that are not UTF-8", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from([0xff])]), "x")
    expect((await reader().read()).entries).toEqual([
      { path: "bad\udcff", kind: "file", mode: 0o644, sizeBytes: 1, sha256: sha256Hex("x") },
    ])
  })
})

describe("the tree of a repository", () => {
  beforeEach(() => {
    initRepository(ws.root.path)
    ws.put(".gitignore", "dist/\n*.log\n")
    ws.put("src/a.ts", "a")
    ws.put("src/debug.log", "x")
    ws.put("dist/out.js", "x")
  })

  test("is without what git ignores", async () => {
    expect(await paths()).toEqual([".gitignore", "src/a.ts"])
  })

  gitTest("has what git tracks although it is ignored", async () => {
    ws.put("dist/kept/forced.js", "x")
    git(ws.root.path, "add", "-f", "dist/kept/forced.js", "src/debug.log")
    expect(await paths()).toEqual([".gitignore", "dist/kept/forced.js", "src/a.ts", "src/debug.log"])
  })

  gitTest("is the list that git itself gives", async () => {
    ws.put("src/.gitignore", "!debug.log\n/generated\n")
    ws.put("src/generated/x", "x")
    ws.put(".git/info/exclude", "*.tmp\n")
    ws.put("a.tmp", "x")
    git(ws.root.path, "add", "src/a.ts")
    const listed = git(ws.root.path, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    expect((await paths()).sort()).toEqual(listed.split("\0").filter(Boolean).sort())
  })

  test("below the top level obeys the ignore files above it", async () => {
    using below = new WorkspaceRoot(ws.path("src"))
    const tree = await new TreeReader(below, everything, new StatCache(), muchLater).read()
    expect(tree.entries.map(entry => entry.path)).toEqual(["a.ts"])
  })

  test("in a directory that git ignores is all of that directory", async () => {
    using ignored = new WorkspaceRoot(ws.path("dist"))
    const tree = await new TreeReader(ignored, everything, new StatCache(), muchLater).read()
    expect(tree.entries.map(entry => entry.path)).toEqual(["out.js"])
  })

  test("follows its ignore files when they change", async () => {
    const same = reader()
    expect((await same.read()).entries).toHaveLength(2)
    ws.put(".gitignore", "src/\n")
    expect((await same.read()).entries.map(entry => entry.path)).toEqual([".gitignore", "dist/out.js"])
  })
})

describe("the digest", () => {
  test("is the same for the same tree elsewhere with other times", async () => {
    using other = testWorkspace()
    for (const place of [ws, other]) {
      place.put("a/b", "content", 0o755)
      symlinkSync("b", place.path("a/link"))
    }
    utimesSync(ws.path("a/b"), 1, 1)
    const there = await new TreeReader(other.root, everything, new StatCache(), muchLater).read()
    expect((await reader().read()).digest).toBe(there.digest)
  })

  test("changes with every content, mode, name, target and kind", async () => {
    ws.put("a", "1")
    ws.put("d/b", "2")
    symlinkSync("a", ws.path("link"))
    const same = reader()
    const digests = [(await same.read()).digest]
    const steps: (() => void)[] = [
      () => ws.put("a", "3"),
      () => chmodSync(ws.path("a"), 0o755),
      () => renameSync(ws.path("a"), ws.path("c")),
      () => {
        rmSync(ws.path("link"))
        symlinkSync("c", ws.path("link"))
      },
      () => {
        rmSync(ws.path("link"))
        ws.put("link", "c")
      },
      () => ws.put("d/new", ""),
      () => renameSync(ws.path("d"), ws.path("e")),
      () => rmSync(ws.path("e/new")),
    ]
    for (const step of steps) {
      step()
      digests.push((await same.read()).digest)
      expect((await reader().read()).digest).toBe(digests.at(-1) ?? "")
    }
    expect(new Set(digests).size).toBe(digests.length)
  })

  test("is not fooled by a change of the same size in the same tick", async () => {
    ws.put("racy", "aaaa")
    const same = reader(everything, systemClock)
    const seen = new Set<string>()
    for (const content of ["bbbb", "cccc", "dddd", "eeee", "ffff"]) {
      writeFileSync(ws.path("racy"), content)
      seen.add((await same.read()).digest)
    }
    expect(seen.size).toBe(5)
  })

  test("is not fooled by a content restored with its old time", async () => {
    ws.put("file", "one")
    const { atime, mtime } = lstatSync(ws.path("file"))
    const same = reader()
    const before = (await same.read()).digest
    writeFileSync(ws.path("file"), "two")
    utimesSync(ws.path("file"), atime, mtime)
    expect((await same.read()).digest).not.toBe(before)
  })
})

test("a second read opens no file that has not changed", async () => {
  for (let index = 0; index < 20; index++) ws.put(`d${index % 3}/f${index}`, `${index}`)
  const cache = new StatCache()
  const first = new TreeReader(ws.root, everything, cache, muchLater)
  const digest = (await first.read()).digest
  expect(cache.size).toBe(20)
  const broken = cache
    .rows()
    .map(([path, size, mtime, ctime, ino]) => [path, size, mtime, ctime, ino, "0".repeat(64)] as const)
  const fromCache = await new TreeReader(ws.root, everything, new StatCache(broken), muchLater).read()
  expect(fromCache.entries.every(entry => entry.kind === "file" && entry.sha256 === "0".repeat(64))).toBe(
    true,
  )
  expect((await first.read()).digest).toBe(digest)
})

test("repeated reads of one reader equal those of a new reader, through random changes", async () => {
  const random = seeded(42)
  const same = reader(everything, systemClock)
  for (let round = 0; round < 150; round++) {
    const path = join(`d${random(3)}`, `e${random(2)}`, `f${random(4)}`)
    const kind = random(5)
    if (kind === 0) rmSync(ws.path(path), { force: true })
    else if (kind === 1) rmSync(ws.path(`d${random(3)}`), { recursive: true, force: true })
    else if (kind === 2) ws.put(".gitignore", `f${random(4)}\n`)
    else ws.put(path, `${random(3)}`)
    expect((await same.read()).digest).toBe((await reader(everything, systemClock).read()).digest)
  }
})
