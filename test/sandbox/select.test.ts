import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Candidate, findCandidates } from "../../src/sandbox/mechanisms.ts"
import { createSandbox, probeChoice } from "../../src/sandbox/select.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { openRoom, type Room, sandboxKinds } from "./room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

const settings = () => ({ ...room.settings, workspaceRoot: room.root })
const usual = sandboxKinds.find(({ missing }) => missing === null)?.kind ?? "bwrap"
const missingReduced = sandboxKinds.find(({ kind }) => kind === "reduced")?.missing ?? null
const cachePath = () => join(room.settings.workDirectory, `probe-${usual}.json`)

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
        hint: expect.stringContaining("--sandbox native"),
      },
    })
  })

  for (const { kind, missing } of sandboxKinds) {
    testWhere(missing)(`is ${kind} where it works, by name`, async () => {
      const { sandbox, notice } = await createSandbox(kind, settings())
      expect(sandbox.kind).toBe(kind)
      expect(notice === null).toBe(kind !== "reduced")
    })
  }

  testWhere(missingSandbox)("is the first that works for auto", async () => {
    const { sandbox, notice } = await createSandbox("auto", settings())
    expect([sandbox.kind, notice]).toEqual([usual, null])
  })

  testWhere(missingSandbox)("is found once for each boot", async () => {
    await createSandbox("auto", settings())
    const remembered = readFileSync(cachePath(), "utf8")
    // A mark in what is remembered shows that it is read and not tried again.
    writeFileSync(cachePath(), remembered.replace('"features":{', '"features":{"remembered":true,'))
    await createSandbox("auto", settings())
    expect(readFileSync(cachePath(), "utf8")).toContain("remembered")
  })

  test("falls back for auto with one line that says why and what to do", async () => {
    const { sandbox, notice } = await createSandbox("auto", settings(), broken)
    expect(sandbox.kind).toBe("none")
    expect(notice).toMatch(/^no sandbox: .+ To get one: .+\.$/)
    expect(notice).not.toContain("\n")
    expect(await probeChoice("auto", room.root, broken)).toMatchObject({
      kind: "none",
      reason: "out of order",
    })
  })

  testWhere(missingReduced)("says why it is only reduced where nothing stronger works", async () => {
    const { sandbox, notice } = await createSandbox("auto", settings(), root =>
      broken(root).map(
        each => findCandidates(root).find(({ kind }) => kind === "reduced" && kind === each.kind) ?? each,
      ),
    )
    expect(sandbox.kind).toBe("reduced")
    expect(notice).toBe("reduced confinement, without namespaces: out of order. For more: repair it.")
  })

  test("never falls back for a choice by name", async () => {
    for (const choice of ["native", "perl", "bwrap"] as const)
      await expect(createSandbox(choice, settings(), broken)).rejects.toMatchObject({
        report: { code: "ACODE-EXE-010", kind: "confinement" },
      })
  })
})

/** The candidates of a machine on which none of them works. */
function broken(workspaceRoot: string): readonly Candidate[] {
  const nothing = { kind: "none", reason: "out of order", hint: "repair it", features: {} } as const
  return findCandidates(workspaceRoot).map(candidate => ({ ...candidate, probe: async () => nothing }))
}
