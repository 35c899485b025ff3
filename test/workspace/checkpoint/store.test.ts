import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { systemClock } from "../../../src/base/clock.ts"
import type { Checkpoint } from "../../../src/workspace/checkpoint/contract.ts"
import { hiddenSince } from "../../../src/workspace/checkpoint/manifest.ts"
import { CheckpointStore } from "../../../src/workspace/checkpoint/store.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { codeOf, codeOfLater } from "../support.ts"
import { type CheckpointBench, checkpointBench, filesBelow, roomy, taken } from "./support.ts"

let ws: CheckpointBench
let now = 1_000_000
beforeEach(() => {
  now = 1_000_000
  ws = checkpointBench(roomy, { now: () => now, monotonicMs: () => now })
})
afterEach(() => ws[Symbol.dispose]())

const stored = (content: string) => `${sha256Hex(content).slice(0, 2)}/${sha256Hex(content)}`

describe("a checkpoint of the tree", () => {
  test("holds every content once, byte for byte, and closed to others", async () => {
    ws.put("a", "same")
    ws.put("b", "same", 0o755)
    ws.put("c/d", Buffer.from([0, 255, 1]))
    symlinkSync("../outside", ws.path("link"))
    const result = await ws.store.takeTree("one", ws.root, await ws.tree())
    expect(result).toMatchObject({ copiedFiles: 2, copiedBytes: 7 })
    expect(ws.contentNames()).toHaveLength(2)
    for (const path of ["", "contents", "manifests", "contents/*"]) {
      const directory =
        path === "contents/*" ? join("contents", ws.contentNames()[0]?.slice(0, 2) ?? "") : path
      expect(statSync(join(ws.directory, directory)).mode & 0o777).toBe(0o700)
    }
    for (const name of filesBelow(ws.directory))
      expect(statSync(join(ws.directory, name)).mode & 0o777).toBe(0o600)
  })

  test("copies only what no earlier one holds", async () => {
    ws.put("a", "1")
    ws.put("b", "2")
    await ws.take("one")
    ws.put("b", "3")
    expect(await ws.store.takeTree("two", ws.root, await ws.tree())).toMatchObject({ copiedFiles: 1 })
    expect(await ws.store.takeTree("three", ws.root, await ws.tree())).toMatchObject({ copiedFiles: 0 })
    const fresh = new CheckpointStore(ws.directory, roomy, systemClock)
    expect(await fresh.takeTree("four", ws.root, await ws.tree())).toMatchObject({ copiedFiles: 0 })
  })

  test("is loaded as it was taken, through a chain of differences", async () => {
    const all = []
    for (let round = 0; round < 60; round++) {
      ws.put(`d${round % 7}/f${round % 11}`, `${round}`)
      if (round % 5 === 4) rmSync(ws.path(`d${round % 3}`), { recursive: true, force: true })
      if (round % 6 === 0) symlinkSync(`t${round}`, ws.path(`l${round}`))
      all.push(await ws.take(`c${round}`))
    }
    const fresh = new CheckpointStore(ws.directory, roomy, systemClock)
    for (const checkpoint of all) {
      const loaded = fresh.load(checkpoint.id)
      expect(loaded).toEqual(checkpoint)
      expect([...(loaded?.entries.keys() ?? [])]).toEqual([...checkpoint.entries.keys()])
    }
    const manifests = filesBelow(join(ws.directory, "manifests")).map(
      name => JSON.parse(readFileSync(join(ws.directory, "manifests", name), "utf8")).base,
    )
    expect(manifests.filter(base => base === null).length).toBeLessThan(5)
  })

  test("of many files is made durable in one go", async () => {
    for (let index = 0; index < 100; index++) ws.put(`f${index}`, `${index}`)
    await ws.take("many")
    expect(ws.contentNames()).toHaveLength(100)
  })

  test("that was never taken is null", () => {
    expect(ws.store.load("none")).toBeNull()
    expect(ws.store.list()).toEqual([])
  })
})

