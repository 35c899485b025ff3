import { describe, expect, test } from "bun:test"
import { readNamedModel } from "../../src/models/name.ts"
import { failureOf } from "../config/config-fixture.ts"

describe("the value of --model", () => {
  test.each([
    ["qwen3:8b", null, "qwen3:8b"],
    ["ollama/qwen3:8b", "ollama", "qwen3:8b"],
    ["openai/gpt-oss-20b", "openai", "gpt-oss-20b"],
    ["anthropic/claude-x", "anthropic", "claude-x"],
    // Slashes that are part of a name stay there.
    ["hf.co/somebody/model:q4", null, "hf.co/somebody/model:q4"],
    ["openai/org/model", "openai", "org/model"],
    ["azure/model", null, "azure/model"],
    ["Ollama/model", null, "Ollama/model"],
  ] as const)("%s is provider %p and name %s", (written, provider, name) => {
    expect(readNamedModel(written)).toEqual({ provider, name, written })
  })

  test.each(["", "ollama/", "two words", "a\nb", "x".repeat(201), "ünïcode"])(
    "%j is no name",
    async written => {
      const report = await failureOf(() => readNamedModel(written))
      expect(report).toMatchObject({ kind: "usage", code: "ACODE-CLI-002", where: "--model" })
    },
  )
})
