import { describe, expect, test } from "bun:test"
import { truncateSync } from "node:fs"
import { reportingLost } from "../../../src/app/wiring/gate.ts"
import type { NewEvent } from "../../../src/domain/events/definition.ts"
import type { UncoveredChanges } from "../../../src/domain/tool-call.ts"
import { event } from "../../store/support/session-events.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { contains, open, reply } from "../../support/script-replies.ts"

const confinedTest = testWhere(missingSandbox)

function told(...commits: readonly (readonly NewEvent[])[]): readonly string[] {
  const notices: string[] = []
  const log = { sessionId: "ses_1", append: () => [], whileOwned: <Result>(work: () => Result) => work() }
  const telling = reportingLost(log, text => void notices.push(text))
  for (const events of commits) telling.append(events)
  return notices
}

const settled = (uncovered?: UncoveredChanges) =>
  event.callSettled("cal_1", uncovered === undefined ? {} : { uncovered })
const lost = (...names: readonly string[]): UncoveredChanges => ({
  paths: names.map(path => ({ path, reason: "no copy was kept" })),
  count: names.length,
  unwatched: [],
})

describe("what a call changed and cannot be put back", () => {
  test("is told once for each path, a few of many by name", () => {
    expect(told([settled(lost("a"))], [settled(lost("a", "b", "c", "d", "e"))])).toEqual([
      "`acode session undo` cannot restore a: no copy was kept",
      "`acode session undo` cannot restore b: no copy was kept",
      "`acode session undo` cannot restore c: no copy was kept",
      "`acode session undo` cannot restore 2 more files",
    ])
  })

  test("is nothing to tell where all of it can be", () => {
    expect(told([event.callRequested("cal_1"), event.callStarted("cal_1")], [settled()])).toEqual([])
  })
})

confinedTest(
  "a command that changes a file too large to keep is told to who started the session",
  async () => {
    using room = agentWorkspace()
    truncateSync(room.workspace.write("large.bin", ""), 65 * 1024 * 1024)
    const argv = ["sh", "-c", "echo made > made.txt; echo more >> large.bin"]
    room.script(
      reply.plan({
        write: ["made.txt", "large.bin"],
        commands: [argv],
        steps: [open("s1", "RUN_COMMAND")],
        acceptance: [contains("made.txt", "made")],
      }),
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    )
    const { exitCode, stderr } = await room.run("--yes=plan")
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("cannot restore large.bin")])
  },
)
