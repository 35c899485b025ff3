import { afterEach, beforeEach, expect, test } from "bun:test"
import { closeSync, openSync, writeSync } from "node:fs"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { readEntries, readNames } from "../../../src/base/path-bytes.ts"
import {
  chunksOf,
  hashChunks,
  hashSteady,
  syncDirectory,
  writeAll,
} from "../../../src/workspace/files/durable.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
})
afterEach(() => ws[Symbol.dispose]())

function withFile<T>(path: string, use: (fd: number) => T): T {
  const fd = openSync(ws.path(path), "r+")
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

test("a file has a hash unless there is more of it than its size said when it was opened", () => {
  ws.put("file", "content")
  expect(withFile("file", hashSteady)).toBe(sha256Hex("content"))
  // One that has no size before it is read looks like one that grows meanwhile.
  const growing = openSync("/proc/self/status", "r")
  expect(hashSteady(growing)).toBeNull()
  closeSync(growing)
})

for (const size of [0, 1, 127, 128 * 1024, 128 * 1024 + 1, 300_000])
  test(`a file of ${size} bytes is hashed whole, in pieces`, () => {
    const content = Buffer.from(Array.from({ length: size }, (_, at) => (at * 7919) >> 8))
    ws.put("file", content)
    const kept: Uint8Array[] = []
    const hash = withFile("file", fd => hashChunks(chunksOf(fd), chunk => kept.push(chunk)))
    expect(hash).toEqual({ sha256: sha256Hex(content), sizeBytes: size })
    expect(Buffer.concat(kept).equals(content)).toBe(true)
  })

test("a file that grows while it is read is read to its new end", () => {
  ws.put("file", "one")
  withFile("file", fd => {
    const pieces: Uint8Array[] = []
    for (const chunk of chunksOf(fd)) {
      pieces.push(chunk)
      if (pieces.length === 1) writeSync(fd, "two", 3)
    }
    expect(Buffer.concat(pieces).toString()).toBe("onetwo")
  })
})

test("all of a large content is written", () => {
  ws.put("file")
  const content = Buffer.alloc(5_000_000, "x")
  withFile("file", fd => writeAll(fd, content))
  expect(ws.read("file").length).toBe(5_000_000)
})

test("a directory can be synced, and a file is none", () => {
  ws.put("file")
  syncDirectory(ws.root.path)
  expect(() => syncDirectory(ws.path("file"))).toThrow("ENOTDIR")
})

test("names are read in the order of their code units, for any bytes", () => {
  for (const name of ["b", "a", "B", "é", "10", "9"]) ws.put(name)
  expect(readNames(ws.root.path)).toEqual(["10", "9", "B", "a", "b", "é"])
  closeSync(openSync(Buffer.concat([Buffer.from(`${ws.root.path}/c`), Buffer.from([0xff])]), "w"))
  expect(readNames(ws.root.path)).toEqual(["10", "9", "B", "a", "b", "c\udcff", "é"])
})

test("entries know their kinds, also where a name is not UTF-8", () => {
  ws.put("file")
  ws.put("directory/x")
  const raw = Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from([0xfe])])
  closeSync(openSync(raw, "w"))
  const kinds = readEntries(ws.root.path).map(entry => [entry.name, entry.isFile(), entry.isDirectory()])
  expect(kinds).toEqual([
    ["bad\udcfe", true, false],
    ["directory", false, true],
    ["file", true, false],
  ])
})
