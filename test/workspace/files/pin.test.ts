import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Pinned, pin, pinByRealPath, pinChild } from "../../../src/workspace/files/pin.ts"
import { codeOf, seeded, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  ws.put("a/b/file", "x")
  ws.put("x (deleted)", "really called that")
  symlinkSync("a/b", ws.path("link"))
  symlinkSync(ws.path("a"), ws.path("absolute"))
  symlinkSync("../outside", ws.path("out"))
})
afterAll(() => ws[Symbol.dispose]())

function relativeOf(found: Pinned | null): string | null {
  using held = found
  return held?.relative ?? null
}

test("a pinned file stays the same file when its name changes", () => {
  ws.put("moving/file", "one")
  using held = pin(ws.root, "moving")
  renameSync(ws.path("moving"), ws.path("moved"))
  ws.put("moving/file", "two")
  expect(Bun.file(`${held?.at}/file`).text()).resolves.toBe("one")
})

test("the path of a pinned file is its real path, symlinks resolved", () => {
  expect(relativeOf(pin(ws.root, "."))).toBe(".")
  expect(relativeOf(pin(ws.root, "link/file"))).toBe("a/b/file")
  expect(relativeOf(pin(ws.root, "absolute/b/file"))).toBe("a/b/file")
  expect(relativeOf(pin(ws.root, "x (deleted)"))).toBe("x (deleted)")
})

test("a missing path is null, and so is a file used as a directory", () => {
  expect(pin(ws.root, "a/missing")).toBeNull()
  expect(pin(ws.root, "a/b/file/x")).toBeNull()
})

test("without symlinks every one of them is refused, also the last", () => {
  expect(codeOf(() => pin(ws.root, "link", "never"))).toBe("ACODE-SEC-005")
  expect(codeOf(() => pin(ws.root, "link/file", "never"))).toBe("ACODE-SEC-005")
})

test("a child is pinned below its directory and a symlink is none", () => {
  using directory = pin(ws.root, "a")
  if (directory === null) throw new Error("a is there")
  expect(relativeOf(pinChild(ws.root, directory, "b"))).toBe("a/b")
  expect(pinChild(ws.root, directory, "missing")).toBeNull()
  symlinkSync("b", ws.path("a/also-b"))
  expect(codeOf(() => pinChild(ws.root, directory, "also-b"))).toBe("ACODE-SEC-005")
})

describe("resolving by name, for kernels that cannot do better", () => {
  test("agrees with the kernel on random trees of symlinks", () => {
    const random = seeded(7)
    const names = ["p", "q", "r"]
    const targets = [
      "p",
      "q",
      "r",
      "..",
      "../..",
      "../outside",
      "p/q",
      "../ws/p",
      ".",
      ws.root.path,
      ws.outside,
    ]
    for (let round = 0; round < 60; round++) {
      const top = `t${round}`
      mkdirSync(ws.path(top))
      for (const directory of [top, `${top}/p`])
        for (const name of names) {
          const path = ws.path(`${directory}/${name}`)
          const kind = random(3)
          try {
            if (kind === 0) mkdirSync(path)
            else if (kind === 1) writeFileSync(path, "x")
            else symlinkSync(targets[random(targets.length)] ?? "p", path)
          } catch {
            // Its parent is a file or leads nowhere: the tree is random, and this is one without it.
          }
        }
      for (let question = 0; question < 20; question++) {
        const depth = 1 + random(3)
        const relative = join(top, ...Array.from({ length: depth }, () => names[random(3)] ?? "p"))
        const rule = random(2) === 0 ? ("inside" as const) : ("never" as const)
        const outcome = (step: () => Pinned | null) => {
          let found: string | null = null
          const code = codeOf(() => {
            found = relativeOf(step())
          })
          return `${code} ${found}`
        }
        const kernel = outcome(() => pin(ws.root, relative, rule))
        const byName = outcome(() => pinByRealPath(ws.root, relative, rule))
        expect(`${relative} ${rule}: ${byName}`).toBe(`${relative} ${rule}: ${kernel}`)
      }
    }
  })
})
