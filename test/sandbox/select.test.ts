import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createSandbox } from "../../src/sandbox/select.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { openRoom, type Room } from "./room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

const settings = () => ({ ...room.settings, workspaceRoot: room.root })
const cachePath = () => join(room.settings.workDirectory, "probe.json")

describe("the sandbox for a choice", () => {
  test("is none for people who ask for none, without a word", async () => {
    const { sandbox, notice } = await createSandbox("none", settings())
    expect([sandbox.kind, notice]).toEqual(["none", null])
    expect(existsSync(cachePath())).toBe(false)
  })

  test("is refused for a container, with what to use instead", async () => {
    await expect(createSandbox("container", settings())).rejects.toMatchObject({
      report: {
        code: "ACODE-EXE-010",
        kind: "confinement",
        hint: expect.stringContaining("--sandbox bwrap"),
      },
    })
  })

  testWhere(missingSandbox)("is bubblewrap where it works, by name and for auto", async () => {
    for (const choice of ["auto", "bwrap"] as const) {
      const { sandbox, notice } = await createSandbox(choice, settings())
      expect([sandbox.kind, notice]).toEqual(["bwrap", null])
    }
  })

  testWhere(missingSandbox)("is found once for each boot", async () => {
    await createSandbox("auto", settings())
    const remembered = readFileSync(cachePath(), "utf8")
    // A mark in what is remembered shows that it is read and not tried again.
    writeFileSync(cachePath(), remembered.replace('"features":{', '"features":{"remembered":true,'))
    await createSandbox("auto", settings())
    expect(readFileSync(cachePath(), "utf8")).toContain("remembered")
  })

  // Only where a workspace hides every system directory can bubblewrap be missing on a machine that has it.
  test("falls back for auto with one line that says why and what to do", async () => {
    const { sandbox, notice } = await createSandbox("auto", { ...settings(), workspaceRoot: "/" })
    expect(sandbox.kind).toBe("none")
    expect(notice).toMatch(/^no sandbox: .+ To get one: .+\.$/)
    expect(notice).not.toContain("\n")
  })

  test("never falls back for a choice by name", async () => {
    await expect(createSandbox("bwrap", { ...settings(), workspaceRoot: "/" })).rejects.toMatchObject({
      report: { code: "ACODE-EXE-010", kind: "confinement" },
    })
  })
})
