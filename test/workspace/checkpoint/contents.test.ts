import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  appendFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { systemClock } from "../../../src/base/clock.ts"
import { noFaults } from "../../../src/base/faults.ts"
import {
  CheckpointContents,
  ensurePrivateDirectory,
  syncFilesystem,
} from "../../../src/workspace/checkpoint/contents.ts"
import { readExactEntry } from "../../../src/workspace/checkpoint/exact-entry.ts"
import { CheckpointStore } from "../../../src/workspace/checkpoint/store.ts"
import { Pace } from "../../../src/workspace/pace.ts"
import { codeOf, codeOfLater, type TestWorkspace, testWorkspace } from "../support.ts"
import { checkpointBench, filesBelow, roomy } from "./support.ts"

let ws: TestWorkspace
let contents: CheckpointContents
const pace = new Pace(systemClock)
beforeEach(() => {
  ws = testWorkspace()
  contents = new CheckpointContents(ws.path("kept"), noFaults)
})
afterEach(() => ws[Symbol.dispose]())

function source(path: string, content: string, claimed = sha256Hex(content)) {
  ws.put(path, content)
  return {
    path,
    sha256: claimed,
    sizeBytes: Buffer.byteLength(content),
    open: () => openSync(ws.path(path), "r"),
  }
}

describe("contents", () => {
  test("are kept under their hash and come back", async () => {
    await contents.add([source("a", "one"), source("b", "two")], pace)
    expect(contents.has(sha256Hex("one"))).toBe(true)
    expect(contents.has(sha256Hex("three"))).toBe(false)
    expect(Buffer.from(contents.read(sha256Hex("two"))).toString()).toBe("two")
    expect(contents.storedBytes()).toBe(6)
  })

  test("are known to anyone who opens the directory next", async () => {
    await contents.add([source("a", "one")], pace)
    const next = new CheckpointContents(ws.path("kept"), noFaults)
    expect(next.has(sha256Hex("one"))).toBe(true)
    expect(next.storedBytes()).toBe(3)
  })

  test("of many files are all there, whole and private", async () => {
    const many = Array.from({ length: 80 }, (_, index) => source(`f${index}`, `content ${index}`))
    await contents.add(many, pace)
    const names = filesBelow(ws.path("kept"))
    expect(names).toHaveLength(80)
    for (const name of names) expect(statSync(join(ws.path("kept"), name)).mode & 0o777).toBe(0o600)
  })

  test("with another content than announced are refused, and none of the batch is kept", async () => {
    const batch = [source("a", "one"), source("b", "changed", sha256Hex("two"))]
    expect(await codeOfLater(() => contents.add(batch, pace))).toBe("ACODE-FS-007")
    expect(filesBelow(ws.path("kept"))).toEqual([])
  })

  test("that cannot be opened leave nothing behind", async () => {
    const gone = {
      path: "gone",
      sha256: sha256Hex("x"),
      sizeBytes: 1,
      open: () => openSync(ws.path("gone"), "r"),
    }
    expect(await codeOfLater(() => contents.add([source("a", "one"), gone], pace))).toBe("ACODE-FS-007")
    expect(filesBelow(ws.path("kept"))).toEqual([])
  })

  test("without references are removed, with all other files", async () => {
    await contents.add([source("a", "one"), source("b", "three")], pace)
    writeFileSync(join(ws.path("kept"), sha256Hex("one").slice(0, 2), "stray"), "12")
    expect(contents.keepOnly(new Set([sha256Hex("three")]))).toBe(5)
    expect(filesBelow(ws.path("kept"))).toHaveLength(1)
    expect(contents.has(sha256Hex("one"))).toBe(false)
  })
})

