import { describe, expect, test } from "bun:test"
import { settingsFor } from "../../src/provider/reply-settings.ts"
import type { ModelSettings } from "../../src/provider/server.ts"
import { requestOf } from "./provider-kit.ts"

const limits = { connectMs: 1, firstByteMs: 300, betweenMs: 60, wholeMs: 1_000 }
const settings: ModelSettings = {
  model: "m",
  windowTokens: 8_192,
  outputTokensMax: 2_048,
  temperature: null,
  topP: null,
  keepAlive: "30m",
  streams: true,
  limits,
}

describe("how a model is asked for one reply", () => {
  test("is what is fixed for the session", () => {
    expect(settingsFor(requestOf(), settings)).toEqual(settings)
  })

  test("is with another length where the request says one", () => {
    expect(settingsFor(requestOf({ outputTokensMax: 4_096 }), settings).outputTokensMax).toBe(4_096)
  })

  test("is with the patience that calls need", () => {
    const tools = [{ name: "t", description: "", parameters: {} }]
    expect(settingsFor(requestOf({ tools }), settings).limits.betweenMs).toBe(300)
  })
})
