import { describe, expect, test } from "bun:test"
import type { PipelineState, StepState, Turn } from "../../../src/domain/pipeline/state.ts"
import { stages as stageNames } from "../../../src/domain/stage.ts"
import { type FittedRequest, modelRequest } from "../../../src/engine/context/model-request.ts"
import type { StageView } from "../../../src/engine/stages/contract.ts"
import {
  callOf,
  planVersion,
  selectionOf,
  smallPlan,
  smallTask,
  stageRun,
  stages,
  stateOf,
  stepsOf,
  turnOf,
  viewOf,
} from "../stages/support.ts"

const secret = "hunter2-hunter2"
const redactor = { redactText: (text: string) => text.replaceAll(secret, "[REDACTED:test]") }

function requestOf(view: StageView, stage: (typeof stageNames)[number] = "executor"): FittedRequest {
  // as: of the session and the redactor only this is used.
  const parts = { session: { state: view.state }, stages, redactor } as unknown as Parameters<
    typeof modelRequest
  >[0]
  return modelRequest(parts, stage, view)
}

const shown = ({ request }: FittedRequest) => request.messages.map(({ text }) => text).join("\n")

const counting = (scale: number) => new Map([["some-model", scale]])

/** Ten steps of one task, each with a place of its own. */
const tenSteps = planVersion({
  ...smallPlan,
  tasks: [
    {
      ...smallTask,
      steps: Array.from({ length: 10 }, (_, at) => ({
        id: `s${at + 1}`,
        title: `part ${at + 1}`,
        description: `Write part ${at + 1} of src/email.ts.`,
        action: "MODIFY_FILE",
        depends_on: [],
      })),
    },
  ],
})

const instructions = [
  { path: "AGENTS.md", text: `Always use tabs here.\n${"Keep lines short.\n".repeat(400)}` },
]

function smallWindow(more: Partial<PipelineState>): PipelineState {
  const state = stateOf({ plans: [tenSteps], ...more })
  const selection = selectionOf({ windowTokens: 8_192, outputTokensMax: 2_048 })
  return { ...state, settings: { ...state.settings, selection } }
}

const allowed = 8_192 - 2_048

/** It fits, and what must not be lost is in it: the request, the contract, the instructions and what failed. */
function expectWhole(fitted: FittedRequest): void {
  expect([fitted.problem, fitted.tokensAfter <= allowed]).toEqual([null, true])
  const text = shown(fitted)
  for (const kept of [
    "Validate e-mail addresses.",
    "errors are clear",
    "Always use tabs here.",
    "3 tests fail",
  ])
    expect(text).toContain(kept)
}

/** The turns of a step so far, each with a result that is as long as a result may be. */
const turnsUpTo = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    turnOf({
      turn: at + 1,
      text: `I look at part ${at}. `.repeat(20),
      calls: [callOf(`c${at}`, "read_file", `src/email.ts (900 lines):\n${"const a = 1\n".repeat(900)}`)],
    }),
  )

describe("a window of 8,192 tokens over a task of ten steps", () => {
  const steps = stepsOf(tenSteps.plan)
  const stepAt = (present: number): readonly StepState[] =>
    steps.map((step, at) => ({
      ...step,
      status: at < present ? "done" : at === present ? "active" : "pending",
      changedPaths: at < present ? ["src/email.ts"] : [],
    }))

  test("holds the request, the contract, the instructions and what failed in every request of every step", () => {
    let trimmedCount = 0
    for (const [at, step] of steps.entries())
      for (let turnCount = 0; turnCount <= 12; turnCount++) {
        const stage = stageRun({ stage: "executor", feedback: ["t1/a1: exit code 1: 3 tests fail"] })
        const state = smallWindow({ stage, steps: stepAt(at), turns: turnsUpTo(turnCount) })
        const fitted = requestOf(viewOf(state, { step, instructions }))
        expectWhole(fitted)
        const text = shown(fitted)
        for (const kept of [step.step.description, '"write":["src/email.ts"]']) expect(text).toContain(kept)
        if (at > 0) expect(text).toContain("t1/s1 part 1: done")
        trimmedCount += fitted.shortenedCount > 0 ? 1 : 0
      }
    expect(trimmedCount).toBeGreaterThan(50)
  })

  test("holds them for the planner, the verifier and the reviewer, whatever else there is", () => {
    const stage = stageRun({
      stage: "reviewer",
      feedback: ["t1/a1: exit code 1: 3 tests fail"],
      checks: [{ id: "a2", kind: "judgement", taskId: "t1" }],
    })
    const failed = {
      seq: 9,
      hasChangedTree: false,
      runs: 1,
      paths: [],
      criterionId: "a1",
      taskId: "t1",
      kind: "command",
      verdict: "failed",
      reason: "3 tests fail",
    } as const
    const verification = { seq: 9, treeDigest: "tree", checks: [{ ...failed, treeDigest: "tree" }] }
    for (let size = 0; size <= 20_000; size += 4_000) {
      const state = smallWindow({ stage, verification, steps: stepAt(10) })
      const more = { outline: "src/a.ts\n".repeat(size / 10), diff: "+const a = 1\n".repeat(size / 4) }
      const files = [{ path: "src/b.ts", text: "const b = 1\n".repeat(size / 12) }]
      for (const name of ["planner", "verifier", "reviewer"] as const) {
        const fitted = requestOf(viewOf(state, { instructions, files, ...more }), name)
        expectWhole(fitted)
      }
    }
  })
})

