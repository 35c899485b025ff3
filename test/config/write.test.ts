import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { withDirectoryLock } from "../../src/config/lock.ts"
import { writeAtomically } from "../../src/config/write.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { failureOf } from "./config-fixture.ts"

describe("an atomic write", () => {
  test("creates a file with exactly the mode that was asked for, whatever the umask", () => {
    using workspace = tempWorkspace()
    const path = join(workspace.root, "file")
    for (const mode of [0o600, 0o644, 0o666]) {
      writeAtomically(path, "content", mode)
      expect(statSync(path).mode & 0o777).toBe(mode)
    }
  })

  test("replaces the whole content and leaves nothing else in the directory", () => {
    using workspace = tempWorkspace()
    const path = workspace.write("file", "a much longer text than the new one")
    writeAtomically(path, "é\n", 0o644)
    expect(readFileSync(path, "utf8")).toBe("é\n")
    expect(readdirSync(workspace.root)).toEqual(["file"])
  })

  test("does not disturb somebody who is reading the old content", () => {
    using workspace = tempWorkspace()
    const path = workspace.write("file", "old")
    const reader = openSync(path, "r")
    writeAtomically(path, "new", 0o644)
    expect(readFileSync(reader, "utf8")).toBe("old")
    closeSync(reader)
    expect(readFileSync(path, "utf8")).toBe("new")
  })

  test("replaces a symlink itself and not what it points to", () => {
    using workspace = tempWorkspace()
    const target = workspace.write("target", "untouched")
    const link = join(workspace.root, "link")
    symlinkSync(target, link)
    writeAtomically(link, "new", 0o600)
    expect(readFileSync(target, "utf8")).toBe("untouched")
  })

  test("that fails throws and leaves neither a part nor a temporary file", () => {
    using workspace = tempWorkspace()
    const path = join(workspace.root, "taken")
    mkdirSync(join(path, "inside"), { recursive: true })
    expect(() => writeAtomically(path, "content", 0o644)).toThrow()
    expect(readdirSync(workspace.root)).toEqual(["taken"])
    expect(() => writeAtomically(join(workspace.root, "missing", "file"), "content", 0o644)).toThrow("ENOENT")
  })

  test("of a megabyte arrives whole", () => {
    using workspace = tempWorkspace()
    const path = join(workspace.root, "large")
    const content = "0123456789abcdef".repeat(65_536)
    writeAtomically(path, content, 0o644)
    expect(readFileSync(path, "utf8")).toBe(content)
  })
})

describe("the lock of a directory", () => {
  test("lets one action after the other through, and all of them in the end", async () => {
    using workspace = tempWorkspace()
    const counter = workspace.write("counter", "0")
    const increment = () => writeFileSync(counter, String(Number(readFileSync(counter, "utf8")) + 1))
    await Promise.all(Array.from({ length: 20 }, () => withDirectoryLock(workspace.root, increment)))
    expect(readFileSync(counter, "utf8")).toBe("20")
  })

  test("gives back what the action gives and passes on what it throws", async () => {
    using workspace = tempWorkspace()
    expect(await withDirectoryLock(workspace.root, () => 42)).toBe(42)
    const failing = withDirectoryLock(workspace.root, () => {
      throw new Error("on purpose")
    })
    await expect(failing).rejects.toThrow("on purpose")
    expect(await withDirectoryLock(workspace.root, () => "free again")).toBe("free again")
  })

  test("is given up on after a while, with a word on what to do", async () => {
    using workspace = tempWorkspace()
    const report = await withDirectoryLock(workspace.root, () =>
      failureOf(() => withDirectoryLock(workspace.root, () => "never", 20)),
    )
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-001" })
    expect(report.hint).toContain("end that process")
  })

  test("leaves no file behind and needs no permission to write", async () => {
    using workspace = tempWorkspace()
    chmodSync(workspace.root, 0o500)
    await withDirectoryLock(workspace.root, () => undefined)
    expect(readdirSync(workspace.root)).toEqual([])
  })

  test("of a directory that does not exist is an error of the system", async () => {
    await expect(withDirectoryLock("/nonexistent/directory", () => undefined)).rejects.toThrow("ENOENT")
  })
})
