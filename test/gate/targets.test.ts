import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import type { FileChange } from "../../src/domain/tool-call.ts"
import { certaintyOf, changedTargets } from "../../src/gate/targets.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

let room: GateRoom
beforeEach(() => {
  room = gateRoom({ files: { "old.txt": "old", "new.txt": "new", "other.txt": "other" } })
})
afterEach(() => room[Symbol.dispose]())

const replaced = (path: string): FileChange => ({ path, before: sha256Hex("old"), after: sha256Hex("new") })
const certainty = (...targets: readonly FileChange[]) => certaintyOf(room.workspace, targets)

describe("what became of files that were to be replaced", () => {
  test("is told by their content alone", () => {
    expect(certainty(replaced("old.txt"))).toBe("notDone")
    expect(certainty(replaced("new.txt"))).toBe("done")
    expect(certainty(replaced("other.txt"))).toBe("unknown")
    expect(certainty(replaced("missing.txt"))).toBe("unknown")
  })

  test("of several is the truth about all of them", () => {
    expect(certainty(replaced("old.txt"), replaced("new.txt"))).toBe("partly")
    expect(certainty(replaced("new.txt"), replaced("new.txt"))).toBe("done")
    expect(certainty(replaced("new.txt"), replaced("other.txt"))).toBe("unknown")
    expect(certainty()).toBe("done")
  })

  test("of files that come and go is told by whether they are there", () => {
    const created = { before: null, after: sha256Hex("new") }
    expect(certainty({ path: "missing.txt", ...created })).toBe("notDone")
    expect(certainty({ path: "new.txt", ...created })).toBe("done")
    const removed = { before: sha256Hex("old"), after: null }
    expect(certainty({ path: "old.txt", ...removed })).toBe("notDone")
    expect(certainty({ path: "missing.txt", ...removed })).toBe("done")
    expect(certainty({ path: "no/such/directory.txt", ...removed })).toBe("done")
  })

  test("of a symlink is told by where it points, not by what is there", () => {
    symlinkSync("old.txt", join(room.root, "link"))
    const removed = { path: "link", before: "link:old.txt", after: null }
    expect(certainty(removed)).toBe("notDone")
    rmSync(join(room.root, "link"))
    expect(certainty(removed)).toBe("done")
    symlinkSync("new.txt", join(room.root, "link"))
    expect(certainty(removed)).toBe("unknown")
    expect(certainty(replaced("link"))).toBe("unknown")
  })

  test("is not known where something else took the place", () => {
    rmSync(join(room.root, "old.txt"))
    mkdirSync(join(room.root, "old.txt"))
    expect(certainty(replaced("old.txt"))).toBe("unknown")
    expect(certainty({ path: "../outside.txt", before: null, after: null })).toBe("unknown")
  })
})

test("the changed ones are those that have their new content", () => {
  const targets = [replaced("old.txt"), replaced("new.txt"), replaced("other.txt")]
  expect(changedTargets(room.workspace, targets)).toEqual([replaced("new.txt")])
})
