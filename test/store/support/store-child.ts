import { existsSync } from "node:fs"
import { systemClock } from "../../../src/base/clock.ts"
import { killAt, noFaults } from "../../../src/base/faults.ts"
import { Failure } from "../../../src/domain/failure.ts"
import type { Store } from "../../../src/store/contract.ts"
import { openStore } from "../../../src/store/open-store.ts"
import { recordOf, startOf, storeOptions } from "./store-fixture.ts"

/** What a test runs in another process: `store-child.ts DIRECTORY TASK COUNT GO-FILE`. Prints JSON. */
const [directory = "", task = "", count = "0", goFile = ""] = process.argv.slice(2)

const tasks: Readonly<Record<string, () => unknown>> = {
  /** Opens, runs one command with an artifact, anchors, and dies at the n-th fault point. */
  crash: () => withStore({ faults: killAt(Number(count)) }, store => runCommand(store, 30_000, true)),
  /** Starts a command and is killed before it ends. */
  abandon: () =>
    withStore({}, store => {
      store.executions.started(startOf(newId()))
      process.kill(process.pid, "SIGKILL")
    }),
  open: () => withStore({}, store => store.workspaceId),
  run: () =>
    withStore({}, store => Array.from({ length: Number(count) }, () => runCommand(store, 10, false))),
  recover: () => withStore({}, store => store.executions.recover(() => false)),
  /** Answers the n-th approval request, as one of several people who do so at once. */
  answer: () =>
    withStore({}, store =>
      store.approvals.answer({
        approvalId: `apr_${count}`,
        answer: "granted",
        by: String(process.pid),
        via: "command",
        reason: null,
      }),
    ),
  /** Opens, and fills an execution after the other until it fails; gives the code. */
  fill: () => withStore({}, fill),
}

/** All children of a test begin together, once the file appears. */
while (goFile !== "" && !existsSync(goFile)) Bun.sleepSync(1)
const run = tasks[task]
if (run === undefined) throw new Error(`no such task: ${task}`)
try {
  process.stdout.write(JSON.stringify(run()))
} catch (error) {
  if (!(error instanceof Failure)) throw error
  process.stdout.write(JSON.stringify({ code: error.report.code }))
}

function withStore<Result>(
  overrides: Parameters<typeof storeOptions>[1],
  work: (store: Store) => Result,
): Result {
  using store = openStore(storeOptions(directory, { clock: systemClock, faults: noFaults, ...overrides }))
  return work(store)
}

function runCommand(store: Store, outputBytes: number, anchors: boolean): string {
  const id = newId()
  store.executions.started(startOf(id))
  const stdout = `${id} `.repeat(Math.ceil(outputBytes / 41))
  store.executions.settled(recordOf(id, { result: { stdout } }), { stdout: null, stderr: null })
  if (anchors) store.anchor()
  return id
}

function fill(store: Store): { code: string; acknowledged: readonly string[] } {
  const acknowledged: string[] = []
  for (let round = 0; round < 10_000; round++) {
    try {
      acknowledged.push(runCommand(store, 5_000, false))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { code: error.report.code, acknowledged }
    }
  }
  throw new Error("the disk never fills")
}

function newId(): string {
  return `exe_${Bun.randomUUIDv7()}`
}
