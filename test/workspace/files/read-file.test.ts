import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { closeSync, ftruncateSync, openSync, symlinkSync, writeSync } from "node:fs"
import { sha256Hex } from "../../../src/base/canonical.ts"
import { Failure } from "../../../src/domain/failure.ts"
import { readLines, readWhole, readWholeText } from "../../../src/workspace/files/read-file.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "../support.ts"

let ws: TestWorkspace
const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`)

beforeAll(() => {
  ws = testWorkspace()
  ws.put("hundred.txt", lines.join(""))
  ws.put("deep/er/file.txt", "deep\n")
  ws.put("crlf.txt", "a\r\nb\r\n")
  ws.put("binary.bin", Buffer.from([1, 2, 0, 3]))
  ws.put("latin1.txt", Buffer.from("gr\xfcn\n", "latin1"))
  ws.put("wide.txt", Buffer.from("\ufeffeins\nzwei\ndrei\n", "utf16le"))
  ws.put("marked.txt", "\ufeffone\ntwo\n")
  ws.put("umlauts.txt", "ä".repeat(50))
  symlinkSync("deep/er/file.txt", ws.path("link"))
  symlinkSync(ws.path("deep"), ws.path("absolute-link"))
})
afterAll(() => ws[Symbol.dispose]())

describe("reading lines", () => {
  test("returns all of a small file and its facts", () => {
    expect(readLines(ws.root, "crlf.txt", { bytesMax: 100 })).toEqual({
      path: "crlf.txt",
      text: "a\r\nb\r\n",
      fromLine: 1,
      lineCount: 2,
      totalLines: 2,
      truncated: false,
      encoding: "utf-8",
      sizeBytes: 6,
      sha256: sha256Hex("a\r\nb\r\n"),
    })
  })

  test("returns a range, and the hash of the whole file", () => {
    const read = readLines(ws.root, "hundred.txt", { fromLine: 10, lineCount: 3, bytesMax: 1000 })
    expect(read.text).toBe("line 10\nline 11\nline 12\n")
    expect(read).toMatchObject({
      fromLine: 10,
      lineCount: 3,
      totalLines: 100,
      sha256: sha256Hex(lines.join("")),
    })
  })

  test("a range beyond the end is empty, without a failure", () => {
    const read = readLines(ws.root, "hundred.txt", { fromLine: 200, bytesMax: 1000 })
    expect(read).toMatchObject({ text: "", lineCount: 0, totalLines: 100, truncated: false })
  })

  test("is cut at the bound and never inside a character", () => {
    const read = readLines(ws.root, "umlauts.txt", { bytesMax: 7 })
    expect(read).toMatchObject({ text: "äää", truncated: true, encoding: "utf-8" })
    expect(readLines(ws.root, "umlauts.txt", { bytesMax: 8 }).text).toBe("ääää")
  })

  test("follows a symlink that stays inside and names where the file is", () => {
    expect(readLines(ws.root, "link", { bytesMax: 100 })).toMatchObject({
      path: "deep/er/file.txt",
      text: "deep\n",
    })
    expect(readLines(ws.root, "absolute-link/er/file.txt", { bytesMax: 100 }).path).toBe("deep/er/file.txt")
  })

  test("understands wide text, byte order marks and single bytes", () => {
    expect(readLines(ws.root, "wide.txt", { fromLine: 2, lineCount: 1, bytesMax: 100 })).toMatchObject({
      text: "zwei\n",
      totalLines: 3,
      encoding: "utf-16le",
    })
    expect(readLines(ws.root, "marked.txt", { bytesMax: 100 }).text).toBe("one\ntwo\n")
    expect(readLines(ws.root, "latin1.txt", { bytesMax: 100 })).toMatchObject({
      text: "grün\n",
      encoding: "latin1",
    })
  })

  test("refuses binary files, missing ones and those that may not be read", () => {
    expect(codeOf(() => readLines(ws.root, "binary.bin", { bytesMax: 100 }))).toBe("ACODE-FS-009")
    expect(codeOf(() => readLines(ws.root, "missing", { bytesMax: 100 }))).toBe("ACODE-FS-002")
    expect(codeOf(() => readLines(ws.root, "crlf.txt/x", { bytesMax: 100 }))).toBe("ACODE-FS-002")
    expect(codeOf(() => readLines(ws.root, "crlf.txt/", { bytesMax: 100 }))).toBe("ACODE-FS-002")
    expect(codeOf(() => readLines(ws.root, "deep", { bytesMax: 100 }))).toBe("ACODE-FS-003")
  })
})

describe("reading all of a file", () => {
  test("returns text with its format, to be written again", () => {
    expect(readWholeText(ws.root, "marked.txt", 1000)).toEqual({
      path: "marked.txt",
      text: "one\ntwo\n",
      format: { encoding: "utf-8", bom: true },
      sha256: sha256Hex("\ufeffone\ntwo\n"),
    })
  })

  test("has a ceiling", () => {
    expect(codeOf(() => readWhole(ws.root, "hundred.txt", 100))).toBe("ACODE-FS-006")
    expect(codeOf(() => readWholeText(ws.root, "binary.bin", 100))).toBe("ACODE-FS-009")
    expect(Buffer.from(readWhole(ws.root, "binary.bin", 4).bytes)).toEqual(Buffer.from([1, 2, 0, 3]))
  })

  test("has that ceiling also for files that do not say their size", () => {
    using proc = new WorkspaceRoot("/proc/self")
    expect(codeOf(() => readWhole(proc, "maps", 64))).toBe("ACODE-FS-006")
    expect(readWhole(proc, "comm", 64).bytes.length).toBeGreaterThan(0)
  })
})

test("the guard is called with the typed path and the real one, and its errors propagate", () => {
  const asked: string[] = []
  using guarded = new WorkspaceRoot(ws.root.path, (path, operation) => {
    asked.push(`${operation} ${path}`)
    if (path === "deep/er/file.txt")
      throw new Failure({ kind: "denied", code: "ACODE-SEC-003", message: "protected" })
  })
  expect(codeOf(() => readLines(guarded, "link", { bytesMax: 10 }))).toBe("ACODE-SEC-003")
  expect(asked).toEqual(["read link", "read deep/er/file.txt"])
})

test("a range of a 100 MB file is read in less than 20 MB", () => {
  const fd = openSync(ws.path("large.txt"), "w")
  writeSync(fd, "first line\n".repeat(1000))
  ftruncateSync(fd, 100 * 1024 * 1024)
  writeSync(fd, "\nlast line\n", 100 * 1024 * 1024)
  closeSync(fd)
  const child = Bun.spawnSync([
    process.execPath,
    Bun.fileURLToPath(import.meta.resolve("../read-range.ts")),
    ws.root.path,
    "large.txt",
  ])
  const { text, totalLines, extraBytes } = JSON.parse(child.stdout.toString())
  expect({ text, totalLines }).toEqual({ text: "last line\n", totalLines: 1002 })
  expect(extraBytes).toBeLessThan(20 * 1024 * 1024)
}, 20_000)

test("a file of many chunks is read as it is, whole and by lines", () => {
  const text = Array.from({ length: 40_000 }, (_, index) => `${index + 1}\n`).join("")
  ws.put("n.txt", text)
  const whole = readWhole(ws.root, "n.txt", 1 << 20)
  expect(Buffer.from(whole.bytes).equals(Buffer.from(text))).toBe(true)
  expect(readWholeText(ws.root, "n.txt", 1 << 20).text === text).toBe(true)
  expect(readLines(ws.root, "n.txt", { bytesMax: 1 << 20 }).text === text).toBe(true)
  const middle = readLines(ws.root, "n.txt", { fromLine: 20_000, lineCount: 5, bytesMax: 1000 })
  expect(middle.text).toBe("20000\n20001\n20002\n20003\n20004\n")
})
