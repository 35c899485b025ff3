import { describe, expect, test } from "bun:test"
import type { Json } from "../../../../src/base/canonical.ts"
import {
  errorInText,
  knownError,
  ollamaErrorIn,
  streamError,
} from "../../../../src/provider/protocols/ollama/errors.ts"

const asked = { model: "qwen3:8b", windowTokens: 4096 }

describe("what an error of Ollama means", () => {
  test.each([
    "the input length exceeds the context length",
    "input length (5000 tokens) exceeds the model's maximum context length (4096 tokens)",
    "the prompt is longer than the context length currently available to the model; shorten the prompt",
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
  ])("too long: %s", said => {
    expect(knownError(said, asked)).toMatchObject({ kind: "contextTooLong", retryable: false })
    expect(knownError(said, asked)?.message).toContain("num_ctx is 4096")
  })

  test.each(["model 'qwen3:8b' not found", 'model "qwen3:8b" not found, try pulling it first'])(
    "no such model: %s",
    said => {
      const failure = knownError(said, asked)
      expect(failure).toMatchObject({ kind: "notFound", retryable: false })
      expect(failure?.message).toContain("ollama pull qwen3:8b")
    },
  )

  test("a name that a shell would act on is quoted in the advice", () => {
    const failure = knownError("model not found", { model: "a; rm -rf /", windowTokens: null })
    expect(failure?.message).toContain("ollama pull 'a; rm -rf /'")
  })

  test("a model without tools keeps the words by which it is recognised", () => {
    const said = "registry.ollama.ai/library/gemma:2b does not support tools"
    expect(knownError(said, asked)).toMatchObject({ kind: "badRequest", message: said, retryable: false })
  })

  test("a shape that cannot be forced is a bad request also in the middle of a stream", () => {
    const said = "Failed to initialize samplers: failed to parse grammar"
    expect(streamError(said, asked)).toMatchObject({ kind: "badRequest", retryable: false })
  })

  test("what the model's template refuses is refused again", () => {
    const said =
      "While executing CallExpression at line 189, column 32 in source: Error: Jinja Exception: conversation roles must alternate"
    expect(knownError(said, asked)).toMatchObject({ kind: "badRequest", retryable: false })
  })

  test.each([
    "model requires more system memory (38.6 GiB) than is available (27.1 GiB)",
    "llama-server reported out-of-memory during startup: ErrorOutOfDeviceMemory",
    "llama-server process has terminated: cudaMalloc failed",
    "llama-server process has terminated: ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 123",
  ])("too little memory is nothing to try again: %s", said => {
    expect(knownError(said, asked)).toMatchObject({ kind: "badRequest", retryable: false })
    expect(knownError(said, asked)?.message).toContain("num_ctx")
  })

  test("a full queue is an overload", () => {
    const said = "server busy, please try again.  maximum pending requests exceeded"
    expect(knownError(said, asked)).toMatchObject({ kind: "overloaded", retryable: true })
  })

  test.each([
    "error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input",
    'error parsing tool call: raw=\'{"text":"the model was not found, out of memory\', err=unexpected end of JSON input',
    'llama-server returned invalid tool call arguments for "run": unexpected end of JSON input',
    "llama-server chat error: map[code:500 message:The model produced output that does not match the expected peg-native format type:server_error]",
    "failed to parse JSON: invalid character '}' looking for beginning of value",
    "failed to parse Laguna JSON tool call: unexpected end of JSON input",
    "XML syntax error on line 3: element <function> closed by </parameter>",
    "empty function name",
    "incomplete GLM tool call: EOF",
    "mismatched arg_key and arg_value counts: 2 keys, 1 values",
    "tool 'read' not found",
    "invalid character 'x' after object key:value pair",
    "unexpected end of JSON input",
  ])("a call that the server could not read is the model's fault and may go better: %s", said => {
    expect(knownError(said, asked)).toMatchObject({ kind: "malformed", retryable: true })
  })

  test("other words alone tell nothing, and in a stream that the server gave up", () => {
    expect(knownError("something odd", asked)).toBeNull()
    expect(knownError("model not found", { ...asked, model: null })).toBeNull()
    expect(streamError("something odd", asked)).toMatchObject({ kind: "unavailable", retryable: true })
    expect(streamError("the input length exceeds the context length", asked).kind).toBe("contextTooLong")
  })
})

describe("the words of an error", () => {
  test.each([
    ["text", { error: "no" }, "no"],
    ["an object with a message", { error: { message: "no", code: 5 } }, "no"],
    ["what a runner said, as text", { error: '{"error":{"code":400,"message":"no"}}' }, "no"],
    ["text that only begins like JSON", { error: "{oops" }, "{oops"],
    ["an object without words", { error: { code: 5 } }, null],
    ["an empty text", { error: " " }, null],
    ["a number", { error: 5 }, null],
    ["errors in errors", { error: { error: { error: { error: { error: "deep" } } } } }, null],
    ["no object", ["error"], null],
  ] as readonly (readonly [string, Json, string | null])[])("are found in %s", (_where, body, words) => {
    expect(ollamaErrorIn(body)).toBe(words)
  })

  test("are one line without characters a terminal would act on, and not longer than a few lines", () => {
    expect(ollamaErrorIn({ error: "a\n\u001b[31mb" })).toBe("a ⏎ \\x1b[31mb")
    expect(ollamaErrorIn({ error: "x".repeat(10_000) })?.length).toBe(400)
  })

  test("may be plain text, but not a page for browsers", () => {
    expect(errorInText("404 page not found\n")).toBe("404 page not found")
    expect(errorInText("<html><body>Bad</body></html>")).toBe("")
    expect(errorInText('{"error":"no"}')).toBe("no")
    expect(errorInText("[]")).toBe("")
    expect(errorInText("")).toBe("")
  })
})
