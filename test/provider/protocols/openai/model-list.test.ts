import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import {
  factsOf,
  hasAllFacts,
  listed,
  openAiModels,
} from "../../../../src/provider/protocols/openai/model-list.ts"

const unknown = {
  trainedTokens: null,
  loadedTokens: null,
  declaresTools: null,
  parameters: null,
  digest: null,
}

/** Of a model whose server tells something of its content. */
const marked = { digest: expect.stringMatching(/^[0-9a-f]{64}$/) }

const llama: Json = {
  object: "list",
  data: [
    {
      id: "qwen.gguf",
      aliases: ["qwen"],
      owned_by: "llamacpp",
      meta: { n_ctx: 8192, n_ctx_train: 32_768, n_params: 7_615_616_512, ftype: "Q4_K - Medium" },
    },
  ],
}

const vllm: Json = { data: [{ id: "Qwen/Qwen3", owned_by: "vllm", max_model_len: 40_960 }] }

const plain: Json = { data: [{ id: "a" }, { id: "b" }, { id: "embedder" }] }

const studio: Json = {
  data: [
    {
      id: "a",
      type: "llm",
      arch: "llama",
      quantization: "Q4_K_M",
      state: "loaded",
      max_context_length: 131_072,
      loaded_context_length: 4096,
      capabilities: ["tool_use"],
    },
    {
      id: "b",
      type: "vlm",
      arch: "qwen2_vl",
      state: "not-loaded",
      max_context_length: 32_768,
      capabilities: [],
    },
    { id: "embedder", type: "embeddings", state: "not-loaded" },
  ],
}

function facts(model: string, body: Json, more: { readonly studio?: Json; readonly props?: Json } = {}) {
  return factsOf(openAiModels(body, more.studio ?? null) ?? [], model, more.props ?? null)
}

describe("facts", () => {
  test("of llama.cpp are in its list, and what its own page says goes before", () => {
    const fromList = {
      ...unknown,
      ...marked,
      trainedTokens: 32_768,
      loadedTokens: 8192,
      parameters: 7.615616512,
    }
    expect(facts("qwen.gguf", llama)).toEqual(fromList)
    const props = {
      default_generation_settings: { n_ctx: 4096 },
      chat_template_caps: { supports_tools: true, supports_tool_calls: true },
    }
    expect(facts("qwen.gguf", llama, { props })).toEqual({
      ...fromList,
      loadedTokens: 4096,
      declaresTools: true,
    })
  })

  test("of llama.cpp are those of its one model, whatever name it is called by", () => {
    expect(facts("qwen", llama).loadedTokens).toBe(8192)
    expect(facts("anything", llama).loadedTokens).toBe(8192)
  })

  test("of llama.cpp say no to tools when its template can only half of it", () => {
    const page = (tools: Json, calls: Json): Json => ({
      chat_template_caps: { supports_tools: tools, supports_tool_calls: calls },
    })
    expect(facts("qwen", llama, { props: page(true, false) }).declaresTools).toBe(false)
    expect(facts("qwen", llama, { props: page(false, true) }).declaresTools).toBe(false)
    expect(facts("qwen", llama, { props: page("yes", true) }).declaresTools).toBeNull()
  })

  test("of vLLM are the window it was started with", () => {
    expect(facts("Qwen/Qwen3", vllm)).toEqual({ ...unknown, loadedTokens: 40_960 })
  })

  test("of LM Studio are in a list of its own", () => {
    expect(facts("a", plain, { studio })).toEqual({
      ...unknown,
      ...marked,
      trainedTokens: 131_072,
      loadedTokens: 4096,
      declaresTools: true,
    })
    expect(facts("b", plain, { studio })).toEqual({
      ...unknown,
      ...marked,
      trainedTokens: 32_768,
      declaresTools: false,
    })
  })

  test("of a model that is not listed are not known, except by a page about the only one", () => {
    expect(facts("other", vllm)).toEqual(unknown)
    expect(facts("other", plain, { studio })).toEqual(unknown)
    expect(facts("a", plain)).toEqual(unknown)
  })

  test("that make no sense are not known", () => {
    for (const nonsense of [0, -1, 1.5, "8192", null, 1e12, {}]) {
      expect(facts("m", { data: [{ id: "m", max_model_len: nonsense }] }).loadedTokens).toBeNull()
      expect(
        facts("m", { data: [{ id: "m", meta: { n_params: nonsense, n_ctx: nonsense } }] }),
      ).toMatchObject({
        loadedTokens: null,
      })
    }
    for (const props of [[], "x", 1, { default_generation_settings: [] }, { error: "Unexpected endpoint" }])
      expect(facts("a", plain, { props })).toEqual(unknown)
    expect(facts("m", { data: [{ id: "m", meta: { n_params: -1 } }] }).parameters).toBeNull()
  })
})

