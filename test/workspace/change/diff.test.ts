import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { textChanges } from "../../../src/workspace/change/changes.ts"

const { applyPatch, diffTexts, unifiedDiff } = textChanges

describe("a unified diff", () => {
  test("shows what changed with the lines around it", () => {
    const before = Array.from({ length: 12 }, (_, index) => `${index + 1}\n`).join("")
    expect(unifiedDiff("a.txt", before, before.replace("6\n", "six\n"))).toBe(
      [
        "diff --git a/a.txt b/a.txt",
        "--- a/a.txt",
        "+++ b/a.txt",
        "@@ -3,7 +3,7 @@",
        " 3",
        " 4",
        " 5",
        "-6",
        "+six",
        " 7",
        " 8",
        " 9",
        "",
      ].join("\n"),
    )
  })

  test("of a new and of a deleted file names nothing on the other side", () => {
    expect(unifiedDiff("new", null, "x\n")).toContain("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n")
    expect(unifiedDiff("old", "x\n", null)).toContain("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n")
  })

  test("of equal texts is empty, and of an empty new file is not", () => {
    expect(unifiedDiff("a", "x", "x")).toBe("")
    expect(unifiedDiff("a", null, "")).toBe("diff --git a/a b/a\nnew file mode 100644\n")
  })

  test("says where a last line has no newline", () => {
    expect(unifiedDiff("a", "x", "x\n")).toContain("-x\n\\ No newline at end of file\n+x\n")
  })

  test("quotes names that would break its lines", () => {
    expect(unifiedDiff('a"\n', "x\n", "y\n")).toContain('--- "a/a\\"\\012"\n')
  })
})

test("rows carry the numbers of both sides", () => {
  const [hunk] = diffTexts("a\nb\nc\n", "a\nB\nx\nc\n")
  expect(hunk).toMatchObject({ oldStart: 1, oldCount: 3, newStart: 1, newCount: 4 })
  expect(hunk?.rows.map(row => [row.kind, row.text, row.oldLine, row.newLine])).toEqual([
    ["keep", "a", 1, 1],
    ["remove", "b", 2, null],
    ["add", "B", null, 2],
    ["add", "x", null, 3],
    ["keep", "c", 3, 4],
  ])
})

test("changes far apart are hunks of their own, near ones are one", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `${index}\n`)
  const before = lines(40).join("")
  expect(diffTexts(before, before.replace("5\n", "X\n").replace("30\n", "Y\n"))).toHaveLength(2)
  expect(diffTexts(before, before.replace("\n5\n", "\nX\n").replace("\n10\n", "\nY\n"))).toHaveLength(1)
})

const line = fc.constantFrom(
  "a",
  "b",
  "c",
  "",
  " ",
  "\r",
  "a\r",
  "- x",
  "+ y",
  "-- ",
  "--- a",
  "+++ b",
  "@@ -1 +1 @@",
  "\\ n",
  "é",
)
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
  .map(([lines, ended]) => lines.join("\n") + (ended && lines.length > 0 ? "\n" : ""))

test("applying the diff of two texts to the first gives the second", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const patch = unifiedDiff("f", before, after)
      if (patch === "") {
        expect(after).toBe(before)
        return
      }
      const [patched] = applyPatch(patch, null, () => before)
      expect(patched?.after).toBe(after)
      expect(patched?.hunks.every(hunk => hunk.offset === 0 && hunk.fuzz === 0)).toBe(true)
    }),
    { numRuns: 4000 },
  )
})

test("the diff of an added or removed file can be applied too", () => {
  fc.assert(
    fc.property(text, content => {
      const [made] = applyPatch(unifiedDiff("f", null, content), null, () => null)
      expect(made?.after).toBe(content)
      const [gone] = applyPatch(unifiedDiff("f", content, null), null, () => content)
      expect(gone?.after).toBeNull()
    }),
    { numRuns: 1000 },
  )
})

test("a patch still fits when lines are put before everything it is about", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 8, maxLength: 30 }),
      fc.nat(20),
      (numbers, more) => {
        const before = numbers.map(number => `${number}\n`).join("")
        const changed = before.replace(`${numbers[4]}\n`, "changed\n")
        const intro = "intro\n".repeat(more)
        const [patched] = applyPatch(unifiedDiff("f", before, changed), null, () => intro + before)
        expect(patched?.after).toBe(intro + changed)
        expect(patched?.hunks[0]?.offset).toBe(more)
      },
    ),
    { numRuns: 500 },
  )
})
