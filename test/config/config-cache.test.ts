import { afterEach, describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { configCache } from "../../src/config/config.ts"

const home = mkdtempSync(join(tmpdir(), "acode-cache-"))
afterEach(() => rmSync(home, { recursive: true, force: true }))

const leaves = new Map([["execution.network", "none"]])
const place = () => {
  const directory = join(home, "acode", "config")
  return join(directory, readdirSync(directory)[0] ?? "")
}

describe("what a configuration file said", () => {
  test("is kept by its hash and by the program that found it valid", () => {
    configCache(home, () => "one").write("sha256:a", leaves)
    expect(configCache(home, () => "one").read("sha256:a")).toEqual(leaves)
    expect(configCache(home, () => "one").read("sha256:b")).toBeNull()
    expect(configCache(home, () => "other").read("sha256:a")).toBeNull()
    expect(statSync(place()).mode & 0o777).toBe(0o600)
  })

  test("is read again when what was kept is damaged, of another file or of another version", () => {
    const cache = configCache(home, () => "one")
    for (const text of [
      "{",
      "null",
      JSON.stringify({ fileHash: "sha256:other", leaves: [...leaves] }),
      JSON.stringify({ fileHash: "sha256:a", leaves: 1 }),
      JSON.stringify({ fileHash: "sha256:a", leaves: [["no.such.key", 1]] }),
    ]) {
      cache.write("sha256:a", leaves)
      writeFileSync(place(), text)
      expect(cache.read("sha256:a")).toBeNull()
    }
  })

  test("is not kept by what is run from its sources, and a place that cannot be written is no failure", () => {
    configCache(home).write("sha256:a", leaves)
    expect(configCache(home).read("sha256:a")).toBeNull()
    configCache("/proc/nowhere", () => "one").write("sha256:a", leaves)
    expect(configCache("/proc/nowhere", () => "one").read("sha256:a")).toBeNull()
  })
})
