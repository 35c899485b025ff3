import { describe, expect, test } from "bun:test"
import type { EditFormat } from "../../../src/domain/model-choice.ts"
import type { PipelineState, StepState, Turn, TurnCall } from "../../../src/domain/pipeline/state.ts"
import {
  callOf,
  planVersion,
  selectionOf,
  smallPlan,
  stages,
  stateOf,
  stepsOf,
  turnOf,
  viewOf,
} from "./support.ts"

const { executor } = stages
const [present] = stepsOf(planVersion(smallPlan).plan)

function stepWith(action: string): StepState {
  if (present === undefined) throw new Error("the plan has no step")
  return { ...present, step: { ...present.step, kind: "open", action } }
}

function stateWith(editFormat: EditFormat | null, turns: readonly Turn[] = []): PipelineState {
  const state = stateOf({ turns })
  const selection = editFormat === null ? null : selectionOf({ editFormat })
  return { ...state, settings: { ...state.settings, selection } }
}

function offered(editFormat: EditFormat | null, turns: readonly Turn[] = [], action = "GENERATE_CODE") {
  return executor.offered(viewOf(stateWith(editFormat, turns), { step: stepWith(action) }))
}

const editing = (tools: ReturnType<typeof offered>) =>
  tools.map(({ name }) => name).filter(name => /^(write|create|modify)_file$/.test(name))

const modify = (tools: ReturnType<typeof offered>) => tools.find(({ name }) => name === "modify_file")

function edit(outcome: "failed" | "denied" | "succeeded", tool = "modify_file"): TurnCall {
  return {
    ...callOf("e1", tool, ""),
    result: { outcome, certainty: "notDone", text: "the search text is not there", digest: "d" },
  }
}

describe("a model that edits", () => {
  test("in a way nobody knows is offered every way", () => {
    expect(editing(offered(null))).toEqual(["write_file", "create_file", "modify_file"])
    expect(modify(offered(null))?.parameters).toMatchObject({ properties: { edits: {}, patch: {} } })
  })

  test("by whole files is offered nothing else, and nothing speaks of it", () => {
    expect(editing(offered("whole"))).toEqual(["write_file", "create_file"])
    expect(JSON.stringify(offered("whole"))).not.toContain("modify_file")
  })

  test("by pieces is shown pieces and no diff", () => {
    expect(editing(offered("replace"))).toEqual(["create_file", "modify_file"])
    const tool = modify(offered("replace"))
    expect(tool?.parameters).toMatchObject({ required: ["path", "edits"], additionalProperties: false })
    expect(JSON.stringify(tool)).not.toMatch(/patch|diff/)
    expect(tool?.description).toContain("exactly once")
  })

  test("by diffs is shown a diff and no pieces", () => {
    expect(editing(offered("diff"))).toEqual(["create_file", "modify_file"])
    const tool = modify(offered("diff"))
    expect(Object.keys(Object(tool?.parameters).properties)).toEqual(["path", "patch"])
    expect(tool?.parameters).toMatchObject({ required: ["path", "patch"] })
    expect(JSON.stringify(tool)).not.toMatch(/edits|search/)
  })

  test("may write a whole file where the plan says so", () => {
    for (const format of ["replace", "diff"] as const)
      expect(editing(offered(format, [], "WRITE_FILE"))).toContain("write_file")
  })

  test("is offered no editing in a step that only reads", () => {
    for (const format of ["whole", "replace", "diff"] as const)
      expect(editing(offered(format, [], "READ_FILE"))).toEqual([])
  })
})

describe("an edit that failed", () => {
  const messages = (turns: readonly Turn[], format: EditFormat | null = "replace") =>
    executor.messages(viewOf(stateWith(format, turns), { step: stepWith("MODIFY_FILE") }))

  test.each(["modify_file", "create_file"])(
    "by %s makes the whole file a way to go on, and says so",
    tool => {
      const turns = [turnOf({ calls: [edit("failed", tool)] })]
      for (const format of ["replace", "diff"] as const) {
        expect(editing(offered(format, turns))).toEqual(["write_file", "create_file", "modify_file"])
        expect(messages(turns, format).at(-1)?.text).toStartWith(
          "the search text is not there\n[write_file is offered",
        )
      }
    },
  )

  test("is told so once, by the first", () => {
    const turns = [1, 2].map(turn => turnOf({ turn, calls: [edit("failed")] }))
    const told = messages(turns).filter(({ text }) => text.includes("write_file is offered"))
    expect(told).toHaveLength(1)
    expect(told[0]).toEqual(messages(turns)[3] ?? never())
  })

  test("because it was not allowed, or that worked, changes nothing", () => {
    for (const outcome of ["denied", "succeeded"] as const)
      expect(editing(offered("replace", [turnOf({ calls: [edit(outcome)] })]))).not.toContain("write_file")
  })

  test("is nothing new to a model that is offered everything", () => {
    const turns = [turnOf({ calls: [edit("failed")] })]
    for (const format of [null, "whole"] as const)
      expect(messages(turns, format).at(-1)?.text).toBe("the search text is not there")
  })
})

test("tools are the same objects from turn to turn, so that they are measured once", () => {
  for (const format of ["whole", "replace", "diff"] as const) {
    const again = offered(format)
    for (const [at, tool] of offered(format).entries()) expect(tool).toBe(again[at] ?? never())
  }
})

function never(): never {
  throw new Error("there is such a one")
}
