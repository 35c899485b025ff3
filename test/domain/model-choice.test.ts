import { describe, expect, test } from "bun:test"
import { editFormats, modes, protocols, rungs, shortenedParts } from "../../src/domain/model-choice.ts"
import { ModelSelection, PipelineSettings } from "../../src/domain/pipeline-settings.ts"
import { settingsOf } from "../support/pipeline/pipeline-events.ts"

const stageModel = {
  name: "m",
  rung: "native",
  editFormat: "whole",
  windowTokens: 8_192,
  outputTokensMax: 1_024,
}
const selection = {
  protocol: "ollama",
  endpoint: "http://127.0.0.1:11434",
  consentBy: null,
  planner: stageModel,
  executor: stageModel,
  verifier: stageModel,
  reviewer: stageModel,
}
const isRecorded = (change: object) => ModelSelection().safeParse({ ...selection, ...change }).success

describe("the words about models", () => {
  test("are what is recorded with a session, and no others", () => {
    const settings = settingsOf()
    for (const mode of modes) expect(PipelineSettings().safeParse({ ...settings, mode }).success).toBe(true)
    expect(PipelineSettings().safeParse({ ...settings, mode: "cloud" }).success).toBe(false)
    for (const protocol of protocols) expect(isRecorded({ protocol })).toBe(true)
    for (const rung of rungs) expect(isRecorded({ planner: { ...stageModel, rung } })).toBe(true)
    for (const editFormat of editFormats)
      expect(isRecorded({ executor: { ...stageModel, editFormat } })).toBe(true)
    expect(isRecorded({ protocol: "azure" })).toBe(false)
    expect(isRecorded({ planner: { ...stageModel, rung: "salvage" } })).toBe(false)
  })

  test("name the rungs best first, and no part of a request that must stay whole", () => {
    expect(rungs).toEqual(["native", "constrained", "text"])
    expect(shortenedParts.filter(part => /request|plan|step|task|feedback/.test(part))).toEqual([])
  })
})
