import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { codeOf, failureOf, quietly, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

const edit = (search: string, replace: string) => [{ search, replace }]

describe("edits", () => {
  test("replace a text that is there once, and keep everything else", async () => {
    t.put("a.txt", Buffer.from("\ufeffeins\r\nzwei\r\ndrei\r\n"))
    const declared = t.declare("modify_file", { path: "a.txt", edits: edit("zwei", "2\nund mehr") })
    expect(declared).toMatchObject({ effectClass: "replace", operation: "modify a.txt" })
    expect(declared.effects).toEqual([
      { kind: "read", path: "a.txt" },
      { kind: "write", path: "a.txt" },
    ])
    const prepared = await declared.prepare()
    expect(prepared.preview).toContain("    2       -zwei")
    expect(prepared.preview).toContain("          3 +und mehr")
    expect(prepared.targets).toEqual([
      {
        path: "a.txt",
        before: sha256Hex(t.bytes("a.txt")),
        after: sha256Hex("\ufeffeins\r\n2\r\nund mehr\r\ndrei\r\n"),
      },
    ])
    const result = await prepared.execute(quietly)
    expect(result.value).toEqual({
      files: [{ path: "a.txt", created: false, deleted: false, hunks: [{ line: 2, offset: 0, fuzz: 0 }] }],
    })
    expect(result.text).toBe("a.txt: changed at line 2")
    expect(result.changes).toEqual([...prepared.targets])
    expect(t.bytes("a.txt").toString()).toBe("\ufeffeins\r\n2\r\nund mehr\r\ndrei\r\n")
  })

  test("that change nothing are told and write nothing", async () => {
    t.put("a.txt", "x\n")
    const prepared = await t.declare("modify_file", { path: "a.txt", edits: edit("x", "x") }).prepare()
    expect(prepared.targets).toEqual([])
    expect(prepared.preview).toContain("a.txt (unchanged)")
    expect((await prepared.execute(quietly)).text).toBe("a.txt: unchanged: it already has this content")
  })

  test("that do not fit fail and show the closest place", async () => {
    t.put("a.txt", "const a = 1\nconst b = 2\n")
    const missing = await failureOf(() =>
      t.call("modify_file", { path: "a.txt", edits: edit("const b = 3", "x") }),
    )
    expect(missing?.code).toBe("ACODE-PAT-002")
    expect(missing?.message).toContain("const b = 2")
    const many = () => t.call("modify_file", { path: "a.txt", edits: edit("const", "let") })
    expect(await codeOf(many)).toBe("ACODE-PAT-004")
    expect(t.read("a.txt")).toBe("const a = 1\nconst b = 2\n")
  })

  test("of what is missing, binary, too large or a directory fail", async () => {
    const small = testRoom({ limits: { editBytesMax: 10 } })
    small.put("big.txt", "x".repeat(20))
    small.put("bin", Uint8Array.of(0, 1))
    small.put(".git/config", "x\n")
    mkdirSync(join(small.root, "dir"))
    const code = (path: string) => codeOf(() => small.call("modify_file", { path, edits: edit("x", "y") }))
    expect(await code("none.txt")).toBe("ACODE-FS-002")
    expect(await code("bin")).toBe("ACODE-FS-009")
    expect(await code("big.txt")).toBe("ACODE-FS-006")
    expect(await code("dir")).toBe("ACODE-FS-003")
    expect(await code(".git/config")).toBe("ACODE-SEC-003")
    expect(await code("../x")).toBe("ACODE-SEC-005")
    small[Symbol.dispose]()
  })

  test("of a file that was changed since fail", async () => {
    t.put("a.txt", "x\n")
    const prepared = await t.declare("modify_file", { path: "a.txt", edits: edit("x", "y") }).prepare()
    t.put("a.txt", "x and theirs\n")
    expect(await codeOf(() => prepared.execute(quietly))).toBe("ACODE-FS-007")
    expect(t.read("a.txt")).toBe("x and theirs\n")
  })
})

describe("edits of a file with secrets", () => {
  const file = 'a\npassword = "hunter2xyz"\nb\n'
  const marked = 'password = "[REDACTED:password]"'

  test("leave them where they are", async () => {
    t.put("c.ini", file)
    await t.call("modify_file", { path: "c.ini", edits: edit("b\n", "B\n") })
    expect(t.read("c.ini")).toBe('a\npassword = "hunter2xyz"\nB\n')
  })

  test("may name the line as it was shown", async () => {
    t.put("c.ini", file)
    await t.call("modify_file", { path: "c.ini", edits: edit(`a\n${marked}`, `A\n${marked}`) })
    expect(t.read("c.ini")).toBe('A\npassword = "hunter2xyz"\nb\n')
  })

  test("may remove them, and may name them as they are", async () => {
    t.put("c.ini", file)
    await t.call("modify_file", { path: "c.ini", edits: edit("hunter2xyz", "geheim4711x") })
    expect(t.read("c.ini")).toBe('a\npassword = "geheim4711x"\nb\n')
    await t.call("modify_file", { path: "c.ini", edits: edit(`${marked}\n`, "") })
    expect(t.read("c.ini")).toBe("a\nb\n")
  })

  test("may not change a line with a marker", async () => {
    t.put("c.ini", file)
    const edits = edit("password = ", "passphrase = ")
    const failure = await failureOf(() => t.call("modify_file", { path: "c.ini", edits }))
    expect(failure).toMatchObject({ code: "ACODE-SEC-007", where: "c.ini:2" })
    expect(t.read("c.ini")).toBe(file)
  })

  test("that do not fit are told without a secret", async () => {
    t.put("c.ini", file)
    const failure = await failureOf(() =>
      t.call("modify_file", { path: "c.ini", edits: edit('password = "x"', "y") }),
    )
    expect(failure?.code).toBe("ACODE-PAT-002")
    expect(failure?.message).not.toContain("hunter2xyz")
  })

  test("tell the lines of the file behind a key of many lines", async () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n".repeat(8)
    t.put("k.txt", `-----BEGIN PRIVATE KEY-----\n${body}-----END PRIVATE KEY-----\nlast\n`)
    const { value } = await t.call("modify_file", { path: "k.txt", edits: edit("last", "LAST") })
    expect(value).toMatchObject({ files: [{ hunks: [{ line: 11 }] }] })
  })
})

