import { describe, expect, test } from "bun:test"
import { truncateSync } from "node:fs"
import { tellingLost } from "../../src/app/lost-pre-image.ts"
import type { NewEvent } from "../../src/domain/event-definition.ts"
import { event } from "../store/support/session-events.ts"
import { agentWorkspace } from "../support/agent-workspace.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { contains, open, reply } from "../support/script-replies.ts"

const confinedTest = testWhere(missingSandbox)

function told(...commits: readonly (readonly NewEvent[])[]): readonly string[] {
  const notices: string[] = []
  const log = { sessionId: "ses_1", append: () => [], whileOwned: <Result>(work: () => Result) => work() }
  const telling = tellingLost(log, text => void notices.push(text))
  for (const events of commits) telling.append(events)
  return notices
}

const started = (more: Parameters<typeof event.callStarted>[1]) => event.callStarted("cal_1", more)

describe("an intent without a pre-image", () => {
  test("is told once", () => {
    const lost = started({ effectClass: "once", checkpointId: null })
    expect(told([event.callRequested("cal_1"), lost], [lost])).toEqual([
      expect.stringContaining("`acode session undo` will not put all of it back"),
    ])
  })

  test("is nothing to tell where nothing is changed, or there is one", () => {
    const reads = started({ effectClass: "read", checkpointId: null })
    expect(told([reads], [started({ effectClass: "replace", checkpointId: "cal_1" })])).toEqual([])
  })
})

confinedTest(
  "a command among files that are too large to keep is told to who started the session",
  async () => {
    using room = agentWorkspace()
    truncateSync(room.workspace.write("large.bin", ""), 65 * 1024 * 1024)
    const argv = ["sh", "-c", "echo made > made.txt"]
    room.script(
      reply.plan({
        write: ["made.txt"],
        commands: [argv],
        steps: [open("s1", "RUN_COMMAND")],
        acceptance: [contains("made.txt", "made")],
      }),
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    )
    const { exitCode, stderr } = await room.run("--yes=plan")
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("no copy could be kept")])
  },
)
