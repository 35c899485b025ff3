import { describe, expect, test } from "bun:test"
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import {
  type Anchor,
  anchorPath,
  concerning,
  othersAnchoredAt,
  readAnchors,
} from "../../../src/store/log/anchors.ts"
import { codeOf, runOne, type StoreFixture, storeFixture } from "../support/store-fixture.ts"

const fileOf = (fixture: StoreFixture, workspaceId: string) =>
  anchorPath(fixture.options.anchorsDirectory, workspaceId)

const linesOf = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter(line => line !== "")

describe("an anchor", () => {
  test("writes the head of the log down outside the workspace, for this user alone", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    store.anchor()
    const path = fileOf(fixture, store.workspaceId)
    expect(path.startsWith(fixture.options.stateDirectory)).toBe(false)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(fixture.options.anchorsDirectory).mode & 0o777).toBe(0o700)
    const anchors = readAnchors(fixture.options.anchorsDirectory, store.workspaceId)
    expect(anchors.map(({ position, root, at }) => ({ position, root, at }))).toEqual([
      { position: 0, root: fixture.options.stateDirectory, at: "2026-01-02T03:04:05.678Z" },
      { position: 2, root: fixture.options.stateDirectory, at: "2026-01-02T03:04:05.678Z" },
    ])
    expect(store.verify()).toMatchObject({ ok: true, anchoredPosition: 2 })
  })

  test("is refused where others could change it or a link stands", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    rmSync(fileOf(fixture, store.workspaceId))
    symlinkSync("/dev/null", fileOf(fixture, store.workspaceId))
    expect(codeOf(() => store.anchor())).toBe("ACODE-SEC-006")
    chmodSync(fixture.options.anchorsDirectory, 0o777)
    expect(codeOf(() => store.anchor())).toBe("ACODE-SEC-006")
  })

  test("is there before the first event, and where all are gone none is added, which would hide it", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    expect(store.verify()).toMatchObject({ ok: true, anchoredPosition: null })
    const path = fileOf(fixture, store.workspaceId)
    for (const remove of [
      () => rmSync(path),
      () => rmSync(fixture.options.anchorsDirectory, { recursive: true }),
      () => writeFileSync(path, ""),
    ]) {
      remove()
      store.anchor()
      expect(store.verify().problems).toEqual([
        { stream: null, seq: null, position: null, what: `the anchors of this history are missing: ${path}` },
      ])
      expect(codeOf(() => store.assertAnchored())).toBe("ACODE-SEC-004")
    }
  })

  test("after one that was cut short stands on a line of its own", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    runOne(store)
    store.anchor()
    const path = fileOf(fixture, store.workspaceId)
    appendFileSync(path, '{"position":9,"head":"a')
    store.anchor()
    expect(linesOf(path)).toHaveLength(4)
    const anchors = readAnchors(fixture.options.anchorsDirectory, store.workspaceId)
    expect(anchors.map(anchor => anchor.position)).toEqual([0, 2, 2])
    expect(store.verify().ok).toBe(true)
  })

  test("lines that say too little or nothing count for nothing", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const path = fileOf(fixture, store.workspaceId)
    for (const line of [
      "",
      "null",
      "[]",
      "7",
      '{"position":1}',
      '{"position":"1","head":"","at":"","root":"","mac":""}',
    ])
      appendFileSync(path, `${line}\n`)
    expect(readAnchors(fixture.options.anchorsDirectory, store.workspaceId)).toHaveLength(1)
  })
})

