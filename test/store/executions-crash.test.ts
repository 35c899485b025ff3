import { describe, expect, test } from "bun:test"
import { cpSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { noFaults } from "../../src/base/faults.ts"
import type { Store } from "../../src/store/contract.ts"
import { openStore } from "../../src/store/open-store.ts"
import { isProcessAlive } from "../../src/store/process-identity.ts"
import { storeChild } from "./support/children.ts"
import { nextId, recordOf, runOne, startOf, storeFixture, storeOptions } from "./support/store-fixture.ts"

/** What must hold after any crash, once the next acode has looked. */
function assertSound(store: Store): void {
  store.executions.recover(isProcessAlive)
  const endings = store.executions.list({}).map(row => row.ending)
  expect(endings.filter(ending => ending !== "exited" && ending !== "interrupted")).toEqual([])
  expect(store.verify().problems).toEqual([])
  expect(store.fileProblems()).toEqual([])
  runOne(store)
  store.anchor()
  expect(store.verify().ok).toBe(true)
}

describe("kill -9", () => {
  test("at every point of the first command of a workspace leaves a history that opens and verifies", async () => {
    const endings: string[] = []
    for (let point = 1; ; point++) {
      using fixture = storeFixture({ onDisk: true })
      const child = await storeChild(fixture.directory, "crash", point)
      const store = fixture.open()
      store.executions.recover(isProcessAlive)
      endings.push(store.executions.list({})[0]?.ending ?? "nothing")
      assertSound(store)
      if (child.signal === null) break
      expect(child.signal).toBe("SIGKILL")
      expect(point).toBeLessThan(40)
    }
    // First nothing is known, then that it started, then how it ended: never back, and each at least once.
    expect([...new Set(endings)]).toEqual(["nothing", "interrupted", "exited"])
    expect(endings.length).toBeGreaterThan(15)
  }, 60_000)

  test("at every point in the life of a used workspace leaves a history that opens and verifies", () => {
    using fixture = storeFixture({ onDisk: true })
    const images: string[] = []
    // What the kernel holds at this moment is what a killed process leaves behind.
    const faults = {
      reach: (point: string) => {
        const image = join(fixture.directory, "images", `${images.length}-${point}`)
        for (const part of ["workspace", "data"])
          cpSync(join(fixture.directory, part), join(image, part), { recursive: true })
        images.push(image)
      },
    }
    const store = openStore(storeOptions(fixture.directory, { faults: noFaults, inlineBytesMax: 50 }))
    for (let count = 0; count < 3; count++) runOne(store, { correlationIds: { runId: "run_old" } })
    store.executions.started(startOf(nextId(), { owner: { bootId: "gone/1", pid: 1, startTicks: "1" } }))
    store.anchor()
    store[Symbol.dispose]()
    using watched = openStore(storeOptions(fixture.directory, { faults, inlineBytesMax: 50 }))
    watched.executions.recover(isProcessAlive)
    runOne(watched, { result: { stdout: "z".repeat(100) } })
    watched.anchor()
    watched.executions.prune({ runId: "run_old" }, "age")
    const lease = watched.leases.acquire("ses_a", fixture.options.self)
    watched.log.append("ses_a", 0, lease?.epoch ?? 0, [
      { type: "history.pruned", version: 1, data: { reason: "x", streams: [] } },
    ])
    expect(images.length).toBeGreaterThan(20)
    for (const image of images) {
      const root = join(image, "workspace")
      using restored = openStore({
        ...storeOptions(image, { stateDirectory: join(fixture.directory, "workspace") }),
        databasePath: join(root, ".agent", "workspace.db"),
        liveness: () => "dead",
      })
      restored.executions.recover(() => false)
      assertSound(restored)
    }
    expect(readdirSync(join(fixture.directory, "images"))).toHaveLength(images.length)
  }, 30_000)

  test("an outcome that was acknowledged is there afterwards", async () => {
    using fixture = storeFixture({ onDisk: true })
    const child = await storeChild(fixture.directory, "crash", 0)
    const id = String(child.answer)
    expect(fixture.open().executions.show(id)?.result.stdout).toContain(id)
    expect(recordOf(id).result.ending).toBe("exited")
  })
})
