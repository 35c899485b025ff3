import { describe, expect, test } from "bun:test"
import {
  type ModelFailureKind,
  type ModelItem,
  type ModelRequest,
  modelFailureKinds,
  type Provider,
} from "../../../src/provider/contract.ts"
import { probeModel } from "../../../src/provider/ladder/probe.ts"
import { failedItem } from "../../../src/provider/reply-fault.ts"
import { call, never, stop, text } from "../provider-kit.ts"
import { block, callText, systemText } from "./ladder-kit.ts"

const asked = { word: "ready", count: 7 }
const callsIt = [call("x", "acode_probe", asked), stop]
const says = (said: string): ModelItem[] => [text(said), stop]
const fails = (kind: ModelFailureKind): ModelItem[] => [failedItem(kind, `it is ${kind}`)]

interface Fake extends Provider {
  readonly requests: ModelRequest[]
}

/** A model whose replies are these, one for each request. */
function modelOf(...replies: readonly (readonly ModelItem[])[]): Fake {
  const requests: ModelRequest[] = []
  return {
    name: "fake",
    requests,
    async *ask(request) {
      requests.push(request)
      yield* replies[requests.length - 1] ?? [failedItem("script", "asked once too often")]
    },
  }
}

function probed(provider: Provider, declaresTools: boolean | null = null, signal = never) {
  return probeModel({ provider, model: "m", declaresTools }, signal)
}

describe("the rung of a model", () => {
  test("is native when it calls the tool as it was asked to", async () => {
    const model = modelOf(callsIt)
    const { probe } = await probed(model)
    expect(probe).toMatchObject({ rung: "native" })
    expect(probe?.notes[0]).toBe("native: works")
    expect(model.requests).toHaveLength(1)
    expect(model.requests[0]).toMatchObject({ model: "m", tools: [{ name: "acode_probe" }], format: null })
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
    const model = modelOf(reply, says(callText("acode_probe", asked)))
    const { probe, ...how } = await probed(model)
    expect([probe?.rung, how]).toEqual(["constrained", { isSure: true }])
    expect(probe?.notes[0]).toStartWith("native: does not work (")
    expect(model.requests[1]).toMatchObject({ tools: [], format: { name: "acode_probe" } })
  })

  test("is constrained at once when the server says that it has no tools", async () => {
    const model = modelOf(says(`<think>hm</think>\n${callText("acode_probe", asked)}\n`))
    const { probe } = await probed(model, false)
    expect(probe?.rung).toBe("constrained")
    expect(probe?.notes[0]).toContain("native: not tried")
    expect(model.requests).toHaveLength(1)
  })

  test.each([
    ["prose", says("Of course!")],
    ["more than the object", says(`${callText("acode_probe", asked)} as you said`)],
    ["another object", says(callText("acode_probe", { word: "steady", count: 7 }))],
    ["a fence", says(`\`\`\`json\n${callText("acode_probe", asked)}\n\`\`\``)],
    ["a refusal by the server", fails("badRequest")],
  ])("is text when the schema gives %s", async (_, reply) => {
    const model = modelOf(says("no"), reply, says(`Yes:\n${block("acode_probe", asked)}`))
    const { probe } = await probed(model)
    expect(probe?.rung).toBe("text")
    expect(probe?.notes.slice(0, 3).map(note => note.split(" (")[0])).toEqual([
      ...["native: does not work", "constrained: does not work", "text: works"],
    ])
    expect(model.requests[2]).toMatchObject({ tools: [], format: null })
    expect(systemText(model.requests[2]?.messages)).toContain("- acode_probe {word: string, count: integer}")
  })

  test("is text with a note when nothing works", async () => {
    const { probe } = await probed(modelOf(says("no"), says("no"), says("no")))
    expect(probe?.rung).toBe("text")
    expect(probe?.notes).toContain("no rung works; text is used nevertheless")
    expect(probe?.notes[2]).toBe('text: does not work (it answered "no")')
  })
})

describe("a failure", () => {
  const ending: readonly ModelFailureKind[] = [
    ...(["unavailable", "auth", "notFound", "rateLimited", "overloaded", "timeout", "aborted"] as const),
  ]
  test.each(ending)("of kind %s ends the probe, wherever it happens", async kind => {
    for (const before of [[], [says("no")], [says("no"), says("no")]]) {
      const model = modelOf(...before, fails(kind))
      expect(await probed(model)).toMatchObject({ failure: { kind } })
      expect(model.requests).toHaveLength(before.length + 1)
    }
  })

  const breaking: readonly ModelFailureKind[] = ["truncated", "malformed"]
  test.each(breaking)("of kind %s is asked about once more, and is forgotten when that works", async kind => {
    const right = says(callText("acode_probe", asked))
    const native = modelOf(fails(kind), callsIt)
    expect(await probed(native)).toMatchObject({ probe: { rung: "native" }, isSure: true })
    expect(native.requests[1]).toEqual(native.requests[0] as ModelRequest)
    const constrained = modelOf(says("no"), fails(kind), right)
    expect(await probed(constrained)).toMatchObject({ probe: { rung: "constrained" }, isSure: true })
    const prose = modelOf(fails(kind), says("no"), right)
    expect(await probed(prose)).toMatchObject({ probe: { rung: "constrained" }, isSure: true })
  })

  test.each(breaking)("of kind %s that comes twice leaves a rung that is not to be kept", async kind => {
    const model = modelOf(fails(kind), fails(kind), says(callText("acode_probe", asked)))
    const { probe, ...how } = await probed(model)
    expect([probe?.rung, how]).toEqual(["constrained", { isSure: false }])
    expect(probe?.notes[0]).toBe(`native: does not work (it is ${kind})`)
    const none = modelOf(says("no"), says("no"), fails(kind), fails(kind))
    expect(await probed(none)).toMatchObject({ probe: { rung: "text" }, isSure: false })
    expect(await probed(modelOf(fails(kind), fails("timeout")))).toMatchObject({
      failure: { kind: "timeout" },
    })
  })

  test.each(modelFailureKinds.filter(kind => ![...ending, ...breaking].includes(kind)))(
    "of kind %s on a rung means that it does not work",
    async kind => {
      const { probe } = await probed(modelOf(fails(kind), says(callText("acode_probe", asked))))
      expect(probe).toEqual({
        rung: "constrained",
        notes: [`native: does not work (it is ${kind})`, "constrained: works"],
      })
    },
  )

  test("is what an abort is", async () => {
    expect(await probed(modelOf(callsIt), null, AbortSignal.abort())).toMatchObject({
      failure: { kind: "aborted" },
    })
  })
})

test("every request of a probe can be told by its last message", async () => {
  const model = modelOf(says("no"), says("no"), says("no"))
  await probed(model)
  expect(model.requests).toHaveLength(3)
  for (const { messages } of model.requests) {
    expect(messages.at(-1)?.role).toBe("user")
    expect(messages.at(-1)?.text).toStartWith("acode probe")
  }
})