describe("a checkpoint of some files", () => {
  test("holds what they were, or that they were not", async () => {
    ws.put("a", "1")
    ws.put("other", "2")
    const checkpoint = taken(await ws.store.takeFiles("files", ws.root, ["a", "new/b"]))
    expect([...checkpoint.entries.keys()]).toEqual(["a"])
    expect(checkpoint.absent).toEqual(["new/b"])
    expect(ws.store.load("files")).toEqual(checkpoint)
    expect(ws.contentNames()).toEqual([stored("1")])
  })

  test("does not disturb the chain of trees", async () => {
    ws.put("a", "1")
    await ws.take("one")
    taken(await ws.store.takeFiles("files", ws.root, ["a"]))
    ws.put("a", "2")
    const two = await ws.take("two")
    expect(ws.store.load("two")).toEqual(two)
  })
})

describe("what a checkpoint cannot hold is left out and named, and everything else is held", () => {
  const contentsOf = (checkpoint: Checkpoint) =>
    [...checkpoint.entries.keys()].filter(path => {
      const entry = checkpoint.entries.get(path)
      return entry?.kind === "file" && entry.sha256 !== null && ws.store.contents.has(entry.sha256)
    })

  test("for one file that is too large, which is not even read", async () => {
    ws.put("small", "x")
    ws.put("large", "x".repeat(2_000_000))
    const { checkpoint, copiedFiles } = await ws.store.takeTree("one", ws.root, await ws.tree())
    expect(copiedFiles).toBe(1)
    expect([...checkpoint.uncovered.keys()]).toEqual(["large"])
    expect(checkpoint.entries.get("large")).toMatchObject({ sha256: null, identity: expect.any(String) })
    expect(contentsOf(checkpoint)).toEqual(["small"])
    expect(new CheckpointStore(ws.directory, roomy, systemClock).load("one")).toEqual(checkpoint)
  })

  test("for the largest of all, counting the space already used", async () => {
    using small = checkpointBench({ fileBytesMax: 100, totalBytesMax: 20 })
    small.put("a", "123456")
    await small.take("one")
    for (const [path, content] of [
      ["large", "x".repeat(9)],
      ["larger", "y".repeat(10)],
      ["largest", "z".repeat(11)],
      ["small", "78901"],
    ] as const)
      small.put(path, content)
    const { checkpoint, copiedBytes } = await small.store.takeTree("two", small.root, await small.tree())
    expect([...checkpoint.uncovered.keys()]).toEqual(["larger", "largest"])
    expect(copiedBytes).toBe(14)
  })
})

test("a manifest of the first version is read, and holds all that it names", async () => {
  ws.put("a", "1")
  const one = await ws.take("one")
  const path = join(ws.directory, "manifests", "one.json")
  const { uncovered, ...manifest } = JSON.parse(readFileSync(path, "utf8"))
  expect(uncovered).toEqual([])
  writeFileSync(path, JSON.stringify({ ...manifest, version: 1 }))
  expect(new CheckpointStore(ws.directory, roomy, systemClock).load("one")).toEqual(one)
})

test("a path that could not be inspected before or cannot now, and was touched meanwhile, is named", () => {
  const at = (path: string, identity: string) => ({ path, why: "unreadable" as const, identity })
  const closed = new Map([
    ["same", "stat:1"],
    ["touched", "stat:2"],
    ["opened", "stat:3"],
  ])
  const after = { closed: [at("same", "stat:1"), at("touched", "stat:9"), at("shut", "stat:4")] }
  const named = hiddenSince({ closed }, after).map(({ path }) => path)
  expect(named).toEqual(["touched/", "opened/", "shut/"])
})

