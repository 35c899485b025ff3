import { expect, test } from "bun:test"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import { decideWindow } from "../../../src/provider/ladder/window.ts"

type Case = readonly [
  protocol: Protocol,
  loaded: number | null,
  trained: number | null,
  configured: number | null,
  window: number,
  source: string,
]

const cases: readonly Case[] = [
  ["ollama", 32_768, 131_072, null, 32_768, "the server has it loaded with that"],
  // Another program loaded it with less than acode needs.
  ["ollama", 2_048, 131_072, null, 16_384, "acode asks for that"],
  ["ollama", 2_048, null, null, 16_384, "acode asks for that"],
  ["ollama", 2_048, 8_192, null, 8_192, "the model was trained for no more"],
  ["ollama", 8_192, 8_192, null, 8_192, "the server has it loaded with that"],
  ["ollama", 32_768, 131_072, 8_192, 8_192, "configured, and acode asks for that"],
  ["ollama", 4_096, 131_072, 32_768, 32_768, "configured, and acode asks for that"],
  ["openai", 32_768, 131_072, 8_192, 8_192, "configured"],
  ["openai", 8_192, 131_072, 32_768, 8_192, "the server has it loaded with that"],
  ["ollama", null, 131_072, null, 16_384, "acode asks for that"],
  ["ollama", null, null, null, 16_384, "acode asks for that"],
  ["ollama", null, 131_072, 65_536, 65_536, "configured, and acode asks for that"],
  ["ollama", null, 8_192, 65_536, 8_192, "the model was trained for no more"],
  ["ollama", null, 2_048, null, 2_048, "the model was trained for no more"],
  ["ollama", 0, 0, null, 16_384, "acode asks for that"],
  ["openai", null, 131_072, 20_000, 20_000, "configured"],
  ["openai", null, 131_072, null, 8_192, "assumed"],
  ["openai", null, 4_096, null, 4_096, "the model was trained for no more"],
  ["openai", null, null, null, 8_192, "assumed"],
  ["anthropic", null, 200_000, null, 8_192, "assumed"],
  ["anthropic", null, null, 200_000, 200_000, "configured"],
]

test.each(cases)(
  "%s with %p loaded, %p trained and %p configured has %d",
  (protocol, loadedTokens, trainedTokens, configured, window, source) => {
    const { value, note } = decideWindow(protocol, { loadedTokens, trainedTokens }, configured)
    expect(value).toBe(window)
    expect(note).toStartWith(`window: ${window} tokens (${source}`)
  },
)
