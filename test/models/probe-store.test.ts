import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { probeStore } from "../../src/models/probe-store.ts"
import type { ModelProbe } from "../../src/provider/ladder/contract.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

const probe: ModelProbe = { rung: "constrained", notes: ["seen"] }
const key = "0a".repeat(32)

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

describe("what was found out about a model", () => {
  test("is kept for the next session, for its owner alone", () => {
    const store = probeStore(temp.outside)
    expect(store.read(key)).toBeNull()
    store.write(key, probe)
    expect(probeStore(temp.outside).read(key)).toEqual(probe)
    const directory = join(temp.outside, "acode", "models")
    expect(readdirSync(directory)).toEqual([`${key}.json`])
    expect(statSync(join(directory, `${key}.json`)).mode & 0o777).toBe(0o600)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  test("is found out again when its file is damaged, too long or of another model", () => {
    const store = probeStore(temp.outside)
    store.write(key, probe)
    const path = join(temp.outside, "acode", "models", `${key}.json`)
    const other = "0b".repeat(32)
    symlinkSync(path, join(temp.outside, "acode", "models", `${other}.json`))
    expect(store.read(other)).toBeNull()
    truncateSync(path, 20)
    expect(store.read(key)).toBeNull()
    writeFileSync(path, "x".repeat(100_000))
    expect(store.read(key)).toBeNull()
    store.write(key, probe)
    expect(store.read(key)).toEqual(probe)
  })

  test("is forgotten when it turns out wrong, and only that", () => {
    const store = probeStore(temp.outside)
    const other = "0b".repeat(32)
    store.write(key, probe)
    store.write(other, probe)
    store.forget(key)
    store.forget(key)
    expect([store.read(key), store.read(other)]).toEqual([null, probe])
  })

  test("is lost without a word where it cannot be kept", () => {
    writeFileSync(join(temp.outside, "acode"), "a file stands here")
    const store = probeStore(temp.outside)
    store.write(key, probe)
    expect(store.read(key)).toBeNull()
    store.forget(key)
    chmodSync(join(temp.outside, "acode"), 0o600)
  })
})
