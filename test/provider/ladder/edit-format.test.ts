import { expect, test } from "bun:test"
import type { EditFormat, Protocol } from "../../../src/domain/model-choice.ts"
import { decideEditFormat } from "../../../src/provider/ladder/window.ts"

type Case = readonly [
  protocol: Protocol,
  name: string,
  parameters: number | null,
  window: number,
  format: EditFormat,
  why: string,
]

const cases: readonly Case[] = [
  ["anthropic", "claude", null, 8_192, "replace", "models of this protocol are large"],
  ["ollama", "qwen", 1.5, 32_768, "whole", "1.5 thousand million parameters are few"],
  ["ollama", "qwen", 3.9, 131_072, "whole", "3.9 thousand million parameters are few"],
  ["ollama", "qwen", 4, 16_384, "replace", "of middle size"],
  ["ollama", "qwen", 7, 8_192, "whole", "the window is small, which goes with files that are"],
  ["openai", "llama", 14.9, 8_193, "replace", "of middle size"],
  ["openai", "llama", 15, 8_192, "replace", "15 thousand million parameters are enough"],
  ["openai", "llama", 405, 131_072, "replace", "405 thousand million parameters are enough"],
  ["openai", "llama", null, 8_192, "whole", "the window is small, which goes with files that are"],
  ["openai", "llama", null, 32_768, "replace", "the size of the model is not known"],
  ["ollama", "gpt-oss:20b", 20.9, 16_384, "diff", "models of this name are made for it"],
  ["ollama", "gpt-oss:1b", 1, 16_384, "whole", "1 thousand million parameters are few"],
]

test.each(cases)(
  "%s with %s of %p and a window of %d edits by %s",
  (protocol, name, parameters, windowTokens, format, why) => {
    expect(decideEditFormat({ protocol, name, parameters, windowTokens }, "auto")).toEqual({
      value: format,
      note: `edit format: ${format} (${why})`,
    })
  },
)

test.each([
  ["gpt-4.1", "diff"],
  ["gpt-4.1-2025-04-14", "diff"],
  ["gpt-5-codex", "diff"],
  ["openai/gpt-oss-120b", "diff"],
  ["o3", "diff"],
  ["gpt-4.1-nano", "replace"],
  ["o4-mini", "replace"],
  ["gpt-4o", "replace"],
  ["proto3-coder", "replace"],
] as const)("a model named %s edits by %s", (name, format) => {
  const model = { protocol: "openai", name, parameters: null, windowTokens: 65_536 } as const
  expect(decideEditFormat(model, "auto").value).toBe(format)
})

test.each(["whole", "replace", "diff"] as const)("%s is taken where it is configured", asked => {
  const model = { protocol: "anthropic", name: "claude", parameters: 1, windowTokens: 4_096 } as const
  expect(decideEditFormat(model, asked)).toEqual({ value: asked, note: `edit format: ${asked} (configured)` })
})