describe("the substitute for a digest", () => {
  const meta = {
    n_ctx: 8192,
    n_ctx_train: 32_768,
    n_params: 7_615_616_512,
    size: 4_677_120_000,
    n_vocab: 151_936,
  }
  const list = (more: { readonly [key: string]: Json } = {}): Json => ({
    data: [{ id: "m", owned_by: "llamacpp", created: 1, meta: { ...meta, ...more } }],
  })
  const page = { model_path: "/models/a.gguf", chat_template: "{{ messages }}", total_slots: 1 }
  const digest = (body: Json, props: Json = page, own?: Json) =>
    facts("m", body, { props, ...(own === undefined ? {} : { studio: own }) }).digest

  test("changes with another model or another template under the same name", () => {
    const named: Json = { data: [{ id: "m" }] }
    const inStudio = (quantization: string): Json => ({ data: [{ id: "m", arch: "llama", quantization }] })
    const all = [
      digest(list()),
      digest(list({ n_params: 1_543_714_304 })),
      digest(list({ size: 8_100_000_000 })),
      digest(list(), { ...page, model_path: "/models/b.gguf" }),
      digest(list(), { ...page, chat_template: "{{ tools }}" }),
      digest({ data: [{ id: "m", root: "org/one", max_model_len: 4096 }] }),
      digest({ data: [{ id: "m", root: "org/two", max_model_len: 4096 }] }),
      digest(named, null, inStudio("Q4_K_M")),
      digest(named, null, inStudio("Q8_0")),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test("is the same however the model is loaded, and when the server has been started again", () => {
    const later = { data: [{ id: "m", owned_by: "llamacpp", created: 2, meta: { ...meta, n_ctx: 4096 } }] }
    const slots = { ...page, total_slots: 4, default_generation_settings: { n_ctx: 4096 } }
    expect(digest(later, slots)).toBe(digest(list()))
    const inStudio = (more: { readonly [key: string]: Json }): Json => ({
      data: [{ id: "m", arch: "llama", ...more }],
    })
    const named: Json = { data: [{ id: "m" }] }
    expect(digest(named, null, inStudio({ state: "loaded", loaded_context_length: 4096 }))).toBe(
      digest(named, null, inStudio({ state: "not-loaded" })),
    )
  })

  test("is nothing where nothing can be compared", () => {
    for (const value of [null, [], {}, true, Number.POSITIVE_INFINITY])
      expect(facts("m", { data: [{ id: "m", root: value, meta: { n_params: value } }] }).digest).toBeNull()
  })
})

describe("a list of models", () => {
  test("contains the facts that a user wants", () => {
    expect(listed(openAiModels(llama, null) ?? [])).toEqual([
      { name: "qwen.gguf", details: "7.6B, Q4_K - Medium, window 8192", isLoaded: true },
    ])
    expect(listed(openAiModels(vllm, null) ?? [])).toEqual([
      { name: "Qwen/Qwen3", details: "window 40960", isLoaded: true },
    ])
    expect(listed(openAiModels(plain, studio) ?? [])).toEqual([
      { name: "a", details: "llama, Q4_K_M, window 4096", isLoaded: true },
      { name: "b", details: "qwen2_vl", isLoaded: false },
    ])
  })

  test("is names alone where nothing else is known", () => {
    expect(listed(openAiModels({ data: [{ id: "a" }] }, null) ?? [])).toEqual([
      { name: "a", details: "", isLoaded: null },
    ])
  })

  test("knows what a llama.cpp with many models has loaded", () => {
    const body: Json = {
      data: [
        { id: "a", owned_by: "llamacpp", status: { value: "loaded" } },
        { id: "b", owned_by: "llamacpp", status: { value: "unloaded" } },
      ],
    }
    expect(listed(openAiModels(body, null) ?? []).map(({ isLoaded }) => isLoaded)).toEqual([true, false])
  })

  test("leaves out what has no name, and the same name twice", () => {
    const body: Json = {
      data: [{ id: "a" }, { id: "" }, {}, null, 1, { id: 1 }, { id: "a" }, { id: "x".repeat(301) }],
    }
    expect(openAiModels(body, null)?.map(({ name }) => name)).toEqual(["a"])
  })

  test("is bounded", () => {
    const data = Array.from({ length: 1500 }, (_, index) => ({ id: `m${index}` }))
    expect(openAiModels({ data }, null)).toHaveLength(1000)
  })

  test("is empty, or is none", () => {
    expect(openAiModels({ data: [] }, null)).toEqual([])
    for (const body of [null, [], {}, { data: null }, { data: {} }, "x"])
      expect(openAiModels(body, null)).toBeNull()
  })

  test("is looked for elsewhere only where it does not tell everything", () => {
    expect(hasAllFacts(vllm)).toBe(true)
    expect(hasAllFacts(llama)).toBe(true)
    expect(hasAllFacts(plain)).toBe(false)
    expect(hasAllFacts({ data: [] })).toBe(false)
  })
})
