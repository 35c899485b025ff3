import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Failure } from "../../../src/domain/failure.ts"
import { parsePatch } from "../../../src/workspace/change/patch-parse.ts"
import { codeOf } from "../support.ts"

describe("the files of a patch", () => {
  test("are those of git's headers", () => {
    const patch = [
      "diff --git a/one b/one",
      "index 1..2 100644",
      "--- a/one",
      "+++ b/one",
      "@@ -1 +1 @@",
      "-a",
      "+b",
      "diff --git a/two b/two",
      "new file mode 100644",
      "--- /dev/null",
      "+++ b/two",
      "@@ -0,0 +1 @@",
      "+x",
      "diff --git a/three b/three",
      "deleted file mode 100644",
      "index e69de29..0000000",
      "",
    ].join("\n")
    expect(parsePatch(patch).map(({ path, action, hunks }) => [path, action, hunks.length])).toEqual([
      ["one", "modify", 1],
      ["two", "create", 1],
      ["three", "delete", 0],
    ])
  })

  test("keep a directory that is really called a", () => {
    expect(parsePatch("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-1\n+2\n")[0]?.path).toBe("a/x")
    expect(parsePatch("--- x y\n+++ x y\n@@ -1 +1 @@\n-1\n+2\n")[0]?.path).toBe("x y")
  })

  test("are needed, unless the caller names the only one", () => {
    const hunk = "@@ -1 +1 @@\n-1\n+2\n"
    expect(codeOf(() => parsePatch(hunk))).toBe("ACODE-PAT-001")
    expect(parsePatch(hunk, "f")[0]).toMatchObject({ path: "f", action: "modify" })
  })
})

test("a hunk is read by its counts, and by its signs where they are wrong", () => {
  const body = " a\n-b\n+c\n"
  const expected = [
    { sign: " ", text: "a", isUnended: false },
    { sign: "-", text: "b", isUnended: false },
    { sign: "+", text: "c", isUnended: false },
  ]
  for (const counts of ["-1,2 +1,2", "-1,7 +1,7", "-1 +1", "-1,1 +1,9"])
    expect(parsePatch(`--- f\n+++ f\n@@ ${counts} @@\n${body}`)[0]?.hunks[0]?.lines).toEqual(
      expected as never,
    )
})

test("a header without a change is reported as a mistake", () => {
  expect(codeOf(() => parsePatch("--- a/f\n+++ b/f\n"))).toBe("ACODE-PAT-001")
  expect(codeOf(() => parsePatch("--- a/f\n+++ b/f\n@@ -1 +1 @@\n"))).toBe("ACODE-PAT-001")
  expect(codeOf(() => parsePatch(""))).toBe("ACODE-PAT-001")
})

test("any input gives a patch or a failure that says why", () => {
  const piece = fc.constantFrom(
    "diff --git a/f b/f",
    "--- a/f",
    "+++ b/f",
    "--- /dev/null",
    "@@ -1 +1 @@",
    "@@ -1,3 +1,2 @@",
    "@@ broken",
    " x",
    "-x",
    "+x",
    "",
    "\\ No newline at end of file",
    "-- ",
    "rename from f",
    "prose",
    "\r",
    "new file mode 100644",
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"), (lines, end) => {
      try {
        for (const { hunks } of parsePatch(lines.join(end), null))
          expect(hunks.every(hunk => hunk.lines.length > 0)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(Failure)
      }
    }),
    { numRuns: 4000 },
  )
})
