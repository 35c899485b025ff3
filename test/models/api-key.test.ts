import { describe, expect, test } from "bun:test"
import { readEnvironment } from "../../src/config/environment.ts"
import type { Protocol } from "../../src/domain/model-choice.ts"
import { apiKeyFor } from "../../src/models/destination.ts"
import type { Endpoint } from "../../src/provider/transport/contract.ts"
import { readEndpoint } from "../../src/provider/transport/endpoint.ts"
import { failureOf } from "../config/config-fixture.ts"
import { configWith } from "./model-room.ts"

const keys = { ANTHROPIC_API_KEY: "key-of-a", OPENAI_API_KEY: "key-of-o" }
const local = "http://127.0.0.1:1234"

function endpointOf(text: string): Endpoint {
  const read = readEndpoint(text)
  if (read.problem !== undefined) throw new Error(read.problem)
  return read
}

function keyFor(
  protocol: Protocol,
  endpoint: string,
  configured: string | null,
  variables: Readonly<Record<string, string>> = keys,
) {
  const config = configWith({ endpoint: configured })
  return apiKeyFor(protocol, endpointOf(endpoint), config, readEnvironment(variables))
}

describe("an API key", () => {
  test("is its provider's", () => {
    expect(keyFor("anthropic", "https://api.anthropic.com", null)).toBe("key-of-a")
    expect(keyFor("openai", "https://api.openai.com", null)).toBe("key-of-o")
    expect(keyFor("ollama", "http://gpu-box:11434", null)).toBeNull()
  })

  test("is given to a server of this machine only where it is configured", () => {
    expect(keyFor("openai", local, null)).toBeNull()
    expect(keyFor("openai", local, "http://127.0.0.1:9")).toBeNull()
    expect(keyFor("openai", local, `${local}/`)).toBe("key-of-o")
    expect(keyFor("anthropic", local, null)).toBeNull()
    expect(keyFor("anthropic", local, local)).toBe("key-of-a")
  })

  test("may be missing on this machine, and nowhere else", async () => {
    expect(keyFor("openai", local, local, {})).toBeNull()
    for (const [protocol, endpoint, variable] of [
      ["anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"],
      ["openai", "https://api.openai.com", "OPENAI_API_KEY"],
    ] as const) {
      const report = await failureOf(() => keyFor(protocol, endpoint, null, {}))
      expect(report).toMatchObject({ code: "ACODE-MODEL-008", where: endpoint, hint: `set ${variable}` })
    }
  })
})