describe("a patch", () => {
  test("of one file is applied where its lines have moved to, and the offset is told", async () => {
    t.put("src/a.txt", "new\nnew\none\ntwo\nthree\n")
    const patch = "@@ -1,3 +1,3 @@\n one\n-two\n+ZWEI\n three\n"
    const { value, text } = await t.call("modify_file", { path: "./src/a.txt", patch })
    expect(value).toEqual({
      files: [
        { path: "src/a.txt", created: false, deleted: false, hunks: [{ line: 3, offset: 2, fuzz: 0 }] },
      ],
    })
    expect(text).toBe("src/a.txt: changed at line 3 (+2 from where the patch says)")
    expect(t.read("src/a.txt")).toBe("new\nnew\none\nZWEI\nthree\n")
  })

  test("of one file may not be about another", async () => {
    t.put("a.txt", "x\n")
    t.put("b.txt", "x\n")
    const patch = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-x\n+y\n"
    expect(await codeOf(() => t.call("modify_file", { path: "a.txt", patch }))).toBe("ACODE-PAT-005")
  })

  const many = [
    "--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-1\n+eins\n",
    "--- a/two.txt\n+++ b/two.txt\n@@ -1 +1 @@\n-2\n+zwei\n",
    "--- /dev/null\n+++ b/new/three.txt\n@@ -0,0 +1 @@\n+drei\n",
    "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
  ].join("")

  function putMany() {
    t.put("one.txt", "1\n")
    t.put("two.txt", "2\n")
    t.put("old.txt", "old\n")
  }

  test("of a directory changes, makes and deletes files, each declared as what it is", async () => {
    putMany()
    const declared = t.declare("modify_file", { path: ".", patch: many })
    expect(declared.effects).toEqual([
      { kind: "read", path: "one.txt" },
      { kind: "write", path: "one.txt" },
      { kind: "read", path: "two.txt" },
      { kind: "write", path: "two.txt" },
      { kind: "createDirectory", path: "new" },
      { kind: "write", path: "new/three.txt" },
      { kind: "read", path: "old.txt" },
      { kind: "delete", path: "old.txt" },
    ])
    const prepared = await declared.prepare()
    expect(
      prepared.targets.map(({ path, before, after }) => [path, before !== null, after !== null]),
    ).toEqual([
      ["one.txt", true, true],
      ["two.txt", true, true],
      ["new/three.txt", false, true],
      ["old.txt", true, false],
    ])
    const { text, value } = await prepared.execute(quietly)
    expect(text).toContain("new/three.txt: created\nold.txt: deleted")
    expect(value).toMatchObject({ files: [{}, {}, { created: true }, { deleted: true }] })
    expect([t.read("one.txt"), t.read("two.txt"), t.read("new/three.txt")]).toEqual([
      "eins\n",
      "zwei\n",
      "drei\n",
    ])
    expect(t.has("old.txt")).toBe(false)
  })

  test("of which one file does not fit changes none", async () => {
    putMany()
    t.put("two.txt", "other\n")
    const failure = await failureOf(() => t.call("modify_file", { path: ".", patch: many }))
    expect(failure?.code).toBe("ACODE-PAT-002")
    expect(t.read("one.txt")).toBe("1\n")
    expect(t.has("new")).toBe(false)
  })

  test.each(["two.txt", "old.txt"])("that fails at %s puts back what it changed before", async path => {
    putMany()
    const prepared = await t.declare("modify_file", { path: ".", patch: many }).prepare()
    t.put(path, "theirs\n")
    const failure = await failureOf(() => prepared.execute(quietly))
    expect(failure?.code).toBe("ACODE-FS-007")
    expect(failure?.message).toContain("one.txt")
    expect(failure?.message).toContain("restored")
    expect(t.read("one.txt")).toBe("1\n")
    expect(t.read("two.txt")).toBe(path === "two.txt" ? "theirs\n" : "2\n")
    expect(t.has("new/three.txt")).toBe(false)
    expect(t.read("old.txt")).toBe(path === "old.txt" ? "theirs\n" : "old\n")
  })

  test("with names that lead elsewhere is refused before anything is read", async () => {
    symlinkSync("/tmp", join(t.root, "link"))
    for (const name of ["../x.txt", "/etc/x.txt", "link/x.txt"]) {
      const patch = `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-x\n+y\n`
      expect(await codeOf(() => t.declare("modify_file", { path: ".", patch }))).toBe("ACODE-SEC-005")
    }
    const hidden = "--- /dev/null\n+++ b/.env\n@@ -0,0 +1 @@\n+A=1\n"
    expect(await codeOf(() => t.call("modify_file", { path: ".", patch: hidden }))).toBe("ACODE-SEC-003")
    expect(t.has(".env")).toBe(false)
  })

  test("relative to a directory names files below it", async () => {
    t.put("lib/a.txt", "1\n")
    const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-1\n+2\n"
    const { paths } = await t.call("modify_file", { path: "lib", patch })
    expect(paths).toEqual(["lib/a.txt"])
    expect(t.read("lib/a.txt")).toBe("2\n")
  })

  test("that is none is told as that", async () => {
    t.put("a.txt", "x\n")
    expect(await codeOf(() => t.declare("modify_file", { path: "a.txt", patch: "hello" }))).toBe(
      "ACODE-PAT-001",
    )
  })

  test("does not write a marker into a new file", async () => {
    const patch = "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1,2 @@\n+a\n+[REDACTED:token]\n"
    const failure = await failureOf(() => t.call("modify_file", { path: ".", patch }))
    expect(failure).toMatchObject({ code: "ACODE-SEC-007", where: "n.txt:2" })
  })
})
