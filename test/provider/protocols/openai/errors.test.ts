import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import { errorFailure, openAiErrorIn } from "../../../../src/provider/protocols/openai/errors.ts"

const asked = { model: "qwen", withoutSecret: (text: string) => text.replaceAll("sk-secret", "[api key]") }

function answer(status: number, headers: Readonly<Record<string, string>> = {}) {
  return { status, header: (name: string) => headers[name] ?? null, nowMs: 0 }
}

function failure(status: number | null, body: Json, headers: Readonly<Record<string, string>> = {}) {
  return errorFailure(openAiErrorIn(body), status === null ? null : answer(status, headers), asked)
}

describe("what a server says", () => {
  test("is found wherever servers write it", () => {
    const bodies: readonly Json[] = [
      { error: { message: "no", type: "x", code: 400 } },
      { error: "no" },
      { detail: "no" },
      { detail: [{ loc: ["body"], msg: "no", type: "missing" }, { loc: [] }] },
      { object: "error", message: "no", type: "BadRequestError", param: null, code: 400 },
      { code: 500, message: "no", type: "server_error" },
    ]
    for (const body of bodies) expect(openAiErrorIn(body)).toMatchObject({ isKnown: true, message: "no" })
  })

  test("is the text itself where it is not JSON", () => {
    expect(openAiErrorIn(" Bad Gateway\n")).toMatchObject({ isKnown: false, message: "Bad Gateway" })
    expect(failure(502, "<html>Bad Gateway</html>")).toMatchObject({
      kind: "unavailable",
      message: "the model server answered 502: <html>Bad Gateway</html>",
    })
  })

  test("may be nothing, or nonsense", () => {
    for (const body of [null, 1, [], {}, { error: 1 }, { error: null }, { error: {} }, { detail: {} }])
      expect(failure(500, body)).toMatchObject({ kind: "unavailable" })
    expect(failure(null, { error: {} }).message).toBe("the model server gave up: it does not say why")
  })

  test("is cut and made safe for a terminal, and the key goes before it is cut", () => {
    const { message } = failure(400, { error: `\u001b[31m${"x".repeat(380)}sk-secret${"y".repeat(2000)}` })
    expect(message.length).toBeLessThan(600)
    expect(message).not.toContain("\u001b")
    expect(message).not.toContain("sk-")
  })
})

