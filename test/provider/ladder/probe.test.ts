import { describe, expect, test } from "bun:test"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import {
  type ModelFailureKind,
  type ModelItem,
  type ModelRequest,
  modelFailureKinds,
} from "../../../src/provider/contract.ts"
import { failed, modelFailure } from "../../../src/provider/failures.ts"
import { probeModel } from "../../../src/provider/ladder/probe.ts"
import type { ModelFacts, ModelServer, ModelSettings } from "../../../src/provider/server.ts"
import { call, never, stop, text } from "../provider-kit.ts"
import { block, callText, systemText } from "./ladder-kit.ts"

const settings: ModelSettings = {
  ...{ model: "m", windowTokens: null, outputTokensMax: 512, temperature: 0, topP: null, keepAlive: "30m" },
  streams: true,
  limits: { connectMs: 1, firstByteMs: 1, betweenMs: 1, wholeMs: 1 },
}

const asked = { word: "ready", count: 7 }
const callsIt = [call("x", "acode_probe", asked), stop]
const says = (said: string): ModelItem[] => [text(said), stop]
const fails = (kind: ModelFailureKind): ModelItem[] => [failed(kind, `it is ${kind}`)]

interface Fake extends ModelServer {
  readonly requests: ModelRequest[]
  readonly settings: ModelSettings[]
}

/** A server whose replies are these, one for each request. */
function serverOf(
  replies: readonly (readonly ModelItem[])[],
  facts: Partial<ModelFacts> | ModelFailureKind = {},
  protocol: Protocol = "ollama",
): Fake {
  const requests: ModelRequest[] = []
  const given: ModelSettings[] = []
  const none = {
    trainedTokens: null,
    loadedTokens: null,
    declaresTools: null,
    parameters: null,
    digest: null,
  }
  return {
    ...{ protocol, endpoint: "http://127.0.0.1:1", requests, settings: given },
    models: async () => ({ value: [] }),
    facts: async () =>
      typeof facts === "string"
        ? { failure: modelFailure(facts, `facts are ${facts}`) }
        : { value: { ...none, ...facts } },
    provider: with_ => {
      given.push(with_)
      return {
        name: "fake",
        async *ask(request) {
          requests.push(request)
          yield* replies[requests.length - 1] ?? [failed("script", "asked once too often")]
        },
      }
    },
  }
}

function probed(server: ModelServer, configuredWindow: number | null = null, signal = never) {
  return probeModel({ server, settings, configuredWindow }, signal)
}

describe("the rung of a model", () => {
  test("is native when it calls the tool as it was asked to", async () => {
    const server = serverOf([callsIt])
    const { probe } = await probed(server)
    expect(probe).toMatchObject({ rung: "native" })
    expect(probe?.notes[0]).toBe("native: works")
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({ model: "m", tools: [{ name: "acode_probe" }], format: null })
  })

  const notNative: readonly (readonly [why: string, reply: readonly ModelItem[]])[] = [
    ["prints the call", says(callText("acode_probe", asked))],
    ["calls something else", [call("x", "other", asked), stop]],
    ["calls with other arguments", [call("x", "acode_probe", { word: "ready", count: "7" }), stop]],
    ["calls with more arguments", [call("x", "acode_probe", { ...asked, more: 1 }), stop]],
    ["calls twice", [call("x", "acode_probe", asked), call("y", "acode_probe", asked), stop]],
    ["is cut off", [call("x", "acode_probe", asked), { kind: "end", reason: "length" }]],
    ["says nothing", [stop]],
    ["is refused by the server", fails("badRequest")],
  ]
  test.each(notNative)("is constrained when it %s natively, and obeys a schema", async (_, reply) => {
    const server = serverOf([reply, says(callText("acode_probe", asked))])
    const { probe, ...how } = await probed(server)
    expect([probe?.rung, how]).toEqual(["constrained", { isSure: true }])
    expect(probe?.notes[0]).toStartWith("native: does not work (")
    expect(server.requests[1]).toMatchObject({ tools: [], format: { name: "acode_probe" } })
  })

  test("is constrained at once when the server says that it has no tools", async () => {
    const server = serverOf([says(`<think>hm</think>\n${callText("acode_probe", asked)}\n`)], {
      declaresTools: false,
    })
    const { probe } = await probed(server)
    expect(probe?.rung).toBe("constrained")
    expect(probe?.notes[0]).toContain("native: not tried")
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ["prose", says("Of course!")],
    ["more than the object", says(`${callText("acode_probe", asked)} as you said`)],
    ["another object", says(callText("acode_probe", { word: "steady", count: 7 }))],
    ["a fence", says(`\`\`\`json\n${callText("acode_probe", asked)}\n\`\`\``)],
    ["a refusal by the server", fails("badRequest")],
  ])("is text when the schema gives %s", async (_, reply) => {
    const server = serverOf([says("no"), reply, says(`Yes:\n${block("acode_probe", asked)}`)])
    const { probe } = await probed(server)
    expect(probe?.rung).toBe("text")
    expect(probe?.notes.slice(0, 3).map(note => note.split(" (")[0])).toEqual([
      ...["native: does not work", "constrained: does not work", "text: works"],
    ])
    expect(server.requests[2]).toMatchObject({ tools: [], format: null })
    expect(systemText(server.requests[2]?.messages)).toContain("- acode_probe {word: string, count: integer}")
  })

  test("is text with a note when nothing works", async () => {
    const { probe } = await probed(serverOf([says("no"), says("no"), says("no")]))
    expect(probe?.rung).toBe("text")
    expect(probe?.notes).toContain("no way to call tools works; text is used all the same")
    expect(probe?.notes[2]).toBe('text: does not work (it answered "no")')
  })
})

