import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"

let base: string
let root: WorkspaceRoot

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-root-")))
  mkdirSync(join(base, "ws/src/deep"), { recursive: true })
  mkdirSync(join(base, "ws2"))
  mkdirSync(join(base, "ws/..foo"))
  writeFileSync(join(base, "ws/file"), "x")
  symlinkSync("src", join(base, "ws/inside"))
  symlinkSync("/etc", join(base, "ws/etc"))
  symlinkSync("../ws2", join(base, "ws/sibling"))
  symlinkSync("loop", join(base, "ws/loop"))
  symlinkSync("ws", join(base, "alias"))
  symlinkSync("/proc/self/cwd", join(base, "ws/magic"))
  root = new WorkspaceRoot(join(base, "ws"))
})

afterAll(() => {
  root[Symbol.dispose]()
  rmSync(base, { recursive: true })
})

function codeOf(typed: string): string {
  try {
    root.directory(typed)
    return "accepted"
  } catch (error) {
    if (error instanceof Failure) return error.report.code
    throw error
  }
}

describe("a directory inside the workspace is accepted and reported relative", () => {
  const accepted: [string, string][] = [
    [".", "."],
    ["", "."],
    ["src", "src"],
    ["./src", "src"],
    ["src/", "src"],
    ["src/../src/deep", "src/deep"],
    ["inside/deep", "src/deep"],
    ["..foo", "..foo"],
  ]
  for (const [typed, relative] of accepted)
    test(`"${typed}" is ${relative}`, () => {
      expect(root.directory(typed)).toEqual({
        absolute: relative === "." ? join(base, "ws") : join(base, "ws", relative),
        relative,
      })
    })

  test("an absolute path inside is accepted", () => {
    expect(root.directory(join(base, "ws/src")).relative).toBe("src")
    expect(root.directory(join(base, "ws")).relative).toBe(".")
  })

  test("an absolute path that reaches the workspace through a symlink is accepted", () => {
    expect(root.directory(join(base, "alias/src")).relative).toBe("src")
  })
})

describe("what leads out of the workspace is refused with ACODE-SEC-005", () => {
  for (const typed of [
    "..",
    "../ws2",
    "../../etc",
    "src/../../ws2",
    "/etc",
    "/tmp",
    "etc",
    "etc/ssl",
    "sibling",
  ])
    test(typed, () => expect(codeOf(typed)).toBe("ACODE-SEC-005"))

  test("a sibling whose name starts like the workspace is outside", () => {
    expect(codeOf(join(base, "ws2"))).toBe("ACODE-SEC-005")
  })

  test("the message has the words people search for", () => {
    expect(() => root.directory("/etc")).toThrow("outside workspace")
  })

  test("a magic link of /proc is not followed", () => {
    expect(codeOf("magic")).toBe("ACODE-SEC-005")
  })

  test("a symlink loop is refused", () => {
    expect(codeOf("loop")).toBe("ACODE-SEC-005")
  })
})

describe("what is not a directory is refused with ACODE-EXE-006", () => {
  test("a missing one", () => expect(codeOf("missing")).toBe("ACODE-EXE-006"))
  test("a missing absolute one inside", () => expect(codeOf(join(base, "ws/missing"))).toBe("ACODE-EXE-006"))
  test("a missing absolute one outside", () => expect(codeOf("/missing-entirely")).toBe("ACODE-EXE-006"))
  test("a file", () => expect(codeOf("file")).toBe("ACODE-EXE-006"))
  test("a path below a file", () => expect(codeOf("file/x")).toBe("ACODE-EXE-006"))
  test("a NUL byte", () => expect(codeOf("src\0/../..")).toBe("ACODE-EXE-006"))
})

test("a workspace that does not exist is a usage failure", () => {
  expect(() => new WorkspaceRoot(join(base, "nowhere"))).toThrow("is not a directory")
  expect(() => new WorkspaceRoot(join(base, "ws/file"))).toThrow("is not a directory")
})

test("swapping a directory for a symlink to the outside never lets an outside path through", () => {
  const swap = join(base, "ws/swap")
  const hidden = join(base, "ws/swap-hidden")
  mkdirSync(swap)
  symlinkSync("/etc", hidden)
  const seen = new Set<string>()
  for (let round = 0; round < 400; round++) {
    renameSync(swap, `${swap}-tmp`)
    renameSync(hidden, swap)
    renameSync(`${swap}-tmp`, hidden)
    seen.add(codeOf("swap"))
    seen.add(codeOf("swap-hidden"))
  }
  expect([...seen].sort()).toEqual(["ACODE-SEC-005", "accepted"])
})