describe("a request that is too long", () => {
  const told: readonly (readonly [server: string, status: number | null, body: Json])[] = [
    [
      "llama.cpp",
      400,
      {
        error: {
          code: 400,
          message:
            "request (4476 tokens) exceeds the available context size (4096 tokens), try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 4476,
          n_ctx: 4096,
        },
      },
    ],
    [
      "llama.cpp while it answers",
      null,
      { error: { code: 500, message: "Context size has been exceeded." } },
    ],
    [
      "OpenAI",
      400,
      { error: { message: "too long", type: "invalid_request_error", code: "context_length_exceeded" } },
    ],
    [
      "vLLM before",
      400,
      {
        object: "error",
        message: "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens",
        type: "BadRequestError",
        code: 400,
      },
    ],
    [
      "vLLM 0.16",
      400,
      {
        error: {
          message: "You passed 1015 input tokens. However, the model's context length is only 1024 tokens",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      },
    ],
    [
      "vLLM's engine",
      400,
      { error: { message: "The decoder prompt (length 9) is longer than the maximum model length of 8." } },
    ],
    [
      "LM Studio",
      400,
      {
        error:
          "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
      },
    ],
    [
      "LM Studio while it answers",
      null,
      {
        error: {
          message:
            "Reached context length of 4096 tokens with model (arch: qwen3) that does not currently support mid-generation context overflow.",
        },
      },
    ],
    [
      "LM Studio since",
      400,
      { error: "The number of tokens to keep from the initial prompt is greater than the context length." },
    ],
    [
      "LM Studio 0.4.21 in a stream",
      null,
      {
        error: {
          message:
            "Input does not fit in context length. The input has 31430 tokens, but the context length only supports 30000 tokens.",
        },
        message: "Input does not fit in context length.",
      },
    ],
  ]
  for (const [server, status, body] of told)
    test(`is known as ${server} tells it`, () => {
      expect(failure(status, body)).toMatchObject({ kind: "contextTooLong", retryable: false })
    })

  test("is reported with the numbers of a server that counts", () => {
    const body = {
      error: { type: "exceed_context_size_error", message: "no", n_prompt_tokens: 10, n_ctx: 8 },
    }
    expect(failure(400, body).message).toBe(
      "the request is longer than the model's window (10 tokens, the window has 8): no",
    )
  })

  test("is not what a limit of the rate says", () => {
    const body = { error: { message: "tokens per minute exceeded for context length 8192", type: "tokens" } }
    expect(failure(429, body, { "retry-after": "7" })).toMatchObject({
      kind: "rateLimited",
      retryAfterMs: 7000,
    })
  })
})

describe("a model that is not there", () => {
  test("is known as servers tell it, with advice", () => {
    const told: readonly (readonly [number, Json])[] = [
      [404, { error: { message: "The model `qwen` does not exist.", type: "NotFoundError", code: 404 } }],
      [404, { error: { message: "gone", type: "invalid_request_error", code: "model_not_found" } }],
      [400, { error: { message: "model 'qwen' not found", type: "invalid_request_error", code: 400 } }],
      [400, { error: { message: "model is not loaded", type: "invalid_request_error", code: 400 } }],
      [
        400,
        { error: { message: "No models loaded. Please load a model in the developer page", code: null } },
      ],
      [400, { error: "Invalid model identifier 'qwen'. There are no downloaded llm models." }],
      [500, { error: "Model unloaded." }],
    ]
    for (const [status, body] of told) {
      const { kind, message } = failure(status, body)
      expect({ body, kind }).toEqual({ body, kind: "notFound" })
      expect(message).toContain("load qwen there, or choose another one")
    }
  })

  test("a path that is not there is not found either, also where LM Studio says it with status 200", () => {
    expect(failure(404, { detail: "Not Found" }).kind).toBe("notFound")
    expect(failure(null, { error: "Unexpected endpoint or method. (POST /chat/completions)" })).toMatchObject(
      {
        kind: "notFound",
        message: expect.stringContaining("see whether the endpoint is right"),
      },
    )
  })
})

describe("tools that a server does not accept", () => {
  test("are a bad request also where the server calls it its own failure", () => {
    const told: readonly (readonly [number, string])[] = [
      [500, "tools param requires --jinja flag"],
      [500, "Unsupported param: tools"],
      [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
      [400, "registry.ollama.ai/library/phi3 does not support tools"],
      [400, "tool calling is not supported by this model"],
    ]
    for (const [status, message] of told)
      expect(failure(status, { error: { message } })).toEqual({
        kind: "badRequest",
        message: `the server does not accept tools for this model: ${message}`,
        retryable: false,
        retryAfterMs: null,
      })
  })
})

describe("a request that the model's template refuses", () => {
  const alternate =
    "\n------------\nWhile executing CallExpression at line 189, column 32 in source:\n...== 0) %}↵ {{- raise_exception('After the optional system message, con...\n ^\nError: Jinja Exception: After the optional system message, conversation roles must alternate"
  const told: readonly (readonly [server: string, status: number | null, body: Json])[] = [
    ["llama.cpp", 500, { error: { code: 500, message: alternate, type: "server_error" } }],
    [
      "llama.cpp before",
      500,
      { error: { code: 500, message: "Value is not callable: null at row 1, column 18:\n{%- if x() %}" } },
    ],
    [
      "llama.cpp about messages",
      500,
      {
        error: {
          code: 500,
          message: "Failed to parse messages: Missing tool call type",
          type: "server_error",
        },
      },
    ],
    [
      "LM Studio while it answers",
      null,
      {
        error: {
          message:
            'Error rendering prompt with jinja template: "Cannot call something that is not a function: got ObjectValue".',
        },
      },
    ],
  ]
  for (const [server, status, body] of told)
    test(`is a bad request also as ${server} tells it`, () => {
      expect(failure(status, body)).toMatchObject({
        kind: "badRequest",
        message: expect.stringContaining("the model's template refuses the request: "),
        retryable: false,
      })
    })
})

describe("a shape that the server cannot force", () => {
  test("is a bad request wherever it is reported, so that the shape goes into the prompt instead", () => {
    const told: readonly (readonly [number | null, string])[] = [
      [400, "Failed to initialize samplers: failed to parse grammar"],
      [null, "Failed to initialize samplers: failed to parse grammar"],
      [
        500,
        'Engine protocol predict request returned 400: {"error":{"code":400,"message":"Failed to initialize samplers: failed to parse grammar","type":"invalid_request_error"}}',
      ],
      [null, "JSON schema conversion failed:\nUnrecognized schema: {}"],
      [500, 'Grammar error: Unimplemented keys: ["propertyNames"]'],
      [null, "The provided JSON schema contains features not supported by xgrammar."],
    ]
    for (const [status, message] of told)
      expect({ message, kind: failure(status, { error: { message } }).kind }).toEqual({
        message,
        kind: "badRequest",
      })
  })
})

describe("everything else", () => {
  test("is what its status says", () => {
    const kinds: readonly (readonly [number, string])[] = [
      [400, "badRequest"],
      [401, "auth"],
      [403, "auth"],
      [429, "rateLimited"],
      [500, "unavailable"],
      [503, "overloaded"],
    ]
    for (const [status, kind] of kinds)
      expect(failure(status, { error: { message: "no" } }).kind).toBe(kind as never)
  })

  test("is judged by its number or its type where there is no status any more", () => {
    const told: readonly (readonly [Json, string])[] = [
      [{ message: "x", code: 503, type: "unavailable_error" }, "overloaded"],
      [{ message: "x", type: "rate_limit_error" }, "rateLimited"],
      [{ message: "x", code: "insufficient_quota" }, "rateLimited"],
      [{ message: "x", type: "overloaded_error" }, "overloaded"],
      [{ message: "x", type: "authentication_error" }, "auth"],
      [{ message: "x", code: "invalid_api_key" }, "auth"],
      [{ message: "x", type: "invalid_request_error" }, "badRequest"],
      [{ message: "x", type: "BadRequestError", code: 400 }, "badRequest"],
      [{ message: "The model has crashed without additional information." }, "unavailable"],
      [{ message: "x", code: 99 }, "unavailable"],
    ]
    for (const [error, kind] of told)
      expect({ error, kind: failure(null, { error }).kind }).toEqual({ error, kind: kind as never })
  })
})
