import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { lstatSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { isRacy, loadStatCache, StatCache, saveStatCache } from "../../../src/workspace/tree/stat-cache.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
  ws.put("file", "one")
})
afterEach(() => ws[Symbol.dispose]())

const later = 10_000

describe("the hash of a file is remembered", () => {
  test("while nothing about it changes", () => {
    const cache = new StatCache()
    const stat = lstatSync(ws.path("file"))
    cache.set("file", stat, "hash", stat.ctimeMs + later)
    expect(cache.get("file", lstatSync(ws.path("file")))).toBe("hash")
    expect(cache.get("other", stat)).toBeNull()
  })

  test("and forgotten with any change of time, size or identity", () => {
    const cache = new StatCache()
    const stat = lstatSync(ws.path("file"))
    cache.set("file", stat, "hash", stat.ctimeMs + later)
    for (const change of [{ ctimeMs: 1 }, { mtimeMs: 1 }, { size: 1 }, { ino: 1 }])
      expect(cache.get("file", Object.assign(lstatSync(ws.path("file")), change))).toBeNull()
  })

  test("but not when it was hashed right after it was written", () => {
    const cache = new StatCache()
    const stat = lstatSync(ws.path("file"))
    cache.set("file", stat, "hash", stat.ctimeMs + later)
    cache.set("file", stat, "hash", stat.ctimeMs + 1)
    expect(cache.get("file", stat)).toBeNull()
    cache.set("file", stat, "hash", stat.ctimeMs - later)
    expect(cache.get("file", stat)).toBeNull()
  })
})

test("whole seconds need a longer rest than fractions of them", () => {
  expect(isRacy(5000, 6000)).toBe(true)
  expect(isRacy(5000, 8000)).toBe(false)
  expect(isRacy(5000.5, 5060)).toBe(false)
  expect(isRacy(5000.5, 5040)).toBe(true)
})

test("files that do not exist any more are forgotten", () => {
  const cache = new StatCache([
    ["a", 1, 1, 1, 1, "x"],
    ["b", 1, 1, 1, 1, "y"],
  ])
  cache.keepOnly(path => path === "b")
  expect(cache.rows()).toEqual([["b", 1, 1, 1, 1, "y"]])
  expect(cache.size).toBe(1)
})

describe("a cache on disk", () => {
  test("is loaded as it was saved, readable by its owner only", () => {
    const cache = new StatCache([["bad\udcff", 3, 1.25, 2.5, 99, "abc"]])
    saveStatCache(cache, ws.path("cache"))
    expect(loadStatCache(ws.path("cache")).rows()).toEqual(cache.rows())
    expect(statSync(ws.path("cache")).mode & 0o777).toBe(0o600)
  })

  test("that is missing, torn or changed is an empty one", () => {
    expect(loadStatCache(ws.path("missing")).size).toBe(0)
    saveStatCache(new StatCache([["a", 1, 1, 1, 1, "x"]]), ws.path("cache"))
    const whole = readFileSync(ws.path("cache"), "utf8")
    for (const broken of [whole.slice(0, -1), whole.slice(0, 30), "", whole.replace('"x"', '"y"')]) {
      writeFileSync(ws.path("cache"), broken)
      expect(loadStatCache(ws.path("cache")).size).toBe(0)
    }
  })
})
