import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import {
  listedModels,
  modelFacts,
  remoteHost,
} from "../../../../src/provider/protocols/ollama/model-facts.ts"
import { ReplyFault } from "../../../../src/provider/reply-fault.ts"

const qwen = {
  name: "qwen3:8b",
  model: "qwen3:8b",
  size: 5_137_025_024,
  digest: "abc",
  details: { parameter_size: "8.2B", quantization_level: "Q4_K_M" },
}

describe("the models of a server", () => {
  test("are reported with size, quantisation and whether they are loaded", () => {
    const other = { name: "gemma:2b" }
    expect(listedModels({ models: [qwen, other] }, { models: [{ name: "qwen3:8b" }] })).toEqual([
      { name: "qwen3:8b", details: "8.2B, Q4_K_M, 5.1 GB", isLoaded: true },
      { name: "gemma:2b", details: "", isLoaded: false },
    ])
  })

  test("may be loaded or not when the server does not tell", () => {
    expect(listedModels({ models: [qwen] }, null)[0]?.isLoaded).toBeNull()
  })

  test("that run elsewhere say so", () => {
    const remote = { name: "gpt-oss:120b-cloud", size: 384, remote_host: "https://ollama.com:443" }
    expect(listedModels({ models: [remote] }, { models: [] })[0]?.details).toBe(
      "runs at https://ollama.com:443",
    )
  })

  test("are none when there are none", () => {
    expect(listedModels({ models: null }, { models: [] })).toEqual([])
    expect(listedModels({}, {})).toEqual([])
  })

  test("without a usable name are left out, and there are never too many", () => {
    const odd = [{}, { name: "" }, { name: 5 }, { name: "x".repeat(300) }, "word", null]
    expect(listedModels({ models: odd }, null)).toEqual([])
    const many = Array.from({ length: 5000 }, (_, index) => ({ name: `m${index}` }))
    expect(listedModels({ models: many }, null)).toHaveLength(1000)
  })

  test.each([[[]], ["models"], [null], [{ models: "qwen3" }]] as readonly (readonly [Json])[])(
    "cannot be read from %j",
    tags => expect(() => listedModels(tags, null)).toThrow(ReplyFault),
  )
})

describe("the facts of a model", () => {
  const show = {
    details: { parameter_size: "7.6B" },
    model_info: {
      "general.architecture": "qwen2",
      "general.parameter_count": 7_615_616_512,
      "vision.context_length": 77,
      "qwen2.context_length": 32_768,
    },
    capabilities: ["completion", "tools"],
  }

  test("are what the server says", () => {
    const loaded = { models: [{ name: "qwen3:8b", context_length: 4096 }] }
    expect(modelFacts("qwen3:8b", show, { models: [qwen] }, loaded)).toEqual({
      trainedTokens: 32_768,
      loadedTokens: 4096,
      declaresTools: true,
      parameters: 7.6,
      digest: "abc",
    })
  })

  test("are unknown where it says nothing", () => {
    const unknown = {
      trainedTokens: null,
      loadedTokens: null,
      declaresTools: null,
      parameters: null,
      digest: null,
    }
    expect(modelFacts("x", {}, null, null)).toEqual(unknown)
    const empty = { details: {}, model_info: null, capabilities: null }
    expect(modelFacts("x", empty, { models: [] }, { models: [{ name: "x", context_length: 0 }] })).toEqual(
      unknown,
    )
  })

  test("of a model without a tag are those of the latest one, in whatever case", () => {
    const tags = { models: [{ name: "Qwen3:latest", digest: "d" }] }
    const loaded = { models: [{ model: "qwen3:LATEST", context_length: 8192 }] }
    expect(modelFacts("qwen3", {}, tags, loaded)).toMatchObject({ digest: "d", loadedTokens: 8192 })
    expect(modelFacts("qwen3:8b", {}, tags, loaded)).toMatchObject({ digest: null, loadedTokens: null })
    const hosted = { models: [{ name: "host:80/me/x:latest", digest: "h" }] }
    expect(modelFacts("host:80/me/x", {}, hosted, null).digest).toBe("h")
  })

  test("hold the window of the architecture, or the first there is", () => {
    const noName = { model_info: { "llama.context_length": 8192 } }
    expect(modelFacts("x", noName, null, null).trainedTokens).toBe(8192)
    const wrong = { model_info: { "general.architecture": "llama", "llama.context_length": "many" } }
    expect(modelFacts("x", wrong, null, null).trainedTokens).toBeNull()
  })

  test("say that it cannot call tools only when the server lists what it can", () => {
    expect(modelFacts("x", { capabilities: ["completion"] }, null, null).declaresTools).toBe(false)
    expect(modelFacts("x", { capabilities: "tools" }, null, null).declaresTools).toBeNull()
  })

  test.each([
    ["494.03M", 0.494_03],
    ["8B", 8],
    ["1.5T", 1500],
    ["900K", 0.0009],
    ["8x7B", null],
    ["", null],
  ])("have %p parameters as %p thousands of millions", (size, parameters) => {
    const found = modelFacts("x", { details: { parameter_size: size } }, null, null).parameters
    if (parameters === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(parameters, 8)
  })

  test("take the count of the parameters where the size is not written", () => {
    const counted = { details: {}, model_info: { "general.parameter_count": 3_000_000_000 } }
    expect(modelFacts("x", counted, null, null).parameters).toBe(3)
  })

  test("cannot be read from what is not an object", () => {
    expect(() => modelFacts("x", [], null, null)).toThrow(ReplyFault)
  })
})

test("a model that is handed on to another server names it", () => {
  expect(remoteHost({ remote_host: "https://ollama.com:443" })).toBe("https://ollama.com:443")
  expect(remoteHost({ remote_host: "" })).toBeNull()
  expect(remoteHost({})).toBeNull()
})
