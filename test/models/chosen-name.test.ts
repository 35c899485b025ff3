import { describe, expect, test } from "bun:test"
import type { Protocol } from "../../src/domain/model-choice.ts"
import { openServer } from "../../src/models/open-server.ts"
import { anyModel, namedModel } from "../../src/models/select.ts"
import type { FoundServer } from "../../src/models/server.ts"
import { readEndpoint } from "../../src/provider/transport/endpoint.ts"
import { failureOf } from "../config/config-fixture.ts"
import { unheard } from "../support/external-calls.ts"

async function foundWith(
  models: readonly (string | readonly [name: string, isLoaded: boolean])[] | null,
  protocol: Protocol = "ollama",
  url = "http://127.0.0.1:1",
): Promise<FoundServer> {
  const endpoint = readEndpoint(url)
  if (endpoint.problem !== undefined) throw new Error(endpoint.problem)
  const egress = { mode: "local-only", configured: null, consented: null } as const
  const server = await openServer({ protocol, endpoint, egress, apiKey: null, externalCalls: unheard })
  const listed = models?.map(model => {
    const [name, isLoaded] = typeof model === "string" ? [model, null] : model
    return { name, isLoaded, details: "" }
  })
  return { server, endpoint, models: listed ?? null, named: null, consentBy: null }
}

const wanted = (name: string, written = name) => ({ name, written })

describe("a model that was named", () => {
  test("is taken as the server writes it", async () => {
    const ollama = await foundWith(["Qwen3:latest", "llama:8b"])
    expect(namedModel(wanted("qwen3"), ollama)).toEqual({ name: "Qwen3:latest", why: null })
    expect(namedModel(wanted("LLAMA:8B"), ollama).name).toBe("llama:8b")
    const studio = await foundWith(["openai/gpt-oss-20b", "other"], "openai")
    expect(namedModel(wanted("gpt-oss-20b", "openai/gpt-oss-20b"), studio).name).toBe("openai/gpt-oss-20b")
    expect(namedModel(wanted("other", "openai/other"), studio).name).toBe("other")
  })

  test("and is not there is reported with what is", async () => {
    const report = await failureOf(async () =>
      namedModel(wanted("qwen"), await foundWith(["a", "b"], "openai")),
    )
    expect(report).toMatchObject({ kind: "unavailable", code: "ACODE-MODEL-007" })
    expect(report.message).toBe("the server has no model qwen; it has a, b")
    const many = Array.from({ length: 30 }, (_, index) => `m${index}`)
    const long = await failureOf(async () => namedModel(wanted("x"), await foundWith(many)))
    expect(long.message).toEndWith(", m19, and 10 more")
  })

  test("is believed where the server lists nothing", async () => {
    expect(namedModel(wanted("some"), await foundWith(null, "openai")).name).toBe("some")
  })
})

describe("a model that no one named", () => {
  test("is one that is loaded, the only one, or the first, and never one that cannot answer", async () => {
    const chosen = async (...models: Parameters<typeof foundWith>[0] & object) =>
      anyModel(await foundWith(models))
    expect(await chosen(["a", false], ["b", true])).toEqual({ name: "b", why: "it is loaded there" })
    expect(await chosen("only")).toEqual({ name: "only", why: "the only one there" })
    expect((await chosen("a", "b")).why).toBe("the first of 2 there; --model names another one")
    expect(
      await chosen(["nomic-embed-text:latest", true], "bge-m3", "x:120b-cloud", "y:cloud", "good"),
    ).toEqual({
      name: "good",
      why: "the only one there",
    })
    expect((await chosen("word-cloud", "z")).name).toBe("word-cloud")
  })

  test("is refused where there is none, and on a server elsewhere, where it costs", async () => {
    for (const found of [
      await foundWith([]),
      await foundWith(null),
      await foundWith(["all-minilm"]),
      await foundWith(["claude-x"], "anthropic", "https://api.anthropic.com"),
    ]) {
      const report = await failureOf(() => anyModel(found))
      expect(report).toMatchObject({ code: "ACODE-MODEL-007" })
      expect(report.message).toStartWith("no model is named; ")
    }
  })
})
