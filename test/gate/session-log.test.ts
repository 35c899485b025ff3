import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { type DrivenSession, driveSession } from "../../src/gate/session-log.ts"
import type { Store } from "../../src/store/contract.ts"
import { openStore } from "../../src/store/open-store.ts"
import { isProcessAlive, processIdentity } from "../../src/store/process-identity.ts"
import { event } from "../store/support/session-events.ts"
import { codeOf, failureOf, storeOptions } from "../store/support/store-fixture.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
let store: Store
beforeEach(() => {
  temp = tempWorkspace()
  store = openStore(storeOptions(temp.outside))
})
afterEach(() => {
  store[Symbol.dispose]()
  temp[Symbol.dispose]()
})

const drive = (sessionId: string): DrivenSession =>
  driveSession({ log: store.log, leases: store.leases, owner: processIdentity() }, sessionId)

/** Another acode in the same workspace, which drives a session until it is killed. */
async function other(sessionId: string) {
  const script = Bun.fileURLToPath(import.meta.resolve("./session-child.ts"))
  const child = Bun.spawn([process.execPath, script, temp.outside, sessionId], {
    stdout: "pipe",
    stderr: "pipe",
  })
  const reader = child.stdout.getReader()
  const { value } = await reader.read()
  if (value === undefined) throw new Error(await child.stderr.text())
  return {
    kill: async () => {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

describe("a session that is driven", () => {
  test("appends in order, each commit whole", () => {
    const session = drive("ses_1")
    session.append([event.sessionStarted(), event.stepStarted()])
    session.append([event.stepFinished()])
    expect(store.log.read("ses_1").map(({ seq, type }) => [seq, type])).toEqual([
      [1, "session.started"],
      [2, "step.started"],
      [3, "step.finished"],
    ])
    session.release()
  })

  test("goes on after its last event when it is driven again", () => {
    const first = drive("ses_1")
    first.append([event.sessionStarted()])
    first.release()
    const second = drive("ses_1")
    second.append([event.stepStarted()])
    expect(store.log.read("ses_1").map(({ seq }) => seq)).toEqual([1, 2])
    second.release()
  })

  test("cannot be appended to once it was given back", () => {
    const session = drive("ses_1")
    session.append([event.sessionStarted()])
    session.release()
    expect(codeOf(() => session.append([event.stepStarted()]))).toBe("ACODE-DB-007")
    expect(store.log.read("ses_1")).toHaveLength(1)
  })
})

describe("a second driver", () => {
  test("of the workspace is refused, and touches nothing", async () => {
    const child = await other("ses_1")
    const { code, hint } = failureOf(() => drive("ses_2")).report
    expect([code, hint]).toEqual(["ACODE-ORCH-008", expect.stringContaining("session list")])
    expect(codeOf(() => drive("ses_1"))).toBe("ACODE-ORCH-008")
    expect(store.log.read("ses_2")).toEqual([])
    expect(store.log.read("ses_1")).toHaveLength(1)
    await child.kill()
  })

  test("in the same process is refused like any other", () => {
    const session = drive("ses_1")
    expect(codeOf(() => drive("ses_2"))).toBe("ACODE-ORCH-008")
    session.release()
    drive("ses_2").release()
  })

  test("that finds the session held gives the workspace back", () => {
    const lease = store.leases.acquire("ses_1", processIdentity())
    expect(codeOf(() => drive("ses_1"))).toBe("ACODE-ORCH-008")
    drive("ses_2").release()
    if (lease !== null) store.leases.release(lease)
    drive("ses_1").release()
  })

  test("takes over at once what a dead one held", async () => {
    const child = await other("ses_1")
    await child.kill()
    expect(store.sessions.interrupted(isProcessAlive)).toMatchObject([{ id: "ses_1" }])
    const session = drive("ses_1")
    session.append([event.sessionFinished({ state: "FAILED", exitCode: 30 })])
    session.release()
    expect(store.sessions.interrupted(isProcessAlive)).toEqual([])
    expect(store.verify().problems).toEqual([])
  })
})
