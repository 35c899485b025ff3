import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { closeSync, constants, openSync, symlinkSync } from "node:fs"
import { openBeneath, type SymlinkRule } from "../../../src/workspace/files/openat2.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
beforeAll(() => {
  ws = testWorkspace()
  ws.put("a/file", "x")
  closeSync(openSync(Buffer.concat([Buffer.from(`${ws.root.path}/bad`), Buffer.from([0xff])]), "w"))
  symlinkSync("a", ws.path("link"))
  symlinkSync("../outside", ws.path("out"))
  symlinkSync("/etc", ws.path("absolute"))
  symlinkSync("/proc/self/cwd", ws.path("magic"))
  symlinkSync("loop", ws.path("loop"))
})
afterAll(() => ws[Symbol.dispose]())

function outcome(relative: string, symlinks: SymlinkRule = "inside"): string {
  const opened = openBeneath(ws.root.fd, relative, constants.O_RDONLY, 0, symlinks)
  if (opened === null) return "unsupported"
  if (!("fd" in opened)) return opened.refusal
  closeSync(opened.fd)
  return "opened"
}

const isSupported = () => openBeneath(ws.root.fd, ".", constants.O_RDONLY, 0) !== null

describe("the kernel opens below a directory", () => {
  const cases: [string, SymlinkRule, string][] = [
    ["a/file", "inside", "opened"],
    [".", "inside", "opened"],
    ["a/../a/file", "inside", "opened"],
    ["link/file", "inside", "opened"],
    ["link/file", "never", "escape"],
    ["link", "never", "escape"],
    ["a/file", "never", "opened"],
    ["..", "inside", "escape"],
    ["a/../..", "inside", "escape"],
    ["out/secret.txt", "inside", "escape"],
    ["absolute/passwd", "inside", "escape"],
    ["/etc/passwd", "inside", "escape"],
    ["magic", "inside", "escape"],
    ["loop", "inside", "escape"],
    ["missing", "inside", "missing"],
    ["a/file/x", "inside", "notDirectory"],
    ["a/file/", "inside", "notDirectory"],
    ["x".repeat(300), "inside", "other"],
  ]
  for (const [path, rule, expected] of cases)
    test(`${path.slice(0, 30)} (symlinks: ${rule}): ${expected}`, () => {
      if (isSupported()) expect(outcome(path, rule)).toBe(expected)
      else process.stdout.write("skipped: this kernel has no openat2\n")
    })

  test("and takes names that are not UTF-8", () => {
    if (isSupported()) expect(outcome("bad\udcff")).toBe("opened")
  })
})

test("a descriptor is not handed down to programs", () => {
  const opened = openBeneath(ws.root.fd, "a/file", constants.O_RDONLY, 0)
  if (opened === null || !("fd" in opened)) return
  const child = Bun.spawnSync(["ls", "/proc/self/fd"])
  expect(child.stdout.toString().split("\n")).not.toContain(String(opened.fd))
  closeSync(opened.fd)
})
