import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import type { Clock } from "../../../src/base/clock.ts"
import {
  findPrivateEntries,
  readSystemView,
  rememberPrivateEntries,
  rememberSystemView,
} from "../../../src/sandbox/view/system-view.ts"

let base: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-system-")))
  chmodSync(base, 0o755)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(path: string, mode: number): void {
  mkdirSync(join(base, path, ".."), { recursive: true, mode: 0o755 })
  writeFileSync(join(base, path), "")
  chmodSync(join(base, path), mode)
}

test("directories are shown, links stay links, and what is missing is left out", () => {
  mkdirSync(join(base, "usr"))
  symlinkSync("usr/bin", join(base, "bin"))
  writeFileSync(join(base, "file"), "")
  expect(readSystemView(["usr", "bin", "lib", "file"].map(name => join(base, name)))).toEqual({
    directories: [join(base, "usr")],
    links: [{ path: join(base, "bin"), target: "usr/bin" }],
  })
})

test("the real system has programs and configuration", () => {
  const { directories, links } = readSystemView()
  const all = [...directories, ...links.map(({ path }) => path)]
  for (const path of ["/usr", "/etc", "/bin"]) expect(all).toContain(path)
  expect(all).not.toContain("/")
  expect(all).not.toContain("/root")
})

describe("what others may not read", () => {
  const found = (depthMax = 9) =>
    findPrivateEntries(base, depthMax)
      .entries.map(({ path, kind }) => `${relative(base, path)} ${kind}`)
      .sort()

  test("is found among files and directories at any depth", () => {
    put("open", 0o644)
    put("shadow", 0o640)
    put("a/b/key", 0o600)
    put("private/x", 0o644)
    chmodSync(join(base, "private"), 0o700)
    put("listed-only/x", 0o644)
    chmodSync(join(base, "listed-only"), 0o754)
    symlinkSync("/etc/shadow", join(base, "link"))
    expect(found()).toEqual(["a/b/key file", "listed-only directory", "private directory", "shadow file"])
  })

  test("is looked for no deeper than asked", () => {
    put("a/b/key", 0o600)
    put("key", 0o600)
    expect(found(1)).toEqual(["key file"])
    expect(found(3)).toEqual(["a/b/key file", "key file"])
  })
})

describe("what is remembered of it", () => {
  let nowMs = 0
  const clock: Clock = { now: () => nowMs, monotonicMs: () => nowMs }
  const names = (find: ReturnType<typeof rememberPrivateEntries>) =>
    find(base, 9)
      .map(({ path }) => relative(base, path))
      .sort()

  test("is believed without a look for a moment, then forgotten as soon as a directory changes", () => {
    put("a/one", 0o600)
    nowMs = 0
    const find = rememberPrivateEntries(clock, { blindMs: 10, ageMsMax: 1000 })
    expect(names(find)).toEqual(["a/one"])
    put("a/two", 0o600)
    nowMs = 9
    expect(names(find)).toEqual(["a/one"])
    nowMs = 10
    expect(names(find)).toEqual(["a/one", "a/two"])
  })

  test("is believed for a moment again after each look, and no longer", () => {
    put("a/one", 0o600)
    nowMs = 0
    const find = rememberPrivateEntries(clock, { blindMs: 10, ageMsMax: 1000 })
    names(find)
    nowMs = 15
    expect(names(find)).toEqual(["a/one"])
    put("a/two", 0o600)
    nowMs = 24
    expect(names(find)).toEqual(["a/one"])
    nowMs = 25
    expect(names(find)).toEqual(["a/one", "a/two"])
  })

  test("of the system directories is their view, for a moment", () => {
    nowMs = 0
    const view = rememberSystemView(clock, 1_000)
    const first = view()
    expect(first).toEqual(readSystemView())
    nowMs = 999
    expect(view()).toBe(first)
    nowMs = 1_000
    expect(view()).not.toBe(first)
  })

  test("is believed only for a while, because a mode can change without its directory", () => {
    put("file", 0o644)
    nowMs = 0
    const find = rememberPrivateEntries(clock, { blindMs: 0, ageMsMax: 1000 })
    expect(names(find)).toEqual([])
    chmodSync(join(base, "file"), 0o600)
    nowMs = 999
    expect(names(find)).toEqual([])
    nowMs = 1000
    expect(names(find)).toEqual(["file"])
  })
})
