import { describe, expect, test } from "bun:test"
import { cpSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { noFaults } from "../../src/base/faults.ts"
import type { Store } from "../../src/store/contract.ts"
import { openStore } from "../../src/store/open-store.ts"
import {
  nextId,
  recordOf,
  runOne,
  type StoreFixture,
  startOf,
  storeFixture,
  storeOptions,
} from "./support/store-fixture.ts"

/** Numbers that look random and are the same in every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761
  return below => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0
    return state % below
  }
}

const nothing = { stdout: null, stderr: null }

/** Some ordinary history: commands that end or not, long outputs, anchors, prunes. */
function live(store: Store, next: (below: number) => number): void {
  const open: string[] = []
  for (let step = 0; step < 6; step++) {
    const kind = next(8)
    if (kind <= 2) runOne(store, { correlationIds: { runId: `run_${next(3)}` } })
    if (kind === 3) runOne(store, { result: { stdout: "long ".repeat(20 + next(20)) } })
    if (kind === 4) {
      const id = nextId()
      store.executions.started(startOf(id))
      open.push(id)
    }
    if (kind === 5) {
      const id = open.shift()
      if (id !== undefined) store.executions.settled(recordOf(id), nothing)
    }
    if (kind === 6) store.anchor()
    if (kind === 7) store.executions.prune({ runId: `run_${next(3)}` }, "age")
  }
}

/** Copies the files at the n-th fault point: what `kill -9` would have left there. */
function crashImage(fixture: StoreFixture, at: number, image: string) {
  let reached = 0
  return {
    reach: () => {
      reached += 1
      if (reached !== at) return
      for (const part of ["workspace", "data"])
        cpSync(join(fixture.directory, part), join(image, part), { recursive: true })
    },
    wasTaken: () => reached >= at,
  }
}

function problemsAfter(seed: number): readonly unknown[] {
  const next = sequence(seed)
  using fixture = storeFixture()
  const image = join(fixture.directory, "image")
  mkdirSync(join(fixture.directory, "data"))
  // Every fourth is closed properly, the others are cut off somewhere.
  const crash = seed % 4 === 0 ? null : crashImage(fixture, 1 + next(30), image)
  const options = storeOptions(fixture.directory, { faults: crash ?? noFaults, inlineBytesMax: 50 })
  using store = openStore(options)
  live(store, next)
  const found: unknown[] = [...store.verify().problems]
  if (crash?.wasTaken() !== true) return found
  store[Symbol.dispose]()
  for (const part of ["workspace", "data"]) {
    rmSync(join(fixture.directory, part), { recursive: true })
    cpSync(join(image, part), join(fixture.directory, part), { recursive: true })
  }
  using later = openStore({ ...options, faults: noFaults })
  found.push(...later.verify().problems)
  later.executions.recover(() => false)
  found.push(...later.verify().problems, ...later.executions.list({}).filter(row => row.ending === null))
  live(later, next)
  found.push(...later.verify().problems, ...later.fileProblems())
  return found
}

describe("logs that no one touched", () => {
  test.each([0, 1, 2, 3])(
    "raise no alarm, crashed or not (50 of 200, part %d)",
    part => {
      const seeds = Array.from({ length: 50 }, (_, index) => part + index * 4)
      const alarms = seeds
        .map(seed => ({ seed, found: problemsAfter(seed) }))
        .filter(({ found }) => found.length > 0)
      expect(alarms).toEqual([])
    },
    30_000,
  )
})
