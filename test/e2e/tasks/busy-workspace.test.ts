import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { holdWorkspace } from "../../../src/gate/session-log.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { acodeProgram } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { eventually } from "../../support/eventually.ts"
import type { FakeReply, Fault } from "../../support/model-server/contract.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { allRows } from "../../support/plan/plan-report.ts"
import { type TaskWorkspace, taskViolations, taskWorkspace } from "../../support/task-workspace.ts"

/** Executes a task; another session takes the workspace while the model answers, and then Ctrl-C is pressed. */
async function stoppedBehindAnother(room: TaskWorkspace, answer: FakeReply | Fault, isOver: () => boolean) {
  const variables = { ...room.temp.environment, HOME: room.temp.outside }
  const environment = readEnvironment(variables)
  using other = new Wiring({ environment, workspace: room.temp.root, configFile: undefined })
  const { leases } = await other.store()
  using taken = new DisposableStack()
  await using server = await startModelServer({
    protocol: "ollama",
    answer: () => {
      taken.use(holdWorkspace({ leases, owner: processIdentity() }))
      return answer
    },
  })
  const config = { schema_version: "1", model: { endpoint: server.endpoint, name: "fake" } }
  room.temp.write("../config/acode/config.yml", JSON.stringify(config))
  // Not by the usual way, which also tries what the output advises: in a copy of a workspace that is still taken.
  const running = Bun.spawn([acodeProgram(), "agent", "run", "one"], {
    cwd: room.temp.root,
    env: variables,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  })
  await eventually(
    "the model was asked, and its reply recorded",
    () => (server.chats.length > 0 && isOver()) || null,
  )
  running.kill("SIGINT")
  return { exitCode: await running.exited, stdout: await running.stdout.text() }
}

const runAgain = (room: TaskWorkspace) =>
  room.acode([
    "agent",
    "run",
    "--pending",
    "--script",
    room.script({ stage: "agent", text: "another reply" }),
  ])

test("a task stopped behind another session is finished by the next run, and its reply is not asked for again", async () => {
  using room = taskWorkspace()
  room.task("one")
  const isReplied = () => allRows(room.temp).some(({ type }) => type === "task.replied")
  const stopped = await stoppedBehindAnother(room, says("the reply"), isReplied)
  expect([stopped.exitCode, stopped.stdout]).toEqual([
    130,
    expect.stringContaining("the next `acode agent run --pending` finishes it"),
  ])
  expect([room.stored("one").status, existsSync(join(room.temp.root, "out/one.md"))]).toEqual([
    "in_progress",
    false,
  ])
  expect((await runAgain(room)).exitCode).toBe(0)
  expect([room.stored("one").status, readFileSync(join(room.temp.root, "out/one.md"), "utf8")]).toEqual([
    "completed",
    "the reply",
  ])
  expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
})

test("one whose request is stopped there says so, and is executed by the next run", async () => {
  using room = taskWorkspace()
  room.task("one")
  const stopped = await stoppedBehindAnother(room, { acts: [{ hang: true }] }, () => true)
  expect([stopped.exitCode, stopped.stdout]).toEqual([
    130,
    expect.stringContaining(
      "its status could not be written: stopped while another session had the workspace",
    ),
  ])
  expect(room.stored("one").status).toBe("in_progress")
  expect((await runAgain(room)).exitCode).toBe(0)
  expect(readFileSync(join(room.temp.root, "out/one.md"), "utf8")).toBe("another reply")
  expect([...taskViolations(room.temp), ...(await check(room.temp))]).toEqual([])
})
