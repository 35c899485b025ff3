import { describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { noFaults } from "../../../src/base/faults.ts"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import {
  type ArtifactDeps,
  artifactPath,
  createArtifacts,
  storedBytes,
} from "../../../src/store/artifacts/artifacts.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { fixedClock } from "../../support/fixed-clock.ts"
import { codeOf, hides, keepsEverything } from "../support/store-fixture.ts"

function shelf(change: Partial<ArtifactDeps> = {}) {
  const outside = mkdtempSync(join(tmpdir(), "acode-artifacts-"))
  const directory = join(outside, "artifacts")
  const clock = fixedClock()
  const self = processIdentity()
  const parts = { directory, redactor: keepsEverything, clock, faults: noFaults, self, ...change }
  return {
    directory,
    outside,
    clock,
    artifacts: createArtifacts(parts),
    [Symbol.dispose]: () => rmSync(outside, { recursive: true, force: true }),
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = (content: Uint8Array | null) => (content === null ? null : new TextDecoder().decode(content))

describe("storing an artifact", () => {
  test("names it by the hash of what is stored", () => {
    using at = shelf()
    const ref = at.artifacts.put(bytes("hello"))
    expect(ref).toBe(`sha256:${sha256Hex("hello")}`)
    expect(textOf(at.artifacts.get(ref))).toBe("hello")
    const path = artifactPath(at.directory, ref)
    expect(path.slice(at.directory.length)).toMatch(/^\/[0-9a-f]{2}\/[0-9a-f]{62}$/)
  })

  test("keeps it for this user alone", () => {
    using at = shelf()
    const path = artifactPath(at.directory, at.artifacts.put(bytes("hello")))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(statSync(at.directory).mode & 0o777).toBe(0o700)
  })

  test("keeps bytes that are not text", () => {
    using at = shelf()
    const content = new Uint8Array([0, 255, 254, 10, 128, 0])
    expect([...(at.artifacts.get(at.artifacts.put(content)) ?? [])]).toEqual([...content])
    expect(at.artifacts.get(at.artifacts.put(new Uint8Array()))).toHaveLength(0)
  })

  test("hides secrets first, so that the name is of what is stored", () => {
    using at = shelf({ redactor: hides("hunter22") })
    const ref = at.artifacts.put(bytes("it is hunter22\n"))
    expect(ref).toBe(`sha256:${sha256Hex("it is [REDACTED:test]\n")}`)
    expect(readFileSync(artifactPath(at.directory, ref), "utf8")).not.toContain("hunter22")
  })

  test("hides the secrets of a value string by string, so that it stays the value it is", () => {
    using at = shelf({ redactor: createRedactor({ secretValues: ["correct-horse"], extraPatterns: [] }) })
    const value = { b: ["password='", "don't", { "correct-horse": "it is correct-horse" }], a: 1 }
    const { ref, bytes: size } = at.artifacts.putJson(value)
    const text = textOf(at.artifacts.get(ref)) ?? ""
    expect(text).toBe(
      '{"a":1,"b":["password=\'","don\'t",{"[REDACTED:environment]":"it is [REDACTED:environment]"}]}',
    )
    expect(size).toBe(text.length)
  })

  test("stores the same content once, and marks it as fresh", () => {
    using at = shelf()
    const path = artifactPath(at.directory, at.artifacts.put(bytes("hello")))
    utimesSync(path, 1, 1)
    const { ino } = statSync(path)
    at.artifacts.put(bytes("hello"))
    expect(statSync(path).ino).toBe(ino)
    expect(statSync(path).mtimeMs).toBe(at.clock.now())
    expect(readdirSync(dirname(path))).toHaveLength(1)
  })

  test("mends a file that was cut short", () => {
    using at = shelf()
    const ref = at.artifacts.put(bytes("hello"))
    writeFileSync(artifactPath(at.directory, ref), "hel")
    at.artifacts.put(bytes("hello"))
    expect(textOf(at.artifacts.get(ref))).toBe("hello")
  })

  test("mends a file that is damaged and as long as it was", () => {
    using at = shelf()
    const ref = at.artifacts.put(bytes("hello"))
    writeFileSync(artifactPath(at.directory, ref), "hallo")
    expect(at.artifacts.put(bytes("hello"))).toBe(ref)
    expect(textOf(at.artifacts.get(ref))).toBe("hello")
  })

  test("the name appears only when the content is synced", () => {
    const points: string[] = []
    const seen: (number | null)[] = []
    const ref = `sha256:${sha256Hex("hello")}`
    using at = shelf({
      faults: {
        reach: point => {
          recordPoints(points).reach(point)
          seen.push(storedBytes(at.directory, ref))
        },
      },
    })
    at.artifacts.put(bytes("hello"))
    expect(points).toEqual(["artifact.synced", "artifact.renamed"])
    expect(seen).toEqual([null, 5])
  })

  test("leaves nothing behind when it fails", () => {
    using at = shelf({
      faults: {
        reach: () => {
          throw Object.assign(new Error("no space"), { code: "ENOSPC" })
        },
      },
    })
    expect(codeOf(() => at.artifacts.put(bytes("hello")))).toBe("ACODE-DB-004")
    const shelves = readdirSync(at.directory).flatMap(name => readdirSync(join(at.directory, name)))
    expect(shelves).toEqual([])
  })

  test("does not follow a link out of its directory", () => {
    using at = shelf()
    const elsewhere = join(at.outside, "elsewhere")
    mkdirSync(elsewhere)
    mkdirSync(at.directory)
    symlinkSync(elsewhere, join(at.directory, sha256Hex("hello").slice(0, 2)))
    expect(codeOf(() => at.artifacts.put(bytes("hello")))).toBe("ACODE-SEC-006")
    expect(readdirSync(elsewhere)).toEqual([])
  })
})

describe("reading an artifact", () => {
  const missing = `sha256:${"0".repeat(64)}`

  test("gives null when it is not there", () => {
    using at = shelf()
    expect(at.artifacts.get(missing)).toBeNull()
    expect(storedBytes(at.directory, missing)).toBeNull()
  })

  test("refuses content that does not match its name", () => {
    using at = shelf()
    const ref = at.artifacts.put(bytes("hello"))
    writeFileSync(artifactPath(at.directory, ref), "hallo")
    expect(codeOf(() => at.artifacts.get(ref))).toBe("ACODE-SEC-004")
  })

  test("takes neither a link nor a directory for it", () => {
    using at = shelf()
    const path = artifactPath(at.directory, missing)
    mkdirSync(path, { recursive: true })
    expect(at.artifacts.get(missing)).toBeNull()
    rmSync(path, { recursive: true })
    symlinkSync("/etc/hostname", path)
    expect(at.artifacts.get(missing)).toBeNull()
    expect(storedBytes(at.directory, missing)).toBeNull()
  })

  test.each(["sha256:../../x", "", "sha256:00", `md5:${"0".repeat(64)}`])("%p is no name", ref => {
    using at = shelf()
    expect(() => at.artifacts.get(ref)).toThrow("is the name of an artifact")
    expect(existsSync(at.directory)).toBe(false)
  })
})