describe("a private directory", () => {
  test("is made with its parents, or closed if it is there", () => {
    ensurePrivateDirectory(ws.path("p/q"))
    mkdirSync(ws.path("open"), { mode: 0o755 })
    ensurePrivateDirectory(ws.path("open"))
    expect([ws.path("p/q"), ws.path("open")].map(path => statSync(path).mode & 0o777)).toEqual([0o700, 0o700])
  })

  test("that is a symlink is refused", () => {
    symlinkSync(ws.outside, ws.path("link"))
    expect(codeOf(() => ensurePrivateDirectory(ws.path("link")))).toBe("ACODE-SEC-006")
  })

  test("that another user owns is refused", () => {
    if (process.getuid?.() !== 0) {
      process.stdout.write("skipped: only root can give directories to others\n")
      return
    }
    mkdirSync(ws.path("theirs"))
    Bun.spawnSync(["chown", "12345", ws.path("theirs")])
    expect(codeOf(() => ensurePrivateDirectory(ws.path("theirs")))).toBe("ACODE-SEC-006")
  })
})

test("a file system is synced where the system offers it", () => {
  expect(syncFilesystem(ws.root.path)).toBe(process.platform === "linux")
})

describe("what is at an exact path", () => {
  test("is a file, a symlink or nothing", () => {
    ws.put("d/file", "x", 0o640)
    symlinkSync("anywhere", ws.path("link"))
    expect(readExactEntry(ws.root, "d/file", 100)).toEqual({
      path: "d/file",
      kind: "file",
      mode: 0o640,
      sizeBytes: 1,
      sha256: sha256Hex("x"),
    })
    expect(readExactEntry(ws.root, "link", 100)).toMatchObject({ kind: "symlink", target: "anywhere" })
    for (const path of ["missing", "missing/x", "d/file/x"])
      expect(readExactEntry(ws.root, path, 100)).toBeNull()
  })

  test("is refused when it is something else, or behind a symlink", () => {
    mkdirSync(ws.path("d"))
    symlinkSync("d", ws.path("link"))
    expect(codeOf(() => readExactEntry(ws.root, "d", 100))).toBe("ACODE-FS-003")
    expect(codeOf(() => readExactEntry(ws.root, "link/x", 100))).toBe("ACODE-SEC-005")
  })
})

describe("a tree that another process is writing to", () => {
  test("is kept with what another process saved or removed after the tree was read", async () => {
    using bench = checkpointBench()
    for (const name of ["saved", "gone", "other", "d/moved"]) bench.put(name, `first ${name}`)
    const tree = await bench.tree()
    bench.put("saved", "second")
    rmSync(bench.path("gone"))
    renameSync(bench.path("d"), bench.path("elsewhere"))
    symlinkSync("elsewhere", bench.path("d"))
    const { checkpoint } = await bench.store.takeTree("one", bench.root, tree)
    expect(new CheckpointStore(bench.directory, roomy, systemClock).load("one")).toEqual(checkpoint)
    expect([...checkpoint.entries.keys()]).toEqual(["other", "saved"])
    expect([...checkpoint.uncovered.keys()]).toEqual(["d/moved"])
    bench.put("saved", "third")
    await bench.restore(checkpoint, new Map([["saved", sha256Hex("third")]]))
    expect(bench.read("saved")).toBe("second")
  })

  test("is held but for a file that is written all the time, which is named", async () => {
    using bench = checkpointBench()
    for (const name of ["a", "log", "z"]) bench.put(name, name)
    const tree = await bench.tree()
    const busy = new Pace(systemClock)
    busy.isDue = () => {
      appendFileSync(bench.path("log"), "one more line\n")
      return false
    }
    const { checkpoint, copiedFiles } = await bench.store.takeTree("one", bench.root, tree, busy)
    expect([...checkpoint.uncovered]).toEqual([["log", expect.stringContaining("changed it while")]])
    expect(copiedFiles).toBe(2)
    expect(bench.contentNames()).toEqual(
      expect.arrayContaining([
        expect.stringContaining(sha256Hex("a")),
        expect.stringContaining(sha256Hex("z")),
      ]),
    )
  })
})
