import { describe, expect, test } from "bun:test"
import { textChanges } from "../../../src/workspace/change/changes.ts"
import { codeOf } from "../support.ts"

describe("the files of a patch", () => {
  test("are returned with the action for each, and none is read", () => {
    const patch = [
      "--- a/one.txt\n+++ b/one.txt\n@@ -1 +1 @@\n-1\n+2\n",
      "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n",
      "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    ].join("")
    expect(textChanges.patchedFiles(patch, null)).toEqual([
      { path: "one.txt", action: "modify" },
      { path: "new.txt", action: "create" },
      { path: "old.txt", action: "delete" },
    ])
  })

  test("are the one file that hunks without a header are about, and no other", () => {
    expect(textChanges.patchedFiles("@@ -1 +1 @@\n-1\n+2\n", "a.txt")).toEqual([
      { path: "a.txt", action: "modify" },
    ])
    const other = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-1\n+2\n"
    expect(codeOf(() => textChanges.patchedFiles(other, "a.txt"))).toBe("ACODE-PAT-005")
    expect(codeOf(() => textChanges.patchedFiles("no patch", null))).toBe("ACODE-PAT-001")
  })
})