describe("what is damaged is reported and not used", () => {
  test("a manifest", async () => {
    ws.put("a", "1")
    await ws.take("one")
    const path = join(ws.directory, "manifests/one.json")
    const whole = readFileSync(path, "utf8")
    for (const broken of [
      "",
      "{}",
      whole.slice(0, 40),
      whole.replace('"a"', '"b"'),
      whole.replace("420", "493"),
    ]) {
      writeFileSync(path, broken)
      expect(codeOf(() => ws.store.load("one"))).toBe("ACODE-SEC-004")
    }
  })

  test("a content", async () => {
    ws.put("a", "1")
    await ws.take("one")
    const path = join(ws.directory, "contents", stored("1"))
    expect(Buffer.from(ws.store.contents.read(sha256Hex("1"))).toString()).toBe("1")
    writeFileSync(path, "2")
    expect(codeOf(() => ws.store.contents.read(sha256Hex("1")))).toBe("ACODE-SEC-004")
    rmSync(path)
    expect(codeOf(() => ws.store.contents.read(sha256Hex("1")))).toBe("ACODE-SEC-004")
  })

  test("a missing base", async () => {
    ws.put("a", "1")
    await ws.take("one")
    ws.put("a", "2")
    await ws.take("two")
    rmSync(join(ws.directory, "manifests/one.json"))
    expect(codeOf(() => ws.store.load("two"))).toBe("ACODE-SEC-004")
  })

  test("a base that is itself, or that is based on it", async () => {
    for (const [content, id] of ["one", "two", "three"].entries()) {
      ws.put("a", `${content}`)
      await ws.take(id)
    }
    const path = (id: string) => join(ws.directory, `manifests/${id}.json`)
    const rebase = (id: string, base: string) => {
      const manifest = JSON.parse(readFileSync(path(id), "utf8"))
      writeFileSync(path(id), JSON.stringify({ ...manifest, base }))
    }
    rebase("two", "three")
    expect(codeOf(() => ws.store.load("three"))).toBe("ACODE-SEC-004")
    rebase("three", "three")
    expect(codeOf(() => ws.store.load("three"))).toBe("ACODE-SEC-004")
    expect(ws.store.collect(["one"]).removed).toEqual(["one"])
  })

  test("an id that is a path", () => {
    expect(codeOf(() => ws.store.load("../../x"))).toBe("ACODE-SEC-004")
  })
})

test("a directory that is a symlink is not written to", async () => {
  mkdirSync(ws.path(".agent"))
  symlinkSync(ws.outside, ws.directory)
  ws.put("a", "1")
  expect(await codeOfLater(async () => await ws.take("one"))).toBe("ACODE-SEC-006")
  expect(filesBelow(ws.outside)).toEqual(["secret.txt"])
})

test("a directory that is open to others is closed", async () => {
  mkdirSync(ws.directory, { recursive: true })
  chmodSync(ws.directory, 0o755)
  ws.put("a", "1")
  await ws.take("one")
  expect(statSync(ws.directory).mode & 0o777).toBe(0o700)
})

describe("collecting", () => {
  /** What the files take on the disk. */
  const blocks = () => {
    const { stdout } = Bun.spawnSync(["find", ws.directory, "-type", "f", "-printf", "%b\n"])
    const counts = stdout.toString().trim().split("\n").map(Number)
    return counts.reduce((sum, count) => sum + count * 512, 0)
  }

  test("removes the given checkpoints and the contents that only they held", async () => {
    ws.put("a", "old")
    ws.put("b", "both")
    await ws.take("one")
    ws.put("a", "new")
    const fresh = new CheckpointStore(ws.directory, roomy, systemClock)
    taken(await fresh.takeTree("two", ws.root, await ws.tree()))
    const [first, none, second] = fresh.freedBy([["one"], [], ["two"]])
    const before = blocks()
    expect(fresh.ids().toSorted()).toEqual(["one", "two"])
    expect(fresh.collect(["one"])).toEqual({ removed: ["one"], freedBytes: 3 })
    expect([first, none, second]).toEqual([before - blocks(), 0, blocks()])
    expect(ws.contentNames()).toEqual([stored("both"), stored("new")].sort())
    expect(fresh.list().map(({ id }) => id)).toEqual(["two"])
    expect(fresh.load("two")?.entries.size).toBe(2)
  })

  test("keeps the base of another checkpoint until that is removed too", async () => {
    ws.put("a", "1")
    await ws.take("base")
    ws.put("b", "2")
    const young = await ws.take("young")
    expect(ws.store.collect(["base"]).removed).toEqual([])
    expect(ws.store.load("young")).toEqual(young)
    expect(ws.store.collect(["base", "young"]).removed.toSorted()).toEqual(["base", "young"])
    expect(ws.contentNames()).toEqual([])
  })

  test("stops when enough is free, and takes the first of the order first", async () => {
    for (const id of ["one", "two", "three"]) {
      ws.put("a", id.repeat(100))
      taken(await ws.store.takeFiles(id, ws.root, ["a"]))
    }
    const order = ["two", "one", "three"]
    expect(ws.store.collect(order, 1)).toEqual({
      removed: ["two"],
      freedBytes: 300,
    })
    expect(ws.store.collect(order, 301)).toEqual({
      removed: ["one", "three"],
      freedBytes: 800,
    })
  })

  test("continues past a damaged one, and keeps what it may need until it is removed itself", async () => {
    for (const id of ["damaged", "old"]) {
      ws.put("a", id)
      taken(await ws.store.takeFiles(id, ws.root, ["a"]))
    }
    writeFileSync(join(ws.directory, "manifests/damaged.json"), "")
    const room = 1
    expect(ws.store.collect(["old"], room)).toEqual({ removed: [], freedBytes: 0 })
    expect(ws.store.collect(["old"])).toEqual({ removed: ["old"], freedBytes: 0 })
    expect(ws.contentNames()).toEqual([stored("damaged"), stored("old")].sort())
    expect(ws.store.collect(["damaged"])).toEqual({ removed: ["damaged"], freedBytes: 10 })
    expect(ws.contentNames()).toEqual([])
  })

  test("leaves files alone that are not checkpoints", async () => {
    ws.put("a", "1")
    await ws.take("one")
    writeFileSync(join(ws.directory, "manifests/not ours.json"), "")
    ws.store.collect(ws.store.ids())
    expect(readdirSync(join(ws.directory, "manifests"))).toEqual(["not ours.json"])
  })
})

