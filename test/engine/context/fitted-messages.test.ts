import { describe, expect, test } from "bun:test"
import { roomOf } from "../../../src/engine/context/cut-steps.ts"
import { fitMessages } from "../../../src/engine/context/fitted-messages.ts"
import { estimateTokens } from "../../../src/engine/context/token-estimate.ts"
import type { StageView } from "../../../src/engine/stages/contract.ts"
import {
  callOf,
  planVersion,
  smallPlan,
  stageRun,
  stages,
  stateOf,
  stepsOf,
  turnOf,
  viewOf,
} from "../stages/support.ts"

const plan = planVersion(smallPlan)
const [step = null] = stepsOf(plan.plan)
const lines = (what: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${what} number ${at} is a line\n`).join("")

const turns = ["first", "second", "third"].map((name, at) =>
  turnOf({
    turn: at + 1,
    text: lines(`said ${name}`, 20),
    calls: [callOf(name, "glob", lines(`${name} result`, 60))],
  }),
)
const executing = viewOf(
  stateOf({ plans: [plan], stage: stageRun({ stage: "executor", feedback: ["a1: exit code 1"] }), turns }),
  {
    step,
    instructions: [{ path: "AGENTS.md", text: lines("rule", 200) }],
    files: ["src/a.ts", "src/b.ts"].map(path => ({ path, text: lines(`${path} content`, 100) })),
  },
)

function fit(view: StageView, tokensMax: number | null, stage: keyof typeof stages = "executor") {
  const room = tokensMax === null ? null : roomOf(tokensMax, tokensMax)
  const fitted = fitMessages(view, stages[stage].messages, room)
  return { ...fitted, text: fitted.messages.map(({ text }) => text).join("\n") }
}

const whole = fit(executing, null)

describe("a request that is too long", () => {
  test("is left alone without a limit or when it fits", () => {
    expect(whole).toMatchObject({ shortened: [], shortenedCount: 0, tokens: whole.tokensBefore })
    expect(fit(executing, whole.tokens).messages).toEqual(whole.messages)
  })

  test("loses one part after the other, the least missed first, and fits each time", () => {
    const seen: string[] = []
    for (let tokensMax = whole.tokens; tokensMax > 900; tokensMax -= 50) {
      const { shortened, tokens, messages } = fit(executing, tokensMax)
      expect(tokens).toBeLessThanOrEqual(tokensMax)
      expect(tokens).toBe(estimateTokens(messages))
      for (const part of shortened) if (!seen.includes(part)) seen.push(part)
    }
    expect(seen).toEqual(["results", "replies", "files", "newestResult", "instructions"])
  })

  test("keeps the request, the step, the task with its contract and what failed, however short it has to be", () => {
    for (let tokensMax = whole.tokens; tokensMax > 300; tokensMax -= 250) {
      const { text } = fit(executing, tokensMax)
      for (const kept of ["Validate e-mail addresses.", "Write src/email.ts.", '"write":["src/email.ts"]'])
        expect(text).toContain(kept)
      for (const kept of ["errors are clear", "a1: exit code 1", "rule number 0 is", "src/a.ts"])
        expect(text).toContain(kept)
    }
  })

  test("tells by its size that nothing is left to shorten", () => {
    const { tokens, tokensBefore } = fit(executing, 100)
    expect(tokens).toBeGreaterThan(100)
    expect(tokens).toBeLessThan(tokensBefore)
  })

  test("is the same each time it is made", () => {
    for (const tokensMax of [4_000, 2_000, 1_000])
      expect(fit(executing, tokensMax)).toEqual(fit(executing, tokensMax))
  })
})

describe("files that a person wants to be seen", () => {
  const view = viewOf(stateOf(), { step, files: executing.files })
  const all = fit(view, null)

  test("are cut to their beginnings first", () => {
    const { text, shortened } = fit(view, all.tokens - 100)
    expect(shortened).toEqual(["files"])
    expect(text).toContain("src/a.ts content number 0")
    expect(text).not.toContain("src/a.ts content number 99")
    expect(text).toMatch(/\d+ more characters are left out to fit the context; read_file shows them/)
  })

  test("then only named", () => {
    const { text } = fit(view, all.tokens - 1_700)
    expect(text).toContain("src/a.ts\nsrc/b.ts")
    expect(text).not.toContain("content number 0")
  })
})

describe("project instructions", () => {
  const view = viewOf(stateOf(), { step, instructions: executing.instructions })
  const all = fit(view, null)

  test("lose no more than has to be, and say where the rest is", () => {
    const { text, shortened, tokens } = fit(view, all.tokens - 300)
    expect(shortened).toEqual(["instructions"])
    expect(text).toContain("read_file AGENTS.md shows them")
    expect(tokens).toBeGreaterThan(all.tokens - 400)
  })

  test("keep their fair share, even when then nothing fits", () => {
    const { text, tokens } = fit(view, 600)
    expect(tokens).toBeGreaterThan(600)
    expect(text.match(/rule number/g)?.length).toBeGreaterThan(10)
  })
})

test("the outline of a planner is shortened", () => {
  const view = viewOf(stateOf(), { outline: lines("file", 200) })
  const { text, shortened } = fit(view, fit(view, null, "planner").tokens - 500, "planner")
  expect(shortened).toEqual(["outline"])
  expect(text).toContain("file number 0")
})

test("a diff is cut to what fits, and the files that are not shown any more are named", () => {
  const file = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n${lines("+changed", 100)}`
  const view = viewOf(stateOf({ plans: [plan] }), { diff: ["a.ts", "b.ts", "c.ts"].map(file).join("") })
  const { tokens } = fit(view, null, "reviewer")
  const { text, shortened, tokens: after } = fit(view, tokens - 1_000, "reviewer")
  expect(shortened).toEqual(["diff"])
  expect(text).toMatch(/characters are left out to fit the context, with changes of (b\.ts, )?c\.ts\]/)
  expect(after).toBeGreaterThan(tokens - 1_250)
  expect(fit(view, 500, "reviewer").text).toContain("with changes of a.ts, b.ts, c.ts]")
})
