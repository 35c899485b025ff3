import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import {
  createKey,
  isWorkspaceId,
  keyPath,
  makePrivateDirectory,
  readKey,
} from "../../../src/store/log/keys.ts"
import { recordPoints } from "../../support/crash/record-points.ts"
import { codeOf, failureOf } from "../support/store-fixture.ts"

const workspaceId = "wsp_0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000"

function keysDirectory() {
  const directory = mkdtempSync(join(tmpdir(), "acode-keys-"))
  const keys = join(directory, "acode", "keys")
  return {
    path: keys,
    file: join(keys, `${workspaceId}.key`),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

describe("a new key", () => {
  test("is 256 random bits in a file for this user alone", () => {
    using keys = keysDirectory()
    const key = createKey(keys.path, workspaceId, noFaults)
    expect(key).toHaveLength(32)
    expect(new Set(key).size).toBeGreaterThan(8)
    expect(statSync(keys.path).mode & 0o777).toBe(0o700)
    expect(statSync(keys.file).mode & 0o777).toBe(0o600)
    expect([...readFileSync(keys.file)]).toEqual([...key])
  })

  test("differs from every other", () => {
    using keys = keysDirectory()
    const other = workspaceId.replace("0190", "0191")
    expect(createKey(keys.path, workspaceId, noFaults)).not.toEqual(createKey(keys.path, other, noFaults))
  })

  test("never replaces one that is there", () => {
    using keys = keysDirectory()
    const key = createKey(keys.path, workspaceId, noFaults)
    expect(() => createKey(keys.path, workspaceId, noFaults)).toThrow("EEXIST")
    expect(readKey(keys.path, workspaceId)).toEqual(key)
  })

  test("appears whole and leaves nothing else behind", () => {
    using keys = keysDirectory()
    const points: string[] = []
    const sizes: number[] = []
    const faults = {
      reach: (point: string) => {
        recordPoints(points).reach(point)
        sizes.push(statSync(keys.file, { throwIfNoEntry: false })?.size ?? 0)
      },
    }
    createKey(keys.path, workspaceId, faults)
    expect(points).toEqual(["key.written", "key.linked"])
    expect(sizes).toEqual([0, 32])
    expect(readdirSync(keys.path)).toEqual([`${workspaceId}.key`])
  })
})

describe("reading a key", () => {
  test("gives back what was made", () => {
    using keys = keysDirectory()
    expect(createKey(keys.path, workspaceId, noFaults)).toEqual(readKey(keys.path, workspaceId))
  })

  test("a missing key is named, with its place", () => {
    using keys = keysDirectory()
    const failure = failureOf(() => readKey(keys.path, workspaceId))
    expect(failure.report).toMatchObject({ code: "ACODE-SEC-001", kind: "integrity", where: keys.file })
  })

  test.each([0o640, 0o604, 0o620, 0o602, 0o644, 0o777])("mode %o is refused", mode => {
    using keys = keysDirectory()
    createKey(keys.path, workspaceId, noFaults)
    chmodSync(keys.file, mode)
    const failure = failureOf(() => readKey(keys.path, workspaceId))
    expect(failure.report.code).toBe("ACODE-SEC-006")
    expect(failure.report.hint).toBe(`chmod 600 ${keys.file}`)
  })

  test("a link to a key is refused", () => {
    using keys = keysDirectory()
    createKey(keys.path, workspaceId, noFaults)
    renameSync(keys.file, `${keys.file}.real`)
    symlinkSync(`${keys.file}.real`, keys.file)
    expect(codeOf(() => readKey(keys.path, workspaceId))).toBe("ACODE-SEC-006")
  })

  test("something that is not a file is refused", () => {
    using keys = keysDirectory()
    mkdirSync(keys.file, { recursive: true, mode: 0o700 })
    expect(codeOf(() => readKey(keys.path, workspaceId))).toBe("ACODE-SEC-006")
  })

  test("a directory that others can write is refused", () => {
    using keys = keysDirectory()
    createKey(keys.path, workspaceId, noFaults)
    chmodSync(keys.path, 0o777)
    expect(codeOf(() => readKey(keys.path, workspaceId))).toBe("ACODE-SEC-006")
  })

  test("a key of another length is not the key", () => {
    using keys = keysDirectory()
    createKey(keys.path, workspaceId, noFaults)
    truncateSync(keys.file, 31)
    expect(codeOf(() => readKey(keys.path, workspaceId))).toBe("ACODE-SEC-002")
    writeFileSync(keys.file, new Uint8Array(33))
    expect(codeOf(() => readKey(keys.path, workspaceId))).toBe("ACODE-SEC-002")
  })
})

describe("the name of a key", () => {
  test.each([
    "../../etc/passwd",
    "wsp_",
    "",
    "wsp_0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000/../x",
    "wsp_0190AAAA",
  ])("%p leads nowhere", id => {
    expect(isWorkspaceId(id)).toBe(false)
    expect(codeOf(() => keyPath("/keys", id))).toBe("ACODE-SEC-001")
  })

  test("lies in the directory", () => {
    expect(keyPath("/keys", workspaceId)).toBe(`/keys/${workspaceId}.key`)
  })
})

describe("a private directory", () => {
  test("is made with its parents", () => {
    using keys = keysDirectory()
    makePrivateDirectory(keys.path)
    expect(statSync(keys.path).mode & 0o777).toBe(0o700)
    expect(() => makePrivateDirectory(keys.path)).not.toThrow()
  })

  test("that cannot be made is named, with what decides where it is", () => {
    using keys = keysDirectory()
    mkdirSync(join(keys.path, ".."), { recursive: true })
    writeFileSync(keys.path, "")
    const below = join(keys.path, "deeper")
    expect(failureOf(() => makePrivateDirectory(below)).report).toMatchObject({
      code: "ACODE-DB-003",
      where: below,
      hint: expect.stringContaining("XDG_DATA_HOME"),
    })
  })

  test("is refused when it is a link or others can write it", () => {
    using keys = keysDirectory()
    mkdirSync(join(keys.path, "real"), { recursive: true })
    symlinkSync(join(keys.path, "real"), join(keys.path, "link"))
    expect(codeOf(() => makePrivateDirectory(join(keys.path, "link")))).toBe("ACODE-SEC-006")
    chmodSync(join(keys.path, "real"), 0o770)
    expect(codeOf(() => makePrivateDirectory(join(keys.path, "real")))).toBe("ACODE-SEC-006")
  })
})
