import { describe, expect, test } from "bun:test"
import { applyPatch } from "../../../src/workspace/change/patch-apply.ts"
import { parsePatch } from "../../../src/workspace/change/patch-parse.ts"
import { codeOf, messageOf } from "../support.ts"

function patched(files: Record<string, string>, patch: string) {
  return applyPatch(parsePatch(patch), path => files[path] ?? null)
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join("")
const change = (at: number, line: string) =>
  `--- a/f\n+++ b/f\n@@ -${at},3 +${at},3 @@\n ${Number(line) - 1}\n-${line}\n+changed\n ${Number(line) + 1}\n`

describe("a change that moved", () => {
  for (const offset of [-40, -3, -1, 0, 1, 5, 60])
    test(`by ${offset} lines is found and the offset told`, () => {
      const [file] = patched({ f: lines(1, 200) }, change(100 - 1 - offset, "100"))
      expect(file?.after).toBe(lines(1, 200).replace("\n100\n", "\nchanged\n"))
      expect(file?.hunks).toEqual([{ line: 99, offset, fuzz: 0 }])
    })

  test("is not guessed where two places fit", () => {
    const twice = lines(1, 50) + lines(1, 50)
    expect(codeOf(() => patched({ f: twice }, change(70, "20")))).toBe("ACODE-PAT-004")
    expect(patched({ f: twice }, change(69, "20"))[0]?.hunks[0]).toEqual({ line: 69, offset: 0, fuzz: 0 })
  })

  test("does not go back behind the change before it", () => {
    const patch = `${change(99, "100")}@@ -9,3 +9,3 @@\n 9\n-10\n+changed\n 11\n`
    expect(codeOf(() => patched({ f: lines(1, 200) }, patch))).toBe("ACODE-PAT-002")
  })
})

describe("context that changed", () => {
  const patch = "--- a/f\n+++ b/f\n@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+changed\n 5\n 6\n 7\n"

  test("is ignored up to three lines at each end, and reported", () => {
    const fuzzOf = (text: string) => patched({ f: text }, patch)[0]?.hunks[0]?.fuzz
    expect(fuzzOf("1\n2\n3\n4\n5\n6\n7\n")).toBe(0)
    expect(fuzzOf("x\n2\n3\n4\n5\n6\n7\n")).toBe(1)
    expect(fuzzOf("x\n2\n3\n4\n5\nx\nx\n")).toBe(2)
    expect(fuzzOf("x\nx\nx\n4\nx\nx\nx\n")).toBe(3)
  })

  test("stays as the file has it", () => {
    expect(patched({ f: "x\nx\n3\n4\n5\n6\n7\n" }, patch)[0]?.after).toBe("x\nx\n3\nchanged\n5\n6\n7\n")
  })

  test("is never ignored in removed lines", () => {
    expect(codeOf(() => patched({ f: "1\n2\n3\nfour\n5\n6\n7\n" }, patch))).toBe("ACODE-PAT-002")
  })
})

describe("many files", () => {
  const both = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n"

  test("come back with what they were", () => {
    expect(
      patched({ a: "1\n", b: "1\n" }, both).map(({ path, before, after }) => [path, before, after]),
    ).toEqual([
      ["a", "1\n", "2\n"],
      ["b", "1\n", "2\n"],
    ])
  })

  test("are all named when they do not fit", () => {
    const message = messageOf(() => patched({ a: "x\n", b: "x\n" }, both))
    expect(message).toContain('"a"')
    expect(message).toContain('"b"')
    expect(codeOf(() => patched({ a: "1\n" }, both))).toBe("ACODE-PAT-005")
  })

  test("can be made and then changed, and keep what they were at first", () => {
    const patch = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n--- a/n\n+++ b/n\n@@ -1 +1 @@\n-1\n+2\n"
    expect(patched({}, patch)).toEqual([
      {
        path: "n",
        before: null,
        after: "2\n",
        hunks: [
          { line: 1, offset: 0, fuzz: 0 },
          { line: 1, offset: 0, fuzz: 0 },
        ],
      },
    ])
  })
})

test("a change at the very start, the very end and in an empty file fits", () => {
  expect(patched({ f: "1\n" }, "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+0\n")[0]?.after).toBe("0\n1\n")
  expect(patched({ f: "1\n" }, "--- a/f\n+++ b/f\n@@ -1,0 +2 @@\n+2\n")[0]?.after).toBe("1\n2\n")
  expect(patched({ f: "" }, "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+1\n")[0]?.after).toBe("1\n")
  expect(codeOf(() => patched({ f: "1\n" }, "--- a/f\n+++ b/f\n@@ -9,0 +10 @@\n+2\n"))).toBe("ACODE-PAT-002")
})

describe("a hunk without line numbers", () => {
  const text = "a\nb\nc\nb\nd\n"
  const patchOf = (...hunks: readonly string[]) => `--- a/f\n+++ b/f\n${hunks.join("")}`

  test.each(["@@", "@@ @@", "@@ ... @@", "@@ function f() {"])("goes where its lines are: %s", header => {
    const [file] = patched({ f: text }, patchOf(`${header}\n c\n-b\n+x\n d\n`))
    expect(file?.after).toBe("a\nb\nc\nx\nd\n")
    expect(file?.hunks).toEqual([{ line: 3, offset: 0, fuzz: 0 }])
  })

  test("comes after the one before it, and leaves the numbers of the next one as they are", () => {
    const hunks = ["@@\n-a\n+A\n", "@@ -3 +3 @@\n-c\n+C\n", "@@\n-b\n+B\n"]
    expect(patched({ f: text }, patchOf(...hunks))[0]?.after).toBe("A\nb\nC\nB\nd\n")
    expect(codeOf(() => patched({ f: text }, patchOf("@@\n-d\n+D\n", "@@\n-a\n+A\n")))).toBe("ACODE-PAT-002")
  })

  test("is refused where its lines are twice, or not there to the letter", () => {
    expect(codeOf(() => patched({ f: text }, patchOf("@@\n-b\n+x\n")))).toBe("ACODE-PAT-004")
    expect(codeOf(() => patched({ f: text }, patchOf("@@\n y\n-c\n+x\n")))).toBe("ACODE-PAT-002")
  })

  test("that only adds lines is refused except in an empty file", () => {
    expect(patched({ f: "" }, patchOf("@@\n+x\n"))[0]?.after).toBe("x\n")
    expect(patched({}, "--- /dev/null\n+++ b/n\n@@\n+x\n")[0]?.after).toBe("x\n")
    expect(messageOf(() => patched({ f: text }, patchOf("@@\n+x\n")))).toBe(
      '"f": the change adds lines and does not say where',
    )
  })

  test("fits a file with carriage returns, and may come with them", () => {
    const windows = "a\r\nb\r\n"
    expect(patched({ f: windows }, patchOf("@@\n-b\n+x\n"))[0]?.after).toBe("a\r\nx\r\n")
    const carried = patchOf("@@\n-b\n+x\n").replaceAll("\n", "\r\n")
    expect(patched({ f: "a\nb\n" }, carried)[0]?.after).toBe("a\nx\n")
  })
})
