import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import { createOllama } from "../../../../src/provider/protocols/ollama/server.ts"
import type { ModelServer } from "../../../../src/provider/server.ts"
import { bytes } from "../../../support/model-server/http.ts"
import { never } from "../../provider-kit.ts"
import { limits, ollamaAt } from "./ollama-kit.ts"

type Canned = readonly [status: number, body: Json]

/** A server that says this at each of its paths, and 404 elsewhere. */
function saying(answers: Readonly<Record<string, Canned>>): { server: ModelServer; asked: string[] } {
  const asked: string[] = []
  const server = createOllama({
    endpoint: "http://127.0.0.1:11434",
    async send({ method, path, body }) {
      asked.push(`${method} ${path} ${body ?? ""}`.trim())
      const [status, answer] = answers[path] ?? [404, "404 page not found"]
      return { kind: "answered", status, header: () => null, chunks: pieces(JSON.stringify(answer)) }
    },
  })
  return { server, asked }
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield bytes(text)
}

const tags: Canned = [200, { models: [{ name: "x:latest", digest: "d" }] }]
const loaded: Canned = [200, { models: [{ name: "x:latest", context_length: 4096 }] }]
const show: Canned = [200, { capabilities: ["tools"], model_info: { "llama.context_length": 8192 } }]

describe("the facts of a model", () => {
  test("come from three places", async () => {
    const { server, asked } = saying({ "/api/show": show, "/api/tags": tags, "/api/ps": loaded })
    expect((await server.facts("x", limits, never)).value).toEqual({
      trainedTokens: 8192,
      loadedTokens: 4096,
      declaresTools: true,
      parameters: null,
      digest: "d",
    })
    expect(asked).toEqual(['POST /api/show {"model":"x"}', "GET /api/tags", "GET /api/ps"])
  })

  test("are not asked for twice by who has just asked for the list, and are once that is used up", async () => {
    const { server, asked } = saying({ "/api/show": show, "/api/tags": tags, "/api/ps": loaded })
    await server.models(limits, never)
    expect((await server.facts("x", limits, never)).value).toMatchObject({ loadedTokens: 4096, digest: "d" })
    expect(asked).toEqual(["GET /api/tags", "GET /api/ps", 'POST /api/show {"model":"x"}'])
    asked.length = 0
    await server.facts("x", limits, never)
    expect(asked).toEqual(['POST /api/show {"model":"x"}', "GET /api/tags", "GET /api/ps"])
  })

  test("that a hurried look for models missed are asked for again", async () => {
    let isBusy = true
    using slow = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        const { pathname } = new URL(url)
        if (pathname === "/api/ps" && isBusy) return new Promise<Response>(() => undefined)
        const [status, body] = { "/api/show": show, "/api/tags": tags }[pathname] ?? loaded
        return Response.json(body, { status })
      },
    })
    const server = ollamaAt(`http://127.0.0.1:${slow.port}`)
    const listed = await server.models({ ...limits, wholeMs: 100 }, never)
    expect(listed.value).toEqual([{ name: "x:latest", details: "", isLoaded: null }])
    isBusy = false
    expect((await server.facts("x", limits, never)).value).toMatchObject({ loadedTokens: 4096, digest: "d" })
  })

  test("are only fewer when the server is too old for some of the places, or confused", async () => {
    const old = saying({ "/api/show": show })
    expect((await old.server.facts("x", limits, never)).value).toMatchObject({
      trainedTokens: 8192,
      loadedTokens: null,
      digest: null,
    })
    const confused = saying({ "/api/show": show, "/api/tags": [500, {}], "/api/ps": [200, { models: null }] })
    expect((await confused.server.facts("x", limits, never)).value).toMatchObject({ digest: null })
  })

  test("of a model that is not there are the advice to get it", async () => {
    const { server } = saying({ "/api/show": [404, { error: "model 'x' not found" }] })
    const { failure } = await server.facts("x", limits, never)
    expect(failure).toMatchObject({ kind: "notFound", retryable: false })
    expect(failure?.message).toContain("ollama pull x")
  })

  test("of a model that is handed on to another server are a refusal", async () => {
    const remote: Canned = [200, { remote_host: "https://ollama.com:443", model_info: {} }]
    const { server, asked } = saying({ "/api/show": remote, "/api/tags": tags })
    const { failure } = await server.facts("copied", limits, never)
    expect(failure?.kind).toBe("badRequest")
    expect(failure?.message).toContain("https://ollama.com:443")
    // None of what is asked says anything of the workspace.
    expect(asked.filter(each => each.includes("/api/chat"))).toEqual([])
  })

  test("that are not an object cannot be used", async () => {
    const { server } = saying({ "/api/show": [200, "hello"] })
    expect((await server.facts("x", limits, never)).failure?.kind).toBe("malformed")
  })
})

describe("the list of models", () => {
  test("does not need to know which are loaded", async () => {
    const { server } = saying({ "/api/tags": tags })
    expect((await server.models(limits, never)).value).toEqual([
      { name: "x:latest", details: "", isLoaded: null },
    ])
  })

  test("that is none is reported as a failure", async () => {
    const { server } = saying({ "/api/tags": [200, { models: "many" }] })
    expect((await server.models(limits, never)).failure?.kind).toBe("malformed")
    const { server: other } = saying({})
    const { failure } = await other.models(limits, never)
    expect(failure?.kind).toBe("notFound")
    expect(failure?.message).not.toContain("ollama pull")
  })
})
