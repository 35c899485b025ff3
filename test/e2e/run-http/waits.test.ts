import { describe, expect, test } from "bun:test"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import type { ModelServerOptions } from "../../support/model-server/contract.ts"
import { encodeReply } from "../../support/model-server/encode.ts"
import { chunked, chunkedHead, whole } from "../../support/model-server/http.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { says } from "../../support/model-server/replies.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting } from "../../support/script-replies.ts"
import { type HttpWorkspace, httpWorkspace } from "../../support/workspace/http-workspace.ts"

/** The script, but for the second request of the session: the server wants to be left alone for so long. */
function busyOnce(seconds: number): ModelServerOptions["answer"] {
  const scripted = scriptedAnswers(greeting())
  const body = JSON.stringify({ error: { message: "slow down", type: "rate_limit" } })
  let asked = 0
  return (received, index) => {
    const isSecond = probeAnswer(received) === null && asked++ === 1
    if (!isSecond) return scripted(received, index)
    return { acts: [{ send: whole(429, body, { "retry-after": String(seconds) }) }] }
  }
}

interface Logged {
  readonly type: string
  readonly at: string
  readonly data: { readonly failure?: unknown }
}

async function logged(room: HttpWorkspace): Promise<readonly Logged[]> {
  const { stdout, exitCode } = await room.plain("session", "logs", "--json")
  // It has not begun.
  if (exitCode !== 0) return []
  return stdout.split("\n").flatMap(line => (line === "" ? [] : [JSON.parse(line) as Logged]))
}

/** The refusal is on record, so that the wait has begun. */
function waiting(room: HttpWorkspace) {
  return eventually("the server was busy", async () =>
    (await logged(room)).find(({ data }) => (data.failure ?? null) !== null),
  )
}

/** The script, but for one request: its answer is begun at once, and goes on word by word for longer than a test. */
function tediousAt(place: number): ModelServerOptions["answer"] {
  const scripted = scriptedAnswers(greeting())
  const words = encodeReply("openai", says("well "), { streams: true }).slice(0, 2)
  const drip = words.flatMap(word => [{ send: chunked(word) }, { waitMs: 100 }])
  let asked = 0
  return (received, index) => {
    if (probeAnswer(received) !== null || asked++ !== place) return scripted(received, index)
    return { acts: [{ send: chunkedHead("text/event-stream") }, ...Array(600).fill(drip).flat()] }
  }
}

describe("a model that is slow, and alive", () => {
  test.each([
    ["stage", 0, 20, "ACODE-ORCH-002", "--planner-timeout", "orchestration.planner_timeout_seconds"],
    ["step", 1, 34, "ACODE-EXEC-006", "--executor-step-timeout", "executor.step_timeout_seconds"],
  ] as const)(
    "is not waited for beyond the time of its %s, and how to give it more is told and helps",
    async (_, place, exitCode, code, flag, key) => {
      await using server = await startModelServer({ protocol: "openai", answer: tediousAt(place) })
      using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
      const late = await room.plain("run", "do what is asked", "--yes=plan", flag, "1")
      expect(late.exitCode).toBe(exitCode)
      const told = new RegExp(
        `did not finish within 1 s \\(${code}\\)\\n→ give it more time: \`acode resume \\w+ ${flag} 2\`; .*\`acode (config set ${key} 2)\``,
      )
      const set = told.exec(late.stdout)?.[1]?.split(" ") ?? []
      expect([set.length, (await room.plain(...set)).exitCode]).toEqual([4, 0])
      await eventually("nobody listens to it any more", () => server.connections.open === 0)
      expect((await room.goOn(flag, "60")).exitCode).toBe(0)
      expect(await check(room.workspace)).toEqual([])
    },
    30_000,
  )
})

describe("a session that waits until a busy server wants to be asked again", () => {
  // Longer than the test may take: nobody has waited for it.
  const longSeconds = 55

  test.each([
    ["Ctrl-C", "session.rested", 130],
    ["pause", "session.rested", 22],
    ["cancel", "session.cancelled", 23],
  ] as const)(
    "does not wait any longer after %s",
    async (how, type, exitCode) => {
      await using server = await startModelServer({ protocol: "openai", answer: busyOnce(longSeconds) })
      using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
      await using running = room.begin("--yes=plan")
      await waiting(room)
      const asked = server.chats.length
      if (how === "Ctrl-C") running.kill("SIGINT")
      else expect((await room.plain(how)).exitCode).toBe(0)
      const run = await running.ended
      expect([run.exitCode, run.stdout.includes(`"type":"${type}"`)]).toEqual([exitCode, true])
      expect(server.chats).toHaveLength(asked)
      expect(await check(room.workspace)).toEqual([])
    },
    30_000,
  )

  test("asks no sooner when it was paused in between, and goes on with the same attempts", async () => {
    await using server = await startModelServer({ protocol: "openai", answer: busyOnce(4) })
    using room = httpWorkspace({ endpoint: server.endpoint, model: { provider: "openai" } })
    {
      await using running = room.begin("--yes=plan")
      await waiting(room)
      running.kill("SIGINT")
      expect((await running.ended).exitCode).toBe(130)
    }
    expect((await room.goOn()).exitCode).toBe(0)
    const events = await logged(room)
    const failed = events.findIndex(({ data }) => (data.failure ?? null) !== null)
    const again = events.findIndex(({ type }, at) => at > failed && type === "model.requested")
    const waitedMs = Date.parse(events[again]?.at ?? "") - Date.parse(events[failed]?.at ?? "")
    expect(waitedMs).toBeGreaterThanOrEqual(4_000)
    expect(await check(room.workspace)).toEqual([])
  }, 30_000)
})
