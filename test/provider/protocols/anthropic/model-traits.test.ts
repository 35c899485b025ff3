import { describe, expect, test } from "bun:test"
import { traitsOf } from "../../../../src/provider/protocols/anthropic/request.ts"

describe("what a model takes", () => {
  test.each([
    "claude-3-haiku-20240307",
    "claude-3-7-sonnet-20250219",
    "claude-3-5-sonnet-latest",
    "claude-sonnet-4-20250514",
    "claude-opus-4-1",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5",
    "claude-sonnet-4-6",
    "anthropic.claude-opus-4-6-v1",
  ])("%s takes sampling and force", model => {
    expect(traitsOf(model)).toEqual({ takesForcedTools: true, takesSampling: true })
  })

  test.each([
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-opus-5-20260801",
  ])("%s takes force and no sampling", model => {
    expect(traitsOf(model)).toEqual({ takesForcedTools: true, takesSampling: false })
  })

  test.each([
    "claude-fable-5-1",
    "claude-mythos-5-1",
    "claude-opus-5-5",
    "claude-opus-6",
    "claude-next",
    "Claude-Opus-5-5",
  ])("%s takes neither", model => {
    expect(traitsOf(model)).toEqual({ takesForcedTools: false, takesSampling: false })
  })

  test.each(["qwen3-coder", "glm-4.6", ""])("%p of another maker is asked in the plain way", model => {
    expect(traitsOf(model)).toEqual({ takesForcedTools: true, takesSampling: true })
  })
})