describe("a file of anchors that has grown large", () => {
  const many = (fixture: StoreFixture, workspaceId: string, anchors: readonly Partial<Anchor>[]) =>
    writeFileSync(
      fileOf(fixture, workspaceId),
      anchors
        .map(anchor =>
          JSON.stringify({
            position: 0,
            head: "h",
            at: "",
            root: fixture.options.stateDirectory,
            mac: "m",
            ...anchor,
          }),
        )
        .join("\n"),
    )

  test("loses its older half and keeps its last line", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    for (let count = 0; count < 40; count++) {
      runOne(store)
      store.anchor()
    }
    const path = fileOf(fixture, store.workspaceId)
    const before = linesOf(path)
    writeFileSync(path, `${before.map(line => `${line}${" ".repeat(2000)}`).join("\n")}\n`)
    store.anchor()
    const after = linesOf(path)
    expect(after.length).toBeLessThan(before.length)
    expect(after.length).toBeGreaterThanOrEqual(before.length / 2)
    expect(statSync(path).size).toBeLessThan(16_384)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(store.verify()).toMatchObject({ ok: true, anchoredPosition: 80 })
  })

  test("keeps what stands before a step back, because that is evidence", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    mkdirSync(fixture.options.anchorsDirectory, { recursive: true, mode: 0o700 })
    const steps = Array.from({ length: 400 }, (_, index) => ({ position: index + 1, head: "h".repeat(100) }))
    const back = { position: 900, head: "evidence" }
    many(fixture, store.workspaceId, [steps[0] ?? {}, back, ...steps])
    store.anchor()
    const kept = readAnchors(fixture.options.anchorsDirectory, store.workspaceId)
    expect(kept.length).toBeLessThan(250)
    expect(kept[0]).toMatchObject(back)
  })

  test("keeps two heads of one position, and the last word of every root", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    mkdirSync(fixture.options.anchorsDirectory, { recursive: true, mode: 0o700 })
    const steps = Array.from({ length: 400 }, (_, index) => ({ position: index + 1, head: "h".repeat(100) }))
    many(fixture, store.workspaceId, [
      { position: 1, head: "one" },
      { position: 1, head: "another" },
      { position: 5, root: "/moved/away" },
      ...steps,
    ])
    store.anchor()
    const kept = readAnchors(fixture.options.anchorsDirectory, store.workspaceId)
    expect(kept.slice(0, 2).map(({ head, root }) => [head, root])).toEqual([
      ["one", fixture.options.stateDirectory],
      ["another", fixture.options.stateDirectory],
    ])
    expect(kept.some(anchor => anchor.root === "/moved/away")).toBe(true)
  })
})

describe("whose anchors count", () => {
  const anchor = (root: string): Anchor => ({ position: 1, head: "h", at: "", root, mac: "m" })

  test("those of this place, and those of a place the workspace was moved from", () => {
    using fixture = storeFixture()
    fixture.open()
    const { databasePath, stateDirectory } = fixture.options
    const all = [anchor(stateDirectory), anchor(join(fixture.directory, "moved-from"))]
    expect(concerning(all, databasePath, stateDirectory)).toEqual(all)
  })

  test("not those of a place where the original still is", () => {
    using fixture = storeFixture()
    fixture.open()
    const copy = join(fixture.directory, "copy")
    const all = [anchor(copy), anchor(fixture.options.stateDirectory)]
    expect(concerning(all, join(copy, ".agent", "workspace.db"), copy)).toEqual([anchor(copy)])
  })

  test("other workspaces are known by the place of their last anchor", () => {
    using fixture = storeFixture()
    const { anchorsDirectory } = fixture.options
    const id = (digit: string) => `wsp_0000000${digit}-0000-7000-8000-000000000000`
    mkdirSync(anchorsDirectory, { recursive: true })
    const write = (name: string, ...roots: string[]) =>
      writeFileSync(
        join(anchorsDirectory, name),
        roots.map(root => `${JSON.stringify(anchor(root))}\n`).join(""),
      )
    write(`${id("1")}.jsonl`, "/here")
    write(`${id("2")}.jsonl`, "/here", "/there")
    write(`${id("3")}.jsonl`, "/there", "/here")
    write("notes.jsonl", "/here")
    write(`${id("4")}.txt`, "/here")
    expect(othersAnchoredAt(anchorsDirectory, "/here", id("1"))).toEqual([id("3")])
    expect(othersAnchoredAt(join(anchorsDirectory, "missing"), "/here", id("1"))).toEqual([])
  })
})
