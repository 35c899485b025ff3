import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import type { Mount } from "../../../src/sandbox/view/mounts.ts"
import { requireVisibleProgram } from "../../../src/sandbox/view/program.ts"

describe("a program that is looked for inside", () => {
  let base: string
  let mounts: readonly Mount[]
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "acode-program-")))
    for (const directory of ["shown", "hidden", "work"]) mkdirSync(join(base, directory))
    mounts = [
      { kind: "readOnly", path: "/usr" },
      { kind: "link", path: "/bin", target: "usr/bin" },
      { kind: "scratch", path: "/tmp", mode: 0o1777 },
      { kind: "readOnly", path: join(base, "shown") },
      { kind: "writable", path: join(base, "work") },
    ]
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  const install = (path: string, content = "#!/bin/sh\n") => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), content)
    chmodSync(join(base, path), 0o755)
    return join(base, path)
  }
  const look = (program: string, searchPath = `${base}/hidden:${base}/shown:/usr/bin`) => {
    try {
      requireVisibleProgram(mounts, [program, "argument"], join(base, "work"), searchPath)
      return "fine"
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return `${error.report.code} ${error.report.where?.replace(base, "")} ${error.report.hint?.replace(base, "")}`
    }
  }
  const refused = (where: string, directory = dirname(where)) =>
    `ACODE-EXE-011 ${where} add ${directory} to execution.readable_paths, or install it in a system directory`

  test("is fine in a directory that is shown, by path or by name", () => {
    install("shown/tool")
    install("work/run")
    expect([look(`${base}/shown/tool`), look("tool"), look("./run"), look("/bin/sh"), look("sh")]).toEqual([
      "fine",
      "fine",
      "fine",
      "fine",
      "fine",
    ])
  })

  test("is refused with the directory to add when only the host has it", () => {
    install("hidden/tool")
    expect(look("tool")).toBe(refused("/hidden/tool"))
    expect(look(`${base}/hidden/tool`)).toBe(refused("/hidden/tool"))
  })

  test("is taken from a later directory of the PATH when the first is not shown", () => {
    install("hidden/tool")
    install("shown/tool")
    expect(look("tool")).toBe("fine")
  })

  test("is not our business when it exists nowhere or may not be executed", () => {
    writeFileSync(join(base, "hidden", "data"), "")
    expect([look("no-such-program"), look("./missing"), look("data"), look("")]).toEqual([
      "fine",
      "fine",
      "fine",
      "fine",
    ])
  })

  test("is refused when a link on the way leads out of view", () => {
    install("hidden/real/tool")
    symlinkSync(join(base, "hidden/real/tool"), join(base, "shown/tool"))
    expect(look("tool")).toBe(refused("/hidden/real/tool"))
    symlinkSync("../hidden/real", join(base, "shown/current"))
    expect(look(`${base}/shown/current/tool`)).toBe(refused("/hidden/real/tool"))
  })

  test("is fine through links that stay in view, and links in a circle come to an end", () => {
    install("shown/versions/1/tool")
    symlinkSync("versions/1", join(base, "shown/current"))
    symlinkSync("current/tool", join(base, "shown/tool"))
    expect(look("tool")).toBe("fine")
    symlinkSync("b", join(base, "shown/a"))
    symlinkSync("a", join(base, "shown/b"))
    expect(look(`${base}/shown/a`)).toBe("fine")
  })

  test("is refused when its interpreter is out of view, named by path or found by env", () => {
    install("hidden/python")
    install("shown/script", `#!${base}/hidden/python -u\nprint()\n`)
    install("shown/by-name", "#!/usr/bin/env python\nprint()\n")
    install("shown/other", "#!/usr/bin/env -S A=1 sh\n")
    expect(look("script")).toBe(refused("/hidden/python"))
    expect(look("by-name", `${base}/hidden:${base}/shown`)).toBe(refused("/hidden/python"))
    expect(look("other")).toBe("fine")
  })
})