test("sweeping removes copies that were cut short, and nothing else", async () => {
  ws.put("a", "1")
  await ws.take("one")
  writeFileSync(join(ws.directory, "contents", stored("1").slice(0, 2), "torn.tmp~"), "half")
  writeFileSync(join(ws.directory, "manifests", "two.json.tmp~"), "{")
  ws.store.sweep()
  expect(ws.contentNames()).toEqual([stored("1")])
  expect(readdirSync(join(ws.directory, "manifests"))).toEqual(["one.json"])
})

test("room is made by older ones before a file is left out, and what only they held is copied again", async () => {
  const asked: number[] = []
  const limits = {
    ...roomy,
    totalBytesMax: 1000,
    makeRoom: (bytes: number) => {
      asked.push(bytes)
      store.collect(["one"], bytes)
    },
  }
  const store: CheckpointStore = new CheckpointStore(ws.directory, limits, systemClock)
  ws.put("a", "a".repeat(600))
  ws.put("b", "b".repeat(100))
  taken(await store.takeFiles("one", ws.root, ["a", "b"]))
  ws.put("a", "A".repeat(600))
  const two = taken(await store.takeFiles("two", ws.root, ["a", "b"]))
  expect([asked, [...two.uncovered], store.ids()]).toEqual([[300], [], ["two"]])
  expect(ws.contentNames()).toEqual([stored("A".repeat(600)), stored("b".repeat(100))].sort())
})

test("a crash at any point leaves the older checkpoint whole and the new one whole or absent", async () => {
  const points: string[] = []
  using counted = checkpointBench(roomy, systemClock, recordPoints(points))
  counted.put("a", "1")
  await counted.take("one")
  expect(points).toEqual([
    "checkpoint.staged",
    "checkpoint.staged-synced",
    "checkpoint.contents-named",
    "checkpoint.manifest-synced",
    "checkpoint.named",
  ])
  for (const point of points) {
    using bench = checkpointBench()
    bench.put("a", "1")
    const one = await bench.take("one")
    bench.put("a", "2")
    const fails = {
      reach: (reached: string) => {
        if (reached === point) throw new Error("power gone")
      },
    }
    const store = new CheckpointStore(bench.directory, roomy, systemClock, fails)
    const tree = await bench.tree()
    await expect(store.takeTree("two", bench.root, tree)).rejects.toThrow("power gone")
    const after = new CheckpointStore(bench.directory, roomy, systemClock)
    expect(after.load("one")).toEqual(one)
    expect(after.load("two") === null).toBe(point !== "checkpoint.named")
    await after.takeTree("three", bench.root, await bench.tree())
    for (const entry of after.load("three")?.entries.values() ?? [])
      if (entry.kind === "file" && entry.sha256 !== null) after.contents.read(entry.sha256)
  }
})
