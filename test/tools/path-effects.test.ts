import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { callPath, pathEffects, writeEffects } from "../../src/tools/path-effects.ts"
import { type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

const effects = (typed: string) => pathEffects(t.room.workspace, callPath(t.room.workspace, typed), "read")
const writes = (typed: string) => writeEffects(t.room.workspace, callPath(t.room.workspace, typed))

describe("the effects of a path", () => {
  test("are one for each spelling that says something else", () => {
    t.put("d/a.txt", "")
    expect(effects("d/a.txt")).toEqual([{ kind: "read", path: "d/a.txt" }])
    expect(effects("./d//a.txt")).toEqual([{ kind: "read", path: "d/a.txt" }])
    expect(effects("d/../d/a.txt")).toEqual([{ kind: "read", path: "d/a.txt" }])
    expect(effects(join(t.root, "d"))).toEqual([{ kind: "read", path: "d" }])
    expect(effects(".")).toEqual([{ kind: "read", path: "." }])
  })

  test("show policy the name of a link and what it leads to, through every link", () => {
    t.put("secrets/a.txt", "")
    symlinkSync("secrets", join(t.root, "open"))
    symlinkSync("open", join(t.root, "chain"))
    expect(effects("chain/a.txt")).toEqual([
      { kind: "read", path: "chain/a.txt" },
      { kind: "read", path: "secrets/a.txt" },
    ])
  })

  test("of a file to be written are the directories that are missing, outermost first, and the file", () => {
    t.put("have/x", "")
    symlinkSync("have", join(t.root, "link"))
    expect(writes("have/x")).toEqual([{ kind: "write", path: "have/x" }])
    expect(writes("have/new/deep/y")).toEqual([
      { kind: "createDirectory", path: "have/new" },
      { kind: "createDirectory", path: "have/new/deep" },
      { kind: "write", path: "have/new/deep/y" },
    ])
    expect(writes("link/new/y")).toEqual([
      { kind: "createDirectory", path: "have/new" },
      { kind: "write", path: "link/new/y" },
      { kind: "write", path: "have/new/y" },
    ])
  })
})