describe("a failure", () => {
  const ending: readonly ModelFailureKind[] = [
    ...(["unavailable", "auth", "notFound", "rateLimited", "overloaded", "timeout", "aborted"] as const),
  ]
  test.each(ending)("of kind %s ends the probe, wherever it happens", async kind => {
    for (const before of [[], [says("no")], [says("no"), says("no")]]) {
      const server = serverOf([...before, fails(kind)])
      expect(await probed(server)).toMatchObject({ failure: { kind } })
      expect(server.requests).toHaveLength(before.length + 1)
    }
    const server = serverOf([], kind)
    expect(await probed(server)).toMatchObject({ failure: { kind, message: `facts are ${kind}` } })
    expect(server.requests).toEqual([])
  })

  const breaking: readonly ModelFailureKind[] = ["truncated", "malformed"]
  test.each(breaking)("of kind %s is asked about once more, and is forgotten when that works", async kind => {
    const right = says(callText("acode_probe", asked))
    const native = serverOf([fails(kind), callsIt])
    expect(await probed(native)).toMatchObject({ probe: { rung: "native" }, isSure: true })
    expect(native.requests[1]).toEqual(native.requests[0] as ModelRequest)
    const constrained = serverOf([says("no"), fails(kind), right])
    expect(await probed(constrained)).toMatchObject({ probe: { rung: "constrained" }, isSure: true })
    const prose = serverOf([fails(kind), says("no"), right])
    expect(await probed(prose)).toMatchObject({ probe: { rung: "constrained" }, isSure: true })
  })

  test.each(breaking)("of kind %s that comes twice leaves a rung that is not to be kept", async kind => {
    const server = serverOf([fails(kind), fails(kind), says(callText("acode_probe", asked))])
    const { probe, ...how } = await probed(server)
    expect([probe?.rung, how]).toEqual(["constrained", { isSure: false }])
    expect(probe?.notes[0]).toBe(`native: does not work (it is ${kind})`)
    const endless = [call("x", "acode_probe", { word: "ready", count: Number.POSITIVE_INFINITY }), stop]
    const again = serverOf([endless, fails(kind), says(callText("acode_probe", asked))])
    expect(await probed(again)).toMatchObject({ probe: { rung: "constrained" }, isSure: false })
    const none = serverOf([says("no"), says("no"), fails(kind), fails(kind)])
    expect(await probed(none)).toMatchObject({ probe: { rung: "text" }, isSure: false })
    expect(await probed(serverOf([fails(kind), fails("timeout")]))).toMatchObject({
      failure: { kind: "timeout" },
    })
  })

  test.each(modelFailureKinds.filter(kind => ![...ending, ...breaking].includes(kind)))(
    "of kind %s on a rung means that it does not work, and of the facts that there are none",
    async kind => {
      const { probe } = await probed(serverOf([fails(kind), says(callText("acode_probe", asked))], kind))
      expect(probe).toMatchObject({ rung: "constrained", windowTokens: 16_384 })
      expect(probe?.notes.slice(0, 2)).toEqual([
        `facts: none (facts are ${kind})`,
        `native: does not work (it is ${kind})`,
      ])
    },
  )

  test("is what an abort is", async () => {
    expect(await probed(serverOf([callsIt]), null, AbortSignal.abort())).toMatchObject({
      failure: { kind: "aborted" },
    })
  })
})

test("the window is asked for while probing, so that the model is loaded once", async () => {
  const server = serverOf([callsIt], { trainedTokens: 131_072 })
  const { probe } = await probed(server, 32_768)
  expect(probe?.windowTokens).toBe(32_768)
  expect(server.settings).toEqual([{ ...settings, windowTokens: 32_768 }])
  expect(probe?.notes).toContain("window: 32768 tokens (configured, and acode asks for that)")
})

test("the edit format follows from the size and the window", async () => {
  const small = await probed(serverOf([callsIt], { parameters: 3 }))
  expect(small.probe?.editFormat).toBe("whole")
  const anthropic = await probed(serverOf([callsIt], {}, "anthropic"))
  expect(anthropic.probe).toMatchObject({ editFormat: "replace", windowTokens: 8_192 })
  expect(anthropic.probe?.notes.at(-1)).toBe("edit format: replace (models of this protocol are large)")
})

test("every request of a probe can be told by its last message", async () => {
  const server = serverOf([says("no"), says("no"), says("no")])
  await probed(server)
  expect(server.requests).toHaveLength(3)
  for (const { messages } of server.requests) {
    expect(messages.at(-1)?.role).toBe("user")
    expect(messages.at(-1)?.text).toStartWith("acode probe")
  }
})
