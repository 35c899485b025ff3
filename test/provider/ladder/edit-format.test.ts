import { expect, test } from "bun:test"
import type { EditFormat, Protocol } from "../../../src/domain/model-choice.ts"
import { decideEditFormat } from "../../../src/provider/ladder/edit-format.ts"

type Case = readonly [
  protocol: Protocol,
  parameters: number | null,
  window: number,
  format: EditFormat,
  why: string,
]

const cases: readonly Case[] = [
  ["anthropic", null, 8_192, "replace", "models of this protocol are large"],
  ["ollama", 1.5, 32_768, "whole", "1.5 thousand million parameters are few"],
  ["ollama", 3.9, 131_072, "whole", "3.9 thousand million parameters are few"],
  ["ollama", 4, 16_384, "replace", "of middle size"],
  ["ollama", 7, 8_192, "whole", "the window is small, which goes with files that are"],
  ["openai", 14.9, 8_193, "replace", "of middle size"],
  ["openai", 15, 8_192, "replace", "15 thousand million parameters are enough"],
  ["openai", 405, 131_072, "replace", "405 thousand million parameters are enough"],
  ["openai", null, 8_192, "whole", "the window is small, which goes with files that are"],
  ["openai", null, 32_768, "replace", "the size of the model is not known"],
]

test.each(cases)("%s with %p and a window of %d edits by %s", (protocol, parameters, window, format, why) => {
  expect(decideEditFormat(protocol, parameters, window)).toEqual({
    value: format,
    note: `edit format: ${format} (${why})`,
  })
})
