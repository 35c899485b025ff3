import { describe, expect, test } from "bun:test"
import { agentVerbs } from "../../src/app/verbs/agent.ts"
import { Wiring } from "../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../src/config/environment.ts"
import { failureOf } from "../config/config-fixture.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import { check } from "../support/checker/checker.ts"
import { quietSurface } from "../support/crash/golden-points.ts"
import { sessionRows } from "../support/plan/plan-report.ts"
import { greeting } from "../support/script-replies.ts"
import { hiddenTest, type StoppedProcess, stoppedProcess } from "../support/stopped-process.ts"
import { readFileTree } from "../support/workspace/file-tree.ts"

/** Before a reply is recorded, before a call is, and before its file is begun. */
const points = ["agent.asked", "gate.prepared", "gate.intended"]

describe("an owner that cannot be inspected and is stopped for longer than its lease", () => {
  for (const point of points)
    hiddenTest(
      `adds no event and writes no file when it goes on after a takeover (stopped at ${point})`,
      async () => {
        using room = await planned()
        await using owner = await stoppedOwner(room, point, "hidden")
        const finished = await room.resume()
        expect(finished.exitCode).toBe(0)
        await expectNothingMore(room, owner)
      },
      60_000,
    )

  hiddenTest(
    "cannot be taken over from in the middle of a file, and goes on with it",
    async () => {
      using room = await planned()
      await using owner = await stoppedOwner(room, "file.temporary-synced", "hidden")
      const before = sessionRows(room.workspace)
      expect(await impatientResume(room, before[0]?.stream ?? "")).toMatchObject({ code: "ACODE-DB-002" })
      expect(sessionRows(room.workspace)).toEqual(before)
      expect((await owner.goOn()).exitCode).toBe(0)
      expect(room.file("greeting.txt")).toBe("hello\n")
      expect(await check(room.workspace)).toEqual([])
    },
    60_000,
  )

  hiddenTest(
    "does nothing more when another session has taken the workspace",
    async () => {
      using room = await planned()
      await using owner = await stoppedOwner(room, "gate.intended", "hidden")
      const other = await room.run("--yes=plan,file_write")
      expect(other.exitCode).toBe(0)
      await expectNothingMore(room, owner)
    },
    60_000,
  )
})

describe("an owner that is stopped and can be seen to live", () => {
  test("keeps its session however long that lasts, and finishes it", async () => {
    using room = await planned()
    await using owner = await stoppedOwner(room, "gate.intended", "visible")
    const before = sessionRows(room.workspace)
    const { exitCode, stderr } = await room.resume()
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ACODE-ORCH-008")])
    expect(sessionRows(room.workspace)).toEqual(before)
    expect((await owner.goOn()).exitCode).toBe(0)
    expect(room.file("greeting.txt")).toBe("hello\n")
    expect(await check(room.workspace)).toEqual([])
  }, 60_000)
})

/** Gives up on a database that is in use at once instead of after ten seconds. */
class ImpatientWiring extends Wiring {
  override async storeOptions() {
    return { ...(await super.storeOptions()), busyTimeoutMs: 0 }
  }
}

async function impatientResume({ workspace, scriptFile }: AgentWorkspace, session: string) {
  using wiring = new ImpatientWiring({
    environment: readEnvironment(workspace.environment),
    configFile: undefined,
    workspace: workspace.root,
  })
  return await failureOf(() =>
    agentVerbs(wiring).resume(
      session,
      { change: same => same, skipsFailed: false },
      quietSurface(scriptFile, () => undefined),
    ),
  )
}

/** A session that has its plan and rests. */
async function planned(): Promise<AgentWorkspace> {
  const room = agentWorkspace()
  room.script(...greeting())
  const { exitCode, stderr } = await room.run("--yes=plan", "--plan-only")
  if (exitCode !== 0) throw new Error(`run --plan-only: ${stderr}`)
  return room
}

function stoppedOwner(
  { workspace, scriptFile }: AgentWorkspace,
  point: string,
  sight: "hidden" | "visible",
): Promise<StoppedProcess> {
  const program = Bun.fileURLToPath(import.meta.resolve("../support/agent/stopped-owner.ts"))
  const session = sessionRows(workspace)[0]?.stream ?? ""
  return stoppedProcess(workspace, [program, workspace.root, session, scriptFile, point], sight)
}

async function expectNothingMore({ workspace }: AgentWorkspace, owner: StoppedProcess): Promise<void> {
  const before = { rows: sessionRows(workspace), tree: readFileTree(workspace.root) }
  const { exitCode, stderr } = await owner.goOn()
  expect([exitCode, stderr]).toEqual([expect.any(Number), expect.stringContaining("ACODE-DB-007")])
  expect(exitCode).not.toBe(0)
  expect(sessionRows(workspace)).toEqual(before.rows)
  expect(readFileTree(workspace.root)).toEqual(before.tree)
  expect((await check(workspace)).filter(problem => !problem.startsWith("I1"))).toEqual([])
}
