import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../../src/base/canonical.ts"
import { codeOf, failureOf, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

const keyBody = Array.from(
  { length: 12 },
  (_, index) => `MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ${index}`,
)
const key = ["-----BEGIN PRIVATE KEY-----", ...keyBody, "-----END PRIVATE KEY-----"]

test("a whole file is read, with its numbers and its hash", async () => {
  t.put("src/a.ts", "one\ntwo\n")
  const result = await t.call("read_file", { path: "./src/a.ts" })
  expect(result).toEqual({
    value: {
      path: "src/a.ts",
      content: "one\ntwo\n",
      from_line: 1,
      line_count: 2,
      total_lines: 2,
      truncated: false,
      encoding: "utf-8",
      sha256: sha256Hex("one\ntwo\n"),
    },
    text: "src/a.ts (2 lines):\none\ntwo\n",
    error: null,
    exitCode: null,
    executionId: null,
    paths: ["src/a.ts"],
    changes: [],
    diagnostics: [],
  })
})

test("a range of lines is read, and the plan name reads the whole file", async () => {
  t.put("a.txt", "1\n2\r\n3\n4\n")
  const { value, text } = await t.call("read_file", { path: "a.txt", from_line: 2, line_count: 2 })
  expect(value).toMatchObject({ content: "2\r\n3\n", from_line: 2, line_count: 2, total_lines: 4 })
  expect(text).toBe("a.txt (lines 2-3 of 4):\n2\r\n3\n")
  expect((await t.call("file_read", { path: "a.txt" })).value).toMatchObject({ content: "1\n2\r\n3\n4\n" })
})

test("a range behind the end is empty and no failure", async () => {
  t.put("a.txt", "1\n")
  const { value } = await t.call("read_file", { path: "a.txt", from_line: 50 })
  expect(value).toMatchObject({ content: "", line_count: 0, total_lines: 1, truncated: false })
})

test("a huge file is cut: the value at its limit, the text at both ends of the view", async () => {
  const huge = testRoom({ limits: { editBytesMax: 10_000, viewBytesMax: 500 } })
  try {
    huge.put("big.txt", Array.from({ length: 5_000 }, (_, index) => `line ${index}\n`).join(""))
    const { value, text } = await huge.call("read_file", { path: "big.txt" })
    expect(value).toMatchObject({ truncated: true, total_lines: 5_000 })
    expect(JSON.stringify(value).length).toBeLessThan(13_000)
    expect(Buffer.byteLength(text)).toBeLessThan(600)
    expect(text).toContain("line 1\n")
    expect(text).toContain("cut off")
    expect(text).toMatch(/\[… \d+ of \d+ bytes are not shown …\]/)
    const tail = await huge.call("read_file", { path: "big.txt", from_line: 4_999 })
    expect(tail.value).toMatchObject({ content: "line 4998\nline 4999\n", truncated: false })
  } finally {
    huge[Symbol.dispose]()
  }
})

test("secrets are shown as markers, in the value and in the text", async () => {
  t.put("c.ini", 'user = a\npassword = "hunter2xyz"\n')
  const { value, text } = await t.call("read_file", { path: "c.ini" })
  expect(value).toMatchObject({ content: 'user = a\npassword = "[REDACTED:password]"\n' })
  expect(text).not.toContain("hunter2xyz")
})

test("no range shows a line of a key, wherever it starts", async () => {
  const lines = ["first", ...key, "last"]
  t.put("k.txt", `${lines.join("\n")}\n`)
  for (let from = 1; from <= lines.length; from++)
    for (const count of [1, 2, 5, 100]) {
      const { value } = await t.call("read_file", { path: "k.txt", from_line: from, line_count: count })
      const shown = JSON.stringify(value)
      // A single line of a key that has not begun in it is known by what stands before.
      for (const body of keyBody) expect(shown).not.toContain(body)
    }
  const { value } = await t.call("read_file", { path: "k.txt", from_line: 15, line_count: 2 })
  expect(value).toMatchObject({ content: "[REDACTED:private-key]\nlast\n" })
})

test("line ends of a range stay as they are, with secrets before and in it", async () => {
  t.put("m.txt", 'password = "hunter2xyz"\r\nb\nc\r\ntoken = "abc123DEF456"\r\nd')
  const { value } = await t.call("read_file", { path: "m.txt", from_line: 2 })
  expect(value).toMatchObject({ content: 'b\nc\r\ntoken = "[REDACTED:token]"\r\nd', line_count: 4 })
})

test("lines behind very long ones are read all the same", async () => {
  t.put("long.txt", `${"x".repeat(200_000)}\nend\n`)
  const { value } = await t.call("read_file", { path: "long.txt", from_line: 2 })
  expect(value).toMatchObject({ content: "end\n" })
})

test("other encodings are told", async () => {
  t.put("latin.txt", Buffer.from("grün\n", "latin1"))
  t.put("wide.txt", Buffer.from("\ufeffgrün\n", "utf16le"))
  expect((await t.call("read_file", { path: "latin.txt" })).value).toMatchObject({
    content: "grün\n",
    encoding: "latin1",
  })
  expect((await t.call("read_file", { path: "wide.txt" })).value).toMatchObject({
    content: "grün\n",
    encoding: "utf-16le",
  })
})

test("what cannot be read fails with the code of the workspace", async () => {
  t.put("bin", Uint8Array.of(1, 0, 2))
  mkdirSync(join(t.root, "dir"))
  expect(await codeOf(() => t.call("read_file", { path: "missing.txt" }))).toBe("ACODE-FS-002")
  expect(await codeOf(() => t.call("read_file", { path: "dir" }))).toBe("ACODE-FS-003")
  expect(await codeOf(() => t.call("read_file", { path: "bin" }))).toBe("ACODE-FS-009")
  expect(await codeOf(() => t.call("read_file", { path: ".env" }))).toBe("ACODE-SEC-003")
})

test("a path that leads outside is refused before anything is read", async () => {
  symlinkSync("/etc", join(t.root, "link"))
  for (const path of ["../x", "/etc/passwd", "a/../../x", "link/passwd"]) {
    const failure = await failureOf(() => t.declare("read_file", { path }))
    expect(failure?.code).toBe("ACODE-SEC-005")
    expect(failure?.message).toContain("outside workspace")
  }
})

test("the effects name the path as typed and where it leads, once when they are the same", () => {
  t.put("real/a.txt", "x")
  symlinkSync("real", join(t.root, "alias"))
  expect(t.declare("read_file", { path: "./real/a.txt" }).effects).toEqual([
    { kind: "read", path: "real/a.txt" },
  ])
  expect(t.declare("read_file", { path: "alias/a.txt" }).effects).toEqual([
    { kind: "read", path: "alias/a.txt" },
    { kind: "read", path: "real/a.txt" },
  ])
  const absolute = t.declare("read_file", { path: join(t.root, "real/a.txt") })
  expect(absolute.effects).toEqual([{ kind: "read", path: "real/a.txt" }])
  expect(absolute).toMatchObject({ effectClass: "read", network: null, operation: "read real/a.txt" })
})

test("nothing is changed, so nothing is a target", async () => {
  t.put("a.txt", "x")
  const prepared = await t.declare("read_file", { path: "a.txt" }).prepare()
  expect(prepared.targets).toEqual([])
  expect(prepared.preview).toBe("read a.txt")
})
