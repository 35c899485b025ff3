import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import {
  ensureExactDirectory,
  locate,
  pinDirectory,
  pinExactName,
  pinFile,
  pinNameToDelete,
  pinNameToWrite,
} from "../../../src/workspace/files/pinned-name.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeEach(() => {
  ws = testWorkspace()
  ws.put("src/deep/file.ts", "x")
  symlinkSync("src", ws.path("link"))
  symlinkSync(ws.path("src/deep"), ws.path("absolute"))
  symlinkSync("../outside", ws.path("out"))
  symlinkSync("nowhere/at/all", ws.path("dangling"))
  symlinkSync("../outside/nothing", ws.path("dangling-out"))
})
afterEach(() => ws[Symbol.dispose]())

describe("locating reports where a path really leads", () => {
  const cases: [string, string, string][] = [
    ["src/deep/file.ts", "src/deep/file.ts", "file"],
    ["src", "src", "directory"],
    ["src/", "src", "directory"],
    [".", ".", "directory"],
    ["link/deep/file.ts", "src/deep/file.ts", "file"],
    ["absolute/file.ts", "src/deep/file.ts", "file"],
    ["src/deep/../deep/file.ts", "src/deep/file.ts", "file"],
    ["link/new/file.ts", "src/new/file.ts", "missing"],
    ["absolute/new.ts", "src/deep/new.ts", "missing"],
    ["a/b/c", "a/b/c", "missing"],
    ["src/deep/file.ts/x", "src/deep/file.ts/x", "missing"],
    ["dangling", "dangling", "missing"],
  ]
  for (const [typed, relative, kind] of cases)
    test(`${typed} is ${relative}, ${kind}`, () => {
      expect(locate(ws.root, typed)).toEqual({ relative, kind } as never)
    })

  test("an absolute path is located like a relative one", () => {
    expect(locate(ws.root, join(ws.root.path, "link/deep/file.ts")).relative).toBe("src/deep/file.ts")
    expect(locate(ws.root, join(ws.root.path, "new/file")).relative).toBe("new/file")
  })

  test("an absolute path by another name of the workspace too, also to a missing file", () => {
    symlinkSync("ws", join(ws.base, "alias"))
    expect(locate(ws.root, join(ws.base, "alias/src/deep")).relative).toBe("src/deep")
    expect(locate(ws.root, join(ws.base, "alias/new/file")).relative).toBe("new/file")
    expect(codeOf(() => locate(ws.root, join(ws.base, "alias2/x")))).toBe("ACODE-SEC-005")
  })

  test("what leads out is refused, whether or not anything is there", () => {
    for (const typed of ["out", "out/secret.txt", "out/nothing", "dangling-out", "dangling-out/x"])
      expect(`${typed} ${codeOf(() => locate(ws.root, typed))}`).toBe(`${typed} ACODE-SEC-005`)
  })
})

describe("pinning", () => {
  test("a file is for files and a directory for directories", () => {
    expect(codeOf(() => pinFile(ws.root, "src"))).toBe("ACODE-FS-003")
    expect(codeOf(() => pinDirectory(ws.root, "src/deep/file.ts", "list"))).toBe("ACODE-FS-003")
    using file = pinFile(ws.root, "link/deep/file.ts")
    using directory = pinDirectory(ws.root, "link", "list")
    expect([file.relative, directory.relative]).toEqual(["src/deep/file.ts", "src"])
  })

  test("leaves no descriptor open when it refuses", () => {
    const open = () => readdirSync("/proc/self/fd").length
    codeOf(() => pinFile(ws.root, "src"))
    const before = open()
    for (let round = 0; round < 50; round++)
      for (const typed of ["src", "missing/x", "out/x", "link/deep", "dangling", "src/deep/file.ts/x"]) {
        codeOf(() => pinFile(ws.root, typed)[Symbol.dispose]())
        codeOf(() => pinNameToWrite(ws.root, typed)[Symbol.dispose]())
        codeOf(() => pinNameToDelete(ws.root, typed)[Symbol.dispose]())
      }
    expect(open()).toBe(before)
  })
})

describe("a place to write", () => {
  test("is the target of a symlink inside, and new where nothing is", () => {
    using old = pinNameToWrite(ws.root, "link/deep/file.ts")
    expect([old.relative, old.name, old.stat?.isFile()]).toEqual(["src/deep/file.ts", "file.ts", true])
    using fresh = pinNameToWrite(ws.root, "link/a/b/new.ts")
    expect([fresh.relative, fresh.stat, fresh.createdDirectories]).toEqual([
      "src/a/b/new.ts",
      null,
      ["src/a", "src/a/b"],
    ])
  })

  test("is refused for hard links, symlinks to nowhere and directories", () => {
    linkSync(ws.path("src/deep/file.ts"), ws.path("hard"))
    expect(codeOf(() => pinNameToWrite(ws.root, "hard"))).toBe("ACODE-FS-004")
    expect(codeOf(() => pinNameToWrite(ws.root, "dangling"))).toBe("ACODE-FS-002")
    expect(codeOf(() => pinNameToWrite(ws.root, "src"))).toBe("ACODE-FS-003")
  })

  test("is not made when a directory on the way is a file", () => {
    expect(codeOf(() => pinNameToWrite(ws.root, "src/deep/file.ts/a/b"))).toBe("ACODE-FS-002")
    expect(readdirSync(ws.path("src/deep"))).toEqual(["file.ts"])
  })

  test("asks the guard before it makes a directory, about the place that would be written", () => {
    const asked: string[] = []
    using guarded = new WorkspaceRoot(ws.root.path, (path, operation) => {
      asked.push(`${operation} ${path}`)
      expect(existsSync(ws.path("src/a"))).toBe(false)
    })
    pinNameToWrite(guarded, "link/a/b/c")[Symbol.dispose]()
    expect(asked).toEqual(["write link/a/b/c", "write src/a/b/c"])
  })
})

describe("an exact place", () => {
  test("follows no symlink on the way, and none at its end", () => {
    expect(codeOf(() => pinExactName(ws.root, "link/deep/file.ts"))).toBe("ACODE-SEC-005")
    using last = pinExactName(ws.root, "link")
    expect(last.stat?.isSymbolicLink()).toBe(true)
  })

  test("makes missing parents", () => {
    using place = pinExactName(ws.root, "x/y/z")
    expect(place.stat).toBeNull()
    expect(existsSync(ws.path("x/y"))).toBe(true)
    ensureExactDirectory(ws.root, "p/q")
    ensureExactDirectory(ws.root, "p/q")
    expect(readdirSync(ws.path("p"))).toEqual(["q"])
    expect(codeOf(() => ensureExactDirectory(ws.root, "link/q"))).toBe("ACODE-SEC-005")
  })
})

test("a place to delete is the name itself", () => {
  using link = pinNameToDelete(ws.root, "link")
  expect(link.stat?.isSymbolicLink()).toBe(true)
  using through = pinNameToDelete(ws.root, "link/deep/file.ts")
  expect(through.relative).toBe("src/deep/file.ts")
  mkdirSync(ws.path("empty"))
  expect(codeOf(() => pinNameToDelete(ws.root, "empty"))).toBe("ACODE-FS-003")
})
