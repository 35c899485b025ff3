import { describe, expect, test } from "bun:test"
import type { Spawned } from "../../src/base/spawn.ts"
import { ownPeakBytes, unmeasured, usageOf } from "../../src/exec/supervision.ts"
import type { ProcessTree } from "../../src/sandbox/contract.ts"

const MiB = 1024 * 1024

function child(cpuMs: number | null, maxRssBytes: number | null): Spawned {
  return {
    pid: 1,
    stdout: null,
    stderr: null,
    extra: [],
    exited: Promise.resolve({ exitCode: 0, signal: null }),
    cpuMs: () => cpuMs,
    maxRssBytes: () => maxRssBytes,
    close: () => undefined,
  }
}

function tree(more: Partial<ProcessTree>): ProcessTree {
  return {
    kill: async () => undefined,
    terminate: () => undefined,
    settle: async () => undefined,
    maxRssBytes: () => null,
    limitHit: () => null,
    ...more,
  }
}

describe("the memory a command used", () => {
  test("is what the tree measured, where it can", () => {
    expect(usageOf(child(1, 900 * MiB), tree({ maxRssBytes: () => 5 * MiB }), 50 * MiB).maxRssBytes).toBe(
      5 * MiB,
    )
  })

  test("is the kernel's figure where that cannot be acode's own", () => {
    expect(usageOf(child(1, 300 * MiB), tree({}), 50 * MiB).maxRssBytes).toBe(300 * MiB)
    expect(usageOf(child(1, 300 * MiB), null, 50 * MiB).maxRssBytes).toBe(300 * MiB)
  })

  test("is left out where it may be", () => {
    for (const peak of [10, 49, 50, 54])
      expect(usageOf(child(1, peak * MiB), null, 50 * MiB).maxRssBytes).toBeNull()
    expect(usageOf(child(1, null), null, 50 * MiB).maxRssBytes).toBeNull()
  })
})

describe("the time a command used", () => {
  test("is in whole milliseconds", () => {
    expect(usageOf(child(12.6, null), null, 0).cpuMs).toBe(13)
    expect(usageOf(child(0.2, null), null, 0).cpuMs).toBe(0)
  })

  test("is the tree's where the child's misses something", () => {
    expect(usageOf(child(1, null), tree({ cpuMs: () => 700 }), 0).cpuMs).toBe(700)
    expect(usageOf(child(9, null), tree({ cpuMs: () => null }), 0).cpuMs).toBe(9)
  })

  test("is unknown where nothing was measured", () => {
    expect(usageOf(child(null, null), null, 0)).toEqual(unmeasured)
  })
})

test("acode's own peak is at least what it uses now", () => {
  expect(ownPeakBytes()).toBeGreaterThan(8 * MiB)
  expect(ownPeakBytes() * 1.2).toBeGreaterThan(process.memoryUsage.rss())
})