describe("a step of many turns in a window of 8,192 tokens", () => {
  const [step = null] = stepsOf(tenSteps.plan)

  /** Results of some hundred tokens, each of another length, or files that are written. */
  const manyTurns = (kind: "read" | "write") =>
    Array.from({ length: 40 }, (_, at) => {
      const text = "const a = 1\n".repeat(40 + ((at * 7_919) % 13) * 10)
      const call =
        kind === "read"
          ? callOf(`c${at}`, "read_file", text, { path: `${at}.ts` })
          : callOf(`c${at}`, "write_file", "written", { path: `${at}.ts`, content: text })
      return turnOf({ turn: at + 1, seq: at + 10, text: `I look at part ${at}.`, calls: [call] })
    })

  /** As after so many turns of them; the server counts a bit differently each time. */
  const requestAfter = (turns: readonly Turn[], count: number) => {
    const tokenScales = counting(1 + (((count * 31) % 7) - 3) / 200)
    const stage = stageRun({ stage: "executor", feedback: ["t1/a1: exit code 1: 3 tests fail"] })
    const state = smallWindow({ stage, turns: turns.slice(0, count), tokenScales })
    return requestOf(viewOf(state, { step, instructions: instructions.map(shortened) }))
  }
  const shortened = ({ path, text }: { path: string; text: string }) => ({ path, text: text.slice(0, 2_000) })

  test.each(["read", "write"] as const)("begins most requests with the whole one before: %s", kind => {
    const turns = manyTurns(kind)
    const requests = turns.map((_, count) => requestAfter(turns, count))
    for (const fitted of requests) {
      expectWhole(fitted)
    }
    const isTight = requests.map(({ shortenedCount }) => shortenedCount > 0)
    expect(isTight.filter(Boolean).length).toBeGreaterThan(20)
    const texts = requests.map(({ request }) => request.messages.map(message => JSON.stringify(message)))
    const goesOn = texts.map((messages, at) => {
      const before = texts[at - 1] ?? []
      return before.every((text, place) => messages[place] === text)
    })
    // Only of those where something had to be left out: in the others there is nothing to win.
    const tight = goesOn.filter((_, at) => isTight[at])
    expect(tight.filter(Boolean).length / tight.length).toBeGreaterThan(0.7)
  })

  test("is told in the same requests when it is looked at again", () => {
    const turns = manyTurns("read")
    for (const count of [15, 25, 35]) {
      const again = JSON.parse(JSON.stringify(turns)) as typeof turns
      expect(requestAfter(again, count).request).toEqual(requestAfter(turns, count).request)
    }
  })
})

describe("results that are too old to be shown", () => {
  const calls = Array.from({ length: 15 }, (_, at) => callOf(`c${at}`, "glob", "x".repeat(400)))
  const turns = [turnOf({ seq: 9, calls })]

  test("are counted among what was shortened, beside what had to be", () => {
    const roomy = requestOf(viewOf(stateOf({ turns })))
    expect(roomy).toMatchObject({ shortened: ["oldResults"], shortenedCount: 5, tokensMax: null })
    expect(roomy.tokensBefore).toBeGreaterThan(roomy.tokensAfter)
    const { settings } = stateOf()
    const limits = { ...settings.limits, contextTokensMax: roomy.tokensAfter - 100 }
    const tight = requestOf(viewOf(stateOf({ turns, settings: { ...settings, limits } })))
    expect(tight).toMatchObject({ shortened: ["oldResults", "results"], tokensBefore: roomy.tokensBefore })
  })

  test("are so only for a stage that is told results", () => {
    expect(requestOf(viewOf(stateOf({ turns })), "reviewer").shortened).toEqual([])
  })
})

