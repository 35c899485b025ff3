import { describe, expect } from "bun:test"
import type { ExternalCall, ExternalCalls } from "../../../src/domain/external-calls.ts"
import type { AgentRun } from "../../support/agent/agent-workspace.ts"
import { check } from "../../support/checker/checker.ts"
import type { FakeServer, ModelServerOptions } from "../../support/model-server/contract.ts"
import { refusal } from "../../support/model-server/refusals.ts"
import { requestFacts } from "../../support/model-server/request-facts.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { noAddress, ownAddress } from "../../support/own-address.ts"
import { testWhere } from "../../support/requirement.ts"
import { greeting } from "../../support/script-replies.ts"
import { tcpDoor } from "../../support/tcp-door.ts"
import { type HttpWorkspace, httpWorkspace } from "../../support/workspace/http-workspace.ts"

const key = "oai-key-9Wf4Hs63PbNcY5"
const inBurst = ["--mode", "burst", "--model", "fake"] as const
const elsewhereTest = testWhere(noAddress)

interface Elsewhere extends AsyncDisposable {
  readonly server: FakeServer
  readonly room: HttpWorkspace
  readonly endpoint: string
}

/** A server that is not on this machine, and a workspace whose user has configured it. */
async function elsewhere(answer: ModelServerOptions["answer"] = scripted()): Promise<Elsewhere> {
  await using kept = new AsyncDisposableStack()
  const server = kept.use(await startModelServer({ protocol: "openai", answer, key }))
  const { endpoint } = kept.use(await tcpDoor(server.endpoint, ownAddress))
  const room = kept.use(
    httpWorkspace({ endpoint, variables: { OPENAI_API_KEY: key }, model: { provider: "openai" } }),
  )
  const all = kept.move()
  return { server, room, endpoint, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

const scripted = () => scriptedAnswers(greeting())

/** Refuses to be told the shape of an answer, and now and then to be given tools. */
function fussy(): ModelServerOptions["answer"] {
  const answer = scripted()
  let offers = 0
  return (received, index) => {
    const { schema, tools } = requestFacts("openai", received.body)
    const refused = (words: string) => ({
      acts: [{ send: refusal({ protocol: "openai", flavour: "llamacpp" }, 400, words) }],
    })
    if (schema !== null) return refused("response_format is not supported")
    // The first is the one that tries the model out, the second the planner's.
    if (tools.length > 0 && offers++ > 1) return refused("tools param requires --jinja flag")
    return answer(received, index)
  }
}

function callsOf(run: AgentRun, type: string): readonly ExternalCall[] {
  // as: the events of a run are read as JSON, and this member is declared so.
  return run.data(type).flatMap(data => (data["externalCalls"] as ExternalCalls | undefined)?.calls ?? [])
}

const told = ({ method, url, status, failure }: ExternalCall) => [method, url, status, failure]

describe("what leaves this machine for a model", () => {
  elsewhereTest(
    "is in the log, request by request, also what was asked before there was a session",
    async () => {
      await using place = await elsewhere(fussy())
      const { room, server, endpoint } = place
      const run = await room.ask("--yes=plan", ...inBurst)
      expect(run.exitCode).toBe(4)
      const [models, chat] = [`${endpoint}/v1/models`, `${endpoint}/v1/chat/completions`]
      expect(callsOf(run, "session.started").map(told)).toEqual([
        ["GET", models, 200, null],
        ["POST", chat, 200, null],
      ])
      // The plan, then a refusal of tools and a look at what has changed.
      expect(callsOf(run, "turn.finished").map(told)).toEqual([
        ["POST", chat, 200, null],
        ["POST", chat, 400, null],
        ["GET", models, 200, null],
      ])
      const recorded = [...callsOf(run, "session.started"), ...callsOf(run, "turn.finished")]
      expect(recorded.map(({ url }) => url)).toEqual(server.requests.map(({ path }) => endpoint + path))
      expect(recorded.every(({ at }) => at <= (run.events.at(-1)?.at ?? ""))).toBe(true)

      const shown = await room.plain("session", "show")
      expect(shown.stdout).toContain(`  external calls: GET ${models} (200, 2 times), POST ${chat} (200, 2 `)
      const { pipeline } = JSON.parse((await room.plain("session", "show", "--json")).stdout)
      expect(pipeline.externalCalls).toEqual({ calls: recorded, omittedCount: 0 })
      for (const command of [
        ["session", "validate"],
        ["audit", "verify"],
      ])
        expect((await room.plain(...command)).exitCode).toBe(0)
      expect(await check(room.workspace, { secrets: [key] })).toEqual([])
    },
    30_000,
  )

  elsewhereTest(
    "is recorded by a resume that looks again, and by no other one",
    async () => {
      await using place = await elsewhere()
      const { room, endpoint } = place
      const begun = await room.ask("--yes=plan", ...inBurst, "--plan-only")
      expect(callsOf(begun, "session.started")).toHaveLength(2)
      const again = await room.goOn("--model", "fake", "--yes=plan", "--max-turns", "1")
      expect(callsOf(again, "session.resumed").map(told)).toEqual([
        ["GET", `${endpoint}/v1/models`, 200, null],
      ])
      const end = await room.goOn("--max-turns", "10")
      expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
      expect(end.data("session.resumed")[0]).not.toHaveProperty("externalCalls")
      const { pipeline } = JSON.parse((await room.plain("session", "show", "--json")).stdout)
      expect(pipeline.externalCalls.calls).toHaveLength(place.server.requests.length)
      expect(await check(room.workspace, { secrets: [key] })).toEqual([])
    },
    30_000,
  )

  elsewhereTest(
    "is told by whoever looks at models, in words and as JSON",
    async () => {
      await using place = await elsewhere()
      const { room, endpoint } = place
      const listing = `GET ${endpoint}/v1/models (200)`
      const list = await room.plain("models", "list", "--mode", "burst")
      expect([list.exitCode, list.stdout]).toEqual([
        0,
        expect.stringContaining(`external calls: ${listing}\n`),
      ])
      const rows = JSON.parse((await room.plain("models", "list", "--mode", "burst", "--json")).stdout)
      expect(rows).toMatchObject([
        { id: "fake", externalCalls: { calls: [{ method: "GET", url: `${endpoint}/v1/models` }] } },
      ])
      const probe = await room.plain("models", "probe", "openai/fake", "--mode", "burst")
      expect([probe.exitCode, probe.stdout]).toEqual([
        0,
        expect.stringContaining(`external calls: ${listing}`),
      ])
      const asked = place.server.requests.length
      const probed = JSON.parse(
        (await room.plain("models", "probe", "openai/fake", "--mode", "burst", "--json")).stdout,
      )
      expect(probed.externalCalls.calls).toHaveLength(place.server.requests.length - asked)
      expect(JSON.stringify([rows, probed])).not.toContain(key)
    },
    30_000,
  )

  elsewhereTest(
    "is told also when nothing comes of it, and then there is no session",
    async () => {
      await using place = await elsewhere()
      const { room, endpoint } = place
      const text = `external calls: GET ${endpoint}/v1/models (200)\n`
      for (const args of [
        ["run", "x", "--mode", "burst", "--model", "none"],
        ["models", "probe", "openai/none", "--mode", "burst", "--json"],
      ]) {
        const { exitCode, stderr } = await room.plain(...args)
        expect([exitCode, stderr]).toEqual([4, expect.stringContaining(text)])
      }
      expect((await room.plain("session", "list", "--json")).stdout.trim()).toBe("[]")
    },
    30_000,
  )

  elsewhereTest(
    "is nothing without a consent: doctor asks nobody elsewhere",
    async () => {
      await using place = await elsewhere()
      await place.room.plain("doctor")
      await place.room.plain("run", "x")
      expect(place.server.connections.all).toBe(0)
    },
    30_000,
  )
})
