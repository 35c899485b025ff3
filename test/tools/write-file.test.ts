import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { linkSync, mkdirSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { codeOf, failureOf, quietly, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

describe("write_file", () => {
  test("makes a file and the directories it needs", async () => {
    const declared = t.declare("write_file", { path: "a/b/c.txt", content: "hi\n" })
    expect(declared).toMatchObject({ effectClass: "replace", network: null, operation: "write a/b/c.txt" })
    expect(declared.effects).toEqual([
      { kind: "createDirectory", path: "a" },
      { kind: "createDirectory", path: "a/b" },
      { kind: "write", path: "a/b/c.txt" },
    ])
    const prepared = await declared.prepare()
    const after = sha256Hex("hi\n")
    expect(prepared.targets).toEqual([{ path: "a/b/c.txt", before: null, after }])
    expect(prepared.preview).toBe("a/b/c.txt (new file)\n@@ -0,0 +1,1 @@\n          1 +hi\n")
    expect(t.has("a")).toBe(false)
    const result = await prepared.execute(quietly)
    expect(result.value).toEqual({ path: "a/b/c.txt", created: true, bytes: 3, sha256: after })
    expect(result.text).toBe("a/b/c.txt: created, 3 bytes")
    expect(result.changes).toEqual([{ path: "a/b/c.txt", before: null, after }])
    expect(t.read("a/b/c.txt")).toBe("hi\n")
  })

  test("replaces a file and shows the change with line numbers", async () => {
    t.put("a.txt", "1\n2\n3\n")
    const prepared = await t.declare("file_write", { path: "a.txt", contents: "1\nzwei\n3\n" }).prepare()
    expect(prepared.preview).toBe(
      "a.txt\n@@ -1,3 +1,3 @@\n    1     1  1\n    2       -2\n          2 +zwei\n    3     3  3\n",
    )
    const { value } = await prepared.execute(quietly)
    expect(value).toMatchObject({ created: false, bytes: 9 })
    expect(t.read("a.txt")).toBe("1\nzwei\n3\n")
  })

  test("a file that holds the content already is told and left alone", async () => {
    t.put("a.txt", "same\n")
    const before = statSync(join(t.root, "a.txt")).ino
    const prepared = await t.declare("write_file", { path: "a.txt", content: "same\n" }).prepare()
    expect(prepared.targets).toEqual([])
    expect(prepared.preview).toContain("unchanged")
    const result = await prepared.execute(quietly)
    expect(result.text).toBe("a.txt: unchanged, 5 bytes")
    expect(result.changes).toEqual([])
    expect(statSync(join(t.root, "a.txt")).ino).toBe(before)
  })

  test("a file that somebody changed since it was looked at is not overwritten", async () => {
    t.put("a.txt", "old\n")
    const prepared = await t.declare("write_file", { path: "a.txt", content: "new\n" }).prepare()
    t.put("a.txt", "theirs\n")
    expect(await codeOf(() => prepared.execute(quietly))).toBe("ACODE-FS-007")
    expect(t.read("a.txt")).toBe("theirs\n")
    const fresh = await t.declare("write_file", { path: "b.txt", content: "new\n" }).prepare()
    t.put("b.txt", "theirs\n")
    expect(await codeOf(() => fresh.execute(quietly))).toBe("ACODE-FS-008")
    expect(t.read("b.txt")).toBe("theirs\n")
  })

  test("preparing again sees what is there now", async () => {
    t.put("a.txt", "old\n")
    const declared = t.declare("write_file", { path: "a.txt", content: "new\n" })
    await declared.prepare()
    t.put("a.txt", "theirs\n")
    expect((await declared.prepare()).targets[0]?.before).toBe(sha256Hex("theirs\n"))
  })

  test("a binary file can be replaced, and the preview says so", async () => {
    t.put("bin", Uint8Array.of(0, 1, 2, 3))
    const prepared = await t.declare("write_file", { path: "bin", content: "text" }).prepare()
    expect(prepared.preview).toContain("binary or large, 4 bytes")
    expect(prepared.targets[0]?.before).toBe(sha256Hex(Uint8Array.of(0, 1, 2, 3)))
    await prepared.execute(quietly)
    expect(t.read("bin")).toBe("text")
  })

  test("a file too large to be edited can be replaced, and not when it is rewritten from what was shown", async () => {
    const small = testRoom({ limits: { editBytesMax: 100 } })
    try {
      small.put("big.txt", "x\n".repeat(200))
      const content = "[REDACTED:token]\n"
      expect(await codeOf(() => small.call("write_file", { path: "big.txt", content }))).toBe("ACODE-SEC-007")
      await small.call("write_file", { path: "big.txt", content: "y\n" })
      expect(small.read("big.txt")).toBe("y\n")
    } finally {
      small[Symbol.dispose]()
    }
  })

  test("byte order mark and encoding of the file stay, which its reader was not shown", async () => {
    t.put("bom.txt", "\ufeffa\n")
    t.put("latin.txt", Buffer.from("ä\n", "latin1"))
    t.put("wide.txt", Buffer.from("\ufeffä\n", "utf16le"))
    await t.call("write_file", { path: "bom.txt", content: "b\n" })
    await t.call("write_file", { path: "latin.txt", content: "ö\n" })
    await t.call("write_file", { path: "wide.txt", content: "ö\n" })
    expect(t.bytes("bom.txt").toString("utf8")).toBe("\ufeffb\n")
    expect(t.bytes("latin.txt")).toEqual(Buffer.from("ö\n", "latin1"))
    expect(t.bytes("wide.txt")).toEqual(Buffer.from("\ufeffö\n", "utf16le"))
    await t.call("write_file", { path: "bom.txt", content: "\ufeffc\n" })
    expect(t.read("bom.txt")).toBe("\ufeffc\n")
    await t.call("write_file", { path: "latin.txt", content: "日\n" })
    expect(t.read("latin.txt")).toBe("日\n")
  })

  test("the content is written as it is: line ends, no newline at the end, invisible characters", async () => {
    const content = "a\r\nb\n\tc\u200b\u202e\0\\n $HOME"
    await t.call("write_file", { path: "x.txt", content })
    expect(t.read("x.txt")).toBe(content)
  })

  test("what cannot be written fails and leaves nothing behind", async () => {
    mkdirSync(join(t.root, "dir"))
    t.put("a.txt", "x")
    t.put("one", "x")
    linkSync(join(t.root, "one"), join(t.root, "two"))
    const code = (path: string) => codeOf(() => t.call("write_file", { path, content: "y" }))
    expect(await code("dir")).toBe("ACODE-FS-003")
    expect(await code("a.txt/b")).toBe("ACODE-FS-002")
    expect(await code("one")).toBe("ACODE-FS-004")
    expect(await code(".git/config")).toBe("ACODE-SEC-003")
    expect(await code("deep/new/.env")).toBe("ACODE-SEC-003")
    expect(await code("../x")).toBe("ACODE-SEC-005")
    expect(await code("a\0b")).toBe("ACODE-FS-001")
    expect(t.has("deep")).toBe(false)
    expect(await code("lone-\ud800")).not.toBe("none")
    expect(await codeOf(() => t.call("write_file", { path: "u.txt", content: "\ud800" }))).toBe(
      "ACODE-FS-009",
    )
  })

  test("a link that stays inside is followed, and both names are effects", async () => {
    t.put("real.txt", "x\n")
    symlinkSync("real.txt", join(t.root, "link.txt"))
    const declared = t.declare("write_file", { path: "link.txt", content: "y\n" })
    expect(declared.effects).toEqual([
      { kind: "write", path: "link.txt" },
      { kind: "write", path: "real.txt" },
    ])
    const result = await (await declared.prepare()).execute(quietly)
    expect(result.paths).toEqual(["real.txt"])
    expect(t.read("real.txt")).toBe("y\n")
  })

  test("no secret is in a preview, not even half a key", async () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(20)
    const file = `a\n-----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY-----\nz\n`
    t.put("k.txt", file)
    const { preview } = await t
      .declare("write_file", { path: "k.txt", content: "a\n[REDACTED:private-key]\nZ\n" })
      .prepare()
    expect(preview).not.toContain("MIIE")
    expect(preview).toContain("-z")
    expect(preview).toContain("+Z")
  })
})

describe("create_file", () => {
  test("makes a new file", async () => {
    const result = await t.call("file_create", { path: "n/a.txt", contents: "x" })
    expect(result.value).toMatchObject({ path: "n/a.txt", created: true })
    expect(t.declare("create_file", { path: "b.txt", content: "" }).operation).toBe("create b.txt")
  })

  test("fails when something of that name exists, whatever it is", async () => {
    t.put("a.txt", "old")
    mkdirSync(join(t.root, "dir"))
    for (const path of ["a.txt", "dir"]) {
      const failure = await failureOf(() => t.call("create_file", { path, content: "new" }))
      expect(failure).toMatchObject({ code: "ACODE-FS-008", where: path })
    }
    expect(t.read("a.txt")).toBe("old")
  })

  test("fails when the file appears while a person is asked", async () => {
    const prepared = await t.declare("create_file", { path: "a.txt", content: "new" }).prepare()
    t.put("a.txt", "theirs")
    expect(await codeOf(() => prepared.execute(quietly))).toBe("ACODE-FS-008")
    expect(t.read("a.txt")).toBe("theirs")
  })

  test("does not write a marker into a new file", async () => {
    const content = "ok\ntoken = [REDACTED:token]\n"
    const failure = await failureOf(() => t.call("create_file", { path: "a.txt", content }))
    expect(failure).toMatchObject({ code: "ACODE-SEC-007", where: "a.txt:2" })
    expect(t.has("a.txt")).toBe(false)
  })
})
