import { afterAll, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { findProgram } from "../../src/exec/program.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const workspace = tempWorkspace({
  files: {
    "first/tool": "#!/bin/sh\n",
    "second/tool": "#!/bin/sh\n",
    "second/plain": "data",
    "here/run": "#!/bin/sh\n",
  },
})
afterAll(() => workspace[Symbol.dispose]())
const { root } = workspace
for (const file of ["second/tool", "here/run"]) chmodSync(join(root, file), 0o755)
for (const file of ["first/tool", "second/plain"]) chmodSync(join(root, file), 0o644)
mkdirSync(join(root, "first/folder"))
symlinkSync(join(root, "second/tool"), join(root, "first/linked"))
symlinkSync("nowhere", join(root, "first/dangling"))

const path = `${root}/first:${root}/second`
const find = (name: string, on: string | undefined = path) => findProgram(name, join(root, "here"), on)

describe("a program that is looked up on PATH", () => {
  test("is the first one that can be executed", () => {
    expect(find("tool")).toEqual({ kind: "found", path: `${root}/second/tool` })
  })

  test("may be a link to one", () => {
    expect(find("linked")).toEqual({ kind: "found", path: `${root}/first/linked` })
  })

  test("is missing when no directory has it", () => {
    expect(find("absent")).toEqual({ kind: "missing" })
    expect(find("dangling")).toEqual({ kind: "missing" })
    expect(find("tool", "")).toEqual({ kind: "missing" })
    expect(find("tool", "/no/such/directory")).toEqual({ kind: "missing" })
  })

  test("is told apart from one that exists and may not be executed", () => {
    expect(find("plain")).toEqual({ kind: "notExecutable" })
    expect(find("folder")).toEqual({ kind: "notExecutable" })
    expect(find("tool", `${root}/first`)).toEqual({ kind: "notExecutable" })
  })

  test("is never taken from where the command happens to run", () => {
    for (const on of [".", "", ":", "./", "../here", `:${root}/first`, `.:${root}/first`])
      expect(find("run", on)).toEqual({ kind: "missing" })
  })

  test("is found in the usual places when there is no PATH at all", () => {
    expect(findProgram("sh", "/", undefined)).toMatchObject({ kind: "found" })
  })
})

describe("a program that is named by a path", () => {
  test("is relative to the directory of the command, whatever PATH says", () => {
    expect(find("./run")).toEqual({ kind: "found", path: `${root}/here/run` })
    expect(find("../second/tool", "")).toEqual({ kind: "found", path: `${root}/second/tool` })
    expect(find(`${root}/here/run`)).toEqual({ kind: "found", path: `${root}/here/run` })
  })

  test("is missing, not executable or a directory like any other", () => {
    expect(find("./absent")).toEqual({ kind: "missing" })
    expect(find("../first/tool")).toEqual({ kind: "notExecutable" })
    expect(find("./")).toEqual({ kind: "notExecutable" })
    expect(find("./run/deeper")).toEqual({ kind: "missing" })
  })
})
