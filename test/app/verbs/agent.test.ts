import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { agentVerbs } from "../../../src/app/verbs/agent.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { plainSettings } from "../../../src/domain/pipeline-settings.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { type AgentServiceRoom, agentService } from "../../support/agent/agent-service.ts"
import { check } from "../../support/checker/checker.ts"
import { quietSurface } from "../../support/crash/golden-points.ts"
import { eventually } from "../../support/eventually.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { defaultLimits } from "../../support/pipeline/default-limits.ts"
import { contains, greeting, open, reply } from "../../support/script-replies.ts"
import { tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let room: AgentServiceRoom
beforeEach(() => {
  room = agentService()
})
afterEach(() => room[Symbol.dispose]())

const nobody = { surface: { acceptsPlans: false } }
const plan = reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] })

async function begun(): Promise<string> {
  const started = await eventually("the step has begun", () =>
    room.events.find(({ type }) => type === "step.started"),
  )
  return started.stream
}

describe("run", () => {
  test("drives a new session to its end and leaves the workspace to others", async () => {
    const { sessionId, ...end } = await room.drive(greeting())
    expect(end).toMatchObject({ state: "COMPLETED", exitCode: 0 })
    expect(room.events.map(({ stream }) => stream)).toContain(sessionId)
    expect(room.events.at(0)?.type).toBe("session.started")
    const next = await room.drive([reply.plan({ steps: [open("s1", "READ_FILE")] })], nobody)
    expect([next.exitCode, next.sessionId === sessionId]).toEqual([10, false])
    expect(await check(room.workspace)).toEqual([])
  })

  test("refuses an empty goal before anything is begun", async () => {
    await expect(room.service.run("  ", {} as never, {} as never)).rejects.toMatchObject({
      report: { code: "ACODE-CLI-003" },
    })
    expect(await room.service.sessions()).toBeNull()
  })

  test("refuses while another session works here, and names it", async () => {
    const slow = { ...reply.write("greeting.txt", "hello\n"), fault: { kind: "slow", after_ms: 1_000 } }
    const first = room.drive([plan, slow, reply.finish(), reply.review("approve")])
    const id = await begun()
    const surface = quietSurface("none.json", () => undefined)
    const second = room.service.run("another", { ...plainSettings, limits: defaultLimits }, surface)
    await expect(second).rejects.toMatchObject({
      report: { code: "ACODE-ORCH-008", message: expect.stringContaining(id) },
    })
    expect(await first).toMatchObject({ exitCode: 0 })
  })
})

describe("run --wait", () => {
  test("asks for models when the workspace is its own, and not before", async () => {
    await using server = await startModelServer({ protocol: "ollama", answer: scriptedAnswers(greeting()) })
    using workspace = tempWorkspace({ git: true })
    const configured = { schema_version: "1", model: { endpoint: server.endpoint, provider: "ollama" } }
    mkdirSync(join(workspace.configHome, "acode"), { recursive: true, mode: 0o700 })
    writeFileSync(join(workspace.configHome, "acode", "config.yml"), JSON.stringify(configured))
    const environment = readEnvironment(workspace.environment)
    using wiring = new Wiring({ environment, workspace: workspace.root, configFile: undefined })
    const { leases } = await wiring.store()
    const held = leases.acquire("workspace", processIdentity())
    const settings = { ...plainSettings, limits: defaultLimits }
    const quiet = quietSurface("none", () => undefined)
    let tries = 0
    const stopping = {
      ...quiet.stopping,
      // Asked after each time that the workspace could not be taken.
      get drain() {
        tries += 1
        return quiet.stopping.drain
      },
    }
    const surface = { ...quiet, stopping, model: {}, waits: true, acceptsPlans: true }
    const run = agentVerbs(wiring).run("x", settings, surface)
    await eventually("it has tried twice", () => (tries >= 2 ? tries : null))
    expect(server.requests).toEqual([])
    if (held !== null) leases.release(held)
    expect(await run).toMatchObject({ exitCode: 0 })
    expect(server.requests.length).toBeGreaterThan(0)
  })
})

describe("resume", () => {
  test("goes on with what was recorded, and with what is changed for it", async () => {
    const turns = ["a", "b"].map(path => reply.calls(["read_file", { path }]))
    const replies = [plan, ...turns, ...greeting().slice(1)]
    const end = await room.drive(replies, { limits: { turnsMax: 2 } })
    expect(end.exitCode).toBe(31)
    expect(await room.goOn(end.sessionId, { limits: { turnsMax: 5 } })).toMatchObject({ exitCode: 0 })
    expect(room.events.at(0)?.type).toBe("session.resumed")
  })

  test("passes over what failed only when it is told to", async () => {
    const steps = [open("s1"), open("s2")]
    const task = { write: ["greeting.txt"], steps, acceptance: [contains("greeting.txt", "hello")] }
    const end = await room.drive([
      reply.plan(task),
      reply.giveUp("cannot"),
      reply.write("greeting.txt", "hello\n"),
      reply.finish(),
      reply.review("approve"),
    ])
    expect(end.exitCode).toBe(30)
    expect(await room.goOn(end.sessionId, { skipsFailed: true })).toMatchObject({ exitCode: 0 })
  })

  test("of a session that has ended, or is none, is a usage error", async () => {
    const { sessionId } = await room.drive(greeting())
    await expect(room.goOn(sessionId)).rejects.toMatchObject({ report: { code: "ACODE-ORCH-006" } })
    await expect(room.goOn("ses_unknown")).rejects.toMatchObject({ report: { kind: "usage" } })
  })
})

describe("control", () => {
  test("is told to the process that drives the session", async () => {
    const driving = room.drive([plan, reply.fault("executor", "slow", 60_000)])
    expect(await room.service.control(await begun(), "cancel", "enough")).toBe("told")
    expect(await driving).toMatchObject({ state: "CANCELLED", exitCode: 23 })
    expect(await check(room.workspace)).toEqual([])
  })

  test("ends a resting session itself, with its open question", async () => {
    const { sessionId } = await room.drive(greeting(), nobody)
    expect(await room.service.control(sessionId, "cancel", "no more")).toBe("done")
    expect(await room.service.agentState(sessionId)).toMatchObject({ state: "CANCELLED" })
    expect((await room.service.approvals())?.list({ open: true })).toEqual([])
    await expect(room.service.control(sessionId, "cancel", "again")).rejects.toMatchObject({
      report: { code: "ACODE-ORCH-006" },
    })
    expect(await check(room.workspace)).toEqual([])
  })

  test("does not pause what nobody drives", async () => {
    const { sessionId } = await room.drive(greeting(), nobody)
    await expect(room.service.control(sessionId, "pause", "later")).rejects.toMatchObject({
      report: { code: "ACODE-ORCH-006" },
    })
  })
})

test("the state of a session is what its events say, and there is none of what never was", async () => {
  const { sessionId } = await room.drive(greeting(), nobody)
  expect(await room.service.agentState(sessionId)).toMatchObject({
    state: "AWAITING_APPROVAL",
    plans: [{ version: 1, isApproved: false }],
  })
  expect(await room.service.agentState("ses_unknown")).toBeNull()
})
