import { describe, expect, test } from "bun:test"
import { completionOf, isUnverified, staleness } from "../../../src/domain/pipeline/completion.ts"
import {
  callAsked,
  callBegan,
  callSettled,
  checked,
  proposed,
  settingsOf,
  stepEnded,
  stepStarted,
} from "../../support/pipeline/pipeline-events.ts"
import { smallPlan } from "../../support/pipeline/pipeline-plans.ts"
import {
  atExecutor,
  atReviewer,
  atVerifier,
  stepAt,
  toReviewer,
  toVerifier,
} from "../../support/pipeline/pipeline-sessions.ts"

describe("a session is unverified", () => {
  test("when nothing was checked", () => {
    expect(isUnverified(toReviewer(atVerifier([])).state)).toBe(true)
  })

  test("when a person said that nothing need be checked", () => {
    expect(isUnverified(atReviewer(settingsOf({}, { skipVerify: true })).state)).toBe(true)
  })

  test("and not when a check ran", () => {
    expect(isUnverified(atReviewer().state)).toBe(false)
  })
})

describe("a review that approves is enough", () => {
  test("when the verification is newer than every change", () => {
    expect(staleness(atReviewer().state)).toBeNull()
  })

  test("when nothing was to be verified", () => {
    expect(staleness(toReviewer(atVerifier([])).state)).toBeNull()
  })

  test("after a call that changed nothing", () => {
    expect(staleness(atReviewer().add(callAsked("call_9"), callSettled("call_9")).state)).toBeNull()
  })
})

describe("a review that approves is not enough", () => {
  test("when a file was changed after the verification", () => {
    const session = atReviewer().add(callAsked("call_9"), callSettled("call_9", { changed: ["late.txt"] }))
    expect(staleness(session.state)).toBe("files were changed after the verification")
  })

  test("when the stages were gone through with an older plan", () => {
    const session = atReviewer().add(proposed(smallPlan(), 2))
    expect(staleness(session.state)).toBe("the planner has not succeeded with this plan")
  })

  test("when a stage did not succeed", () => {
    const { state } = atReviewer()
    const history = state.history.filter(({ stage }) => stage !== "verifier")
    expect(staleness({ ...state, history })).toBe("the verifier has not succeeded with this plan")
  })
})

describe("a check that passed proves the work", () => {
  type Settled = NonNullable<Parameters<typeof callSettled>[1]>

  /** One call of the step settles like this; then one check passes, after these other verdicts. */
  function endOf(
    settled: Settled,
    more: Parameters<typeof checked>[2],
    { isOnce = false, hadFailed = false } = {},
  ) {
    const session = atExecutor()
    const step = stepAt(session, 0)
    session.add(stepStarted(step), callAsked("call_1"), callBegan("call_1", isOnce ? "once" : "replace"))
    session.add(callSettled("call_1", settled), stepEnded(step))
    toVerifier(session, [{ id: "a1", kind: more?.kind ?? "command", taskId: "t1" }])
    if (hadFailed) session.add(checked("a1", "failed", more))
    return completionOf(toReviewer(session.add(checked("a1", "passed", more))).state)
  }

  const looksAt = (...paths: readonly string[]) => ({ kind: "file_contains", paths: [...paths] })
  const uncovered = (paths: readonly string[], count = paths.length, unwatched: readonly string[] = []) => ({
    paths: paths.map(path => ({ path, reason: "git ignores it" })),
    count,
    unwatched: [...unwatched],
  })
  const artifact = { kind: "artifact" as const, ref: "sha256:00", bytes: 1, count: 900 }
  const directories = { kind: "inline" as const, value: [["made/deep", null, 0o755]] }

  test.each<[why: string, settled: Settled, check: ReturnType<typeof looksAt>]>([
    ["it looks at what changed", { changed: ["a.txt"] }, looksAt("a.txt")],
    ["it looks at a directory of what changed", { changed: ["src/a.txt"] }, looksAt("src")],
    ["it looks at everything", { changed: ["src/a.txt"] }, looksAt(".")],
    [
      "one of its names leads to what changed",
      { changed: ["real/a.txt"] },
      looksAt("link/a.txt", "real/a.txt"),
    ],
    ["the link that leads to it changed", { changed: ["link"] }, looksAt("link/a.txt", "real/a.txt")],
    ["git ignores what changed", { uncovered: uncovered(["dist/"]) }, looksAt("dist/out.js")],
    ["not all that changed is named", { uncovered: uncovered(["dist/"], 70) }, looksAt("a.txt")],
    ["not everything could be watched", { uncovered: uncovered([], 0, ["cache"]) }, looksAt("a.txt")],
    ["what changed is only counted", { changes: artifact }, looksAt("a.txt")],
    ["what changed is not known", { certainty: "unknown" }, looksAt("a.txt")],
    [
      "the name of what changed is not recorded",
      { changed: ["[REDACTED:github-token].js"] },
      looksAt("a.txt"),
    ],
    ["a directory was made", { directories }, looksAt("made")],
  ])("where %s", (_, settled, check) => {
    expect(endOf(settled, check)).toMatchObject({ exitCode: 0, unverified: false })
  })

  test("where it failed before in the same session, whoever made it pass", () => {
    expect(endOf({ changed: ["b.txt"] }, looksAt("a.txt"), { hadFailed: true })).toMatchObject({
      exitCode: 0,
    })
  })

  test("where it is a command, and a step changed anything or could reach more than the workspace", () => {
    expect(endOf({ changed: ["b.txt"] }, {})).toMatchObject({ exitCode: 0 })
    expect(endOf({}, {}, { isOnce: true })).toMatchObject({ exitCode: 0 })
  })

  test("and says nothing about it where the steps changed nothing that it looks at", () => {
    const reason =
      "finished, but not verified: the steps changed nothing that a1 covers, so it proves nothing about the work"
    const end = { exitCode: 41, unverified: true, reason }
    expect(endOf({ changed: ["b.txt", "a.txt.bak"] }, looksAt("a.txt"))).toMatchObject(end)
    expect(endOf({}, looksAt("a.txt"))).toMatchObject(end)
    expect(endOf({}, {})).toMatchObject(end)
  })

  test("and what the check itself changed is not the work", () => {
    const session = atExecutor()
    const step = stepAt(session, 0)
    toVerifier(session.add(stepStarted(step), stepEnded(step)), [{ id: "a1", kind: "command", taskId: "t1" }])
    session.add(callAsked("call_1"), callSettled("call_1", { changed: ["log.txt"] }), checked("a1", "passed"))
    expect(completionOf(toReviewer(session).state)).toMatchObject({ exitCode: 41 })
  })
})
