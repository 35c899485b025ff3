import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { openService } from "../../../src/app/local-service.ts"
import type { AppService } from "../../../src/app/service.ts"
import { userName } from "../../../src/app/user-name.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { seeded, seedSession } from "../../support/crash/seeded-session.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
let app: AppService

beforeEach(() => {
  workspace = tempWorkspace()
  app = openService({
    environment: readEnvironment(workspace.environment),
    workspace: workspace.root,
    configFile: undefined,
    notice: () => undefined,
  })
})
afterEach(async () => {
  await app.close()
  workspace[Symbol.dispose]()
})

const denial = { approvalId: seeded.approval, answer: "refused", reason: "no" } as const

describe("where nothing was ever recorded", () => {
  test("there is no history, and looking makes none", async () => {
    expect(await app.sessions()).toBeNull()
    expect(await app.approvals()).toBeNull()
    expect(await app.evidence()).toBeNull()
    expect(await app.sessionEvents(seeded.session)).toEqual([])
    expect(existsSync(workspace.state())).toBe(false)
  })

  test("there is nothing to answer", async () => {
    await expect(app.answer(denial)).rejects.toMatchObject({
      report: { kind: "usage", code: "ACODE-APPR-001" },
    })
    expect(existsSync(workspace.state())).toBe(false)
  })
})

describe("what was recorded", () => {
  beforeEach(() => seedSession(workspace))

  test("is found", async () => {
    expect((await app.sessions())?.find(seeded.session)).toMatchObject({ goal: "fix a.ts" })
    expect((await app.approvals())?.find(seeded.approval)).toMatchObject({ state: "open" })
    expect((await app.evidence())?.show(seeded.writing)).toMatchObject({ tool: "file_write" })
  })

  test("is answered in the name of the user, as typed and not at a prompt", async () => {
    expect(await app.answer(denial)).toMatchObject({
      id: seeded.approval,
      state: "refused",
      answeredBy: userName(),
      answerReason: "no",
    })
    const events = await app.sessionEvents(seeded.session)
    expect(events.at(-1)).toMatchObject({ type: "approval.answered", data: { via: "command" } })
  })

  test("is anchored after an answer, so that a copy from before it is noticed", async () => {
    await app.answer(denial)
    const report = await app.audit(null)
    expect(report).toMatchObject({ ok: true, anchoredPosition: report.events })
  })

  test("has events that keep their numbers when an answer comes", async () => {
    const before = await app.sessionEvents(seeded.session)
    await app.answer(denial)
    const after = await app.sessionEvents(seeded.session)
    expect(after.slice(0, before.length)).toEqual([...before])
    expect(after).toHaveLength(before.length + 1)
    expect(after.map(({ seq }) => seq)).toEqual(after.map((_, index) => index + 1))
  })

  test("is audited by the id of its session as well, and an id that fits nothing is refused", async () => {
    expect(await app.audit(seeded.session)).toMatchObject({ ok: true })
    await expect(app.audit("zzzz")).rejects.toMatchObject({ report: { code: "ACODE-CLI-004" } })
  })
})

test("a path is recorded relative to the workspace, however it is typed", () => {
  const { root, outside } = workspace
  const cases = [
    ["src/a.ts", "src/a.ts"],
    ["./src//a.ts", "src/a.ts"],
    ["src/../b.ts", "b.ts"],
    [join(root, "src/a.ts"), "src/a.ts"],
    [root, "."],
    [".", "."],
    [join(outside, "x"), "../x"],
  ] as const
  for (const [typed, recorded] of cases) expect(app.recordedPath(typed)).toBe(recorded)
})
