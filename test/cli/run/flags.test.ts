import { describe, expect, test } from "bun:test"
import { cliCommands } from "../../../src/cli/commands/table.ts"
import { parseLine } from "../../../src/cli/parse/parse.ts"
import { type SessionFlags, settingsChange } from "../../../src/cli/run/flags.ts"
import type { PipelineSettings } from "../../../src/domain/pipeline-settings.ts"
import { failureOf } from "../../store/support/store-fixture.ts"
import { settingsOf } from "../../support/pipeline/pipeline-events.ts"

/** The settings after a command line, for a session that was recorded with others. */
function changed(line: readonly string[], before: PipelineSettings = settingsOf()): PipelineSettings {
  const { flags, globals } = parseLine(["resume", ...line], cliCommands)
  // as: `resume` declares these flags and more.
  return settingsChange(flags as unknown as SessionFlags, globals.yes)(before)
}

describe("the flags of run and resume", () => {
  test("that are not given leave everything as it was recorded", () => {
    const before = settingsOf(
      { cyclesMax: 7, turnsMax: 4, stepTimeoutMs: 9 },
      { model: "m", approvePlan: true, skipVerify: true, requireReviewApproval: true, yes: "plan" },
    )
    expect(changed([], before)).toEqual(before)
  })

  test("a plan that was all that was wanted is done when the session goes on", () => {
    expect(changed([], settingsOf({}, { planOnly: true })).planOnly).toBe(false)
    expect(changed(["--plan-only"]).planOnly).toBe(true)
  })

  test("change what they name and nothing else", () => {
    const line = ["--max-cycles", "0", "--max-turns=25", "--executor-timeout", "1.5", "--model", "other"]
    const { limits, model, ...rest } = changed(line)
    const { limits: usual, model: _, ...others } = settingsOf()
    expect(limits).toEqual({
      ...usual,
      cyclesMax: 0,
      turnsMax: 25,
      stageTimeoutMs: { ...usual.stageTimeoutMs, executor: 1500 },
    })
    expect(model).toBe("other")
    expect(rest).toEqual(others)
  })

  test("say where models may be and what all of them may take", () => {
    const before = settingsOf({ tokensMax: 7 }, { mode: "airgapped" })
    expect(changed([], before)).toMatchObject({ mode: "airgapped", limits: { tokensMax: 7 } })
    const line = ["--mode", "burst", "--max-tokens", "5000", "--model", "anthropic/some-model"]
    expect(changed(line, before)).toMatchObject({
      mode: "burst",
      model: "anthropic/some-model",
      selection: null,
      limits: { tokensMax: 5000 },
    })
  })

  test("give every stage and the step a time of its own", () => {
    const stages = ["planner", "executor", "verifier", "reviewer"]
    const line = stages.flatMap((stage, index) => [`--${stage}-timeout`, String(index + 1)])
    const { limits } = changed([...line, "--executor-step-timeout", "0.25"])
    expect(limits.stageTimeoutMs).toEqual({ planner: 1000, executor: 2000, verifier: 3000, reviewer: 4000 })
    expect(limits.stepTimeoutMs).toBe(250)
  })

  test("say who is asked", () => {
    expect(changed(["--approve-plan", "--skip-verify", "--require-review-approval"])).toMatchObject({
      approvePlan: true,
      skipVerify: true,
      requireReviewApproval: true,
    })
    expect(changed(["--yes"]).yes).toBe("default")
    expect(changed(["--yes=plan,file_write"], settingsOf({}, { yes: "terminal" })).yes).toBe(
      "plan,file_write",
    )
  })

  test("add files to those that were named before, each once", () => {
    const before = settingsOf({}, { contextFiles: ["docs/**"] })
    const line = ["--context-files", "src/a.ts", "--context-files", "docs/**"]
    expect(changed(line, before).contextFiles).toEqual(["docs/**", "src/a.ts"])
  })

  test.each([
    [["--max-cycles", "11"], "--max-cycles takes a whole number from 0 to 10, not"],
    [["--planner-timeout", "0"], "--planner-timeout takes a number of seconds from 0.01 to 604800, not"],
    [["--mode", "cloud"], '--mode "cloud" is not one of local-only, burst, airgapped'],
    [["--max-history-messages", "5"], "--max-history-messages has no effect yet"],
    [["--token-allocation", "planner=50"], "--token-allocation has no effect yet"],
    [["--disable-path-validation"], "--disable-path-validation does not exist: paths are always checked"],
  ])("%j is refused with a sentence", (line, message) => {
    const { report } = failureOf(() => changed(line))
    expect(report).toMatchObject({ kind: "usage", code: "ACODE-CLI-002" })
    expect(report.message).toContain(message)
  })

  test("what always holds may be said", () => {
    const line = ["--require-all-stages", "--verify-before-commit", "--follow", "--mode", "local-only"]
    expect(parseLine(["run", "x", ...line], cliCommands).command?.name).toBe("run")
    expect(parseLine(["task", "x", "--multi-stage", ...line], cliCommands).command?.name).toBe("task")
  })
})