describe("the size of a request", () => {
  const [step = null] = stepsOf(tenSteps.plan)
  const view = (more: Partial<PipelineState> = {}) => viewOf(smallWindow(more), { step, instructions })

  test("counts tools and the format of the answer", () => {
    const fitted = requestOf(view())
    const tools = JSON.stringify(fitted.request.tools).length / 4
    const text = shown(fitted).length / 4
    expect(fitted.estimatedTokens).toBeGreaterThan(text + tools * 0.9)
    const wrong = { ...turnOf({ text: "no plan" }), problems: ["there is no JSON object"] }
    const planner = requestOf(view({ turns: [wrong] }), "planner")
    expect(planner.estimatedTokens).toBeGreaterThan(shown(planner).length / 4 + 900)
  })

  test("is corrected by what the server counted", () => {
    const plain = requestOf(view())
    const scaled = requestOf(view({ tokenScales: counting(2) }))
    expect(scaled.tokensBefore).toBeGreaterThan(plain.tokensBefore * 1.9)
    expect(scaled.tokensAfter).toBeLessThanOrEqual(allowed)
    expect(requestOf(view({ tokenScales: counting(0.7) })).tokensBefore).toBeLessThan(plain.tokensBefore)
  })

  test("is less than what its server found too long, and only for that stage", () => {
    const { estimatedTokens } = requestOf(view())
    const refused = { tooLong: { executor: estimatedTokens } }
    const shorter = requestOf(view(refused))
    expect(shorter.estimatedTokens).toBeLessThanOrEqual((estimatedTokens * 2) / 3)
    expect(shorter.problem).toBeNull()
    expect(requestOf(view({ ...refused, tokenScales: counting(2) })).estimatedTokens).toBeLessThanOrEqual(
      (estimatedTokens * 2) / 3,
    )
    expect(requestOf(view(refused), "planner").estimatedTokens).toBe(
      requestOf(view(), "planner").estimatedTokens,
    )
  })

  test("allows a longer reply after one that was cut off, and is as much shorter", () => {
    const plain = requestOf(view())
    const roomier = requestOf(view({ cutOff: { executor: 1 } }))
    expect(plain.request.outputTokensMax).toBe(2_048)
    expect(roomier.request.outputTokensMax).toBe(4_096)
    expect([plain.tokensMax, roomier.tokensMax]).toEqual([allowed, 8_192 - 4_096])
    expect(requestOf(view({ cutOff: { executor: 1 } }), "planner").request.outputTokensMax).toBe(2_048)
  })

  test("that cannot be as short as is aimed at is asked all the same, but not as long as what was refused", () => {
    const { estimatedTokens: least } = requestOf(view({ tooLong: { executor: 10 } }))
    expect(requestOf(view({ tooLong: { executor: least + 1 } })).problem).toBeNull()
    expect(requestOf(view({ tooLong: { executor: least } })).problem).toContain("even after shortening")
  })

  test("that cannot be made to fit is named, part by part", () => {
    const state = smallWindow({ request: "Do a lot. ".repeat(4_000) })
    expect(requestOf(viewOf(state, { step })).problem).toMatch(
      /^the request needs about 1\d{4} tokens even after shortening, but 6144 are allowed: tools and answer format \d{3}, rules \d{3}, what is to be done and known 1\d{4}, the turns so far 0$/,
    )
  })

  test("has no limit where nobody set one", () => {
    const state = stateOf({ request: "x".repeat(1_000_000) })
    expect(requestOf(viewOf(state, { step }))).toMatchObject({
      problem: null,
      tokensMax: null,
      shortenedCount: 0,
    })
  })

  test.each(stageNames)("has no secret in it, whoever asks: %s", stage => {
    const text = shown(requestOf(viewOf(stateOf({ request: `use ${secret}` }), { step }), stage))
    expect(text).toContain("use [REDACTED:test]")
    expect(text).not.toContain(secret)
  })

  test("names the model of the stage", () => {
    expect(requestOf(view()).request).toMatchObject({ model: "some-model", stage: "executor", replyIndex: 0 })
    expect(requestOf(viewOf(stateOf(), { step })).request.model).toBeNull()
  })
})
