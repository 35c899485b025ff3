import { afterAll, beforeAll, expect } from "bun:test"
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readTrackedPaths } from "../../../src/workspace/tree/git-rules.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { git, putFile } from "../git-repository.ts"

const gitTest = testWhere(missingProgram("git"))

let base: string
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-index-")))
})
afterAll(() => rmSync(base, { recursive: true }))

function repository(name: string, ...init: string[]): string {
  const top = join(base, name)
  for (let index = 0; index < 30; index++)
    putFile(top, `dir${index % 4}/${"x".repeat(index)}file-${index}.ts`, `${index}`)
  putFile(top, "ünï cödé/ß", "x")
  symlinkSync("dir0", join(top, "link"))
  git(top, "init", "-q", ...init)
  git(top, "add", "-A")
  return top
}

function tracked(top: string, hashBytes: 20 | 32 = 20): string[] {
  return [...readTrackedPaths(readFileSync(join(top, ".git/index")), hashBytes)].sort()
}

function listed(top: string): string[] {
  return git(top, "ls-files", "-z").split("\0").filter(Boolean).sort()
}

for (const version of [2, 3, 4])
  gitTest(`version ${version} of the index is read as git lists it`, () => {
    const top = repository(`v${version}`)
    git(top, "update-index", "--index-version", `${version}`)
    expect(tracked(top)).toEqual(listed(top))
  })

gitTest("entries with extended flags are read", () => {
  const top = repository("extended")
  putFile(top, "later.ts", "x")
  git(top, "add", "--intent-to-add", "later.ts")
  expect(tracked(top)).toEqual(listed(top))
  expect(tracked(top)).toContain("later.ts")
})

gitTest("a repository with long hashes is read", () => {
  const top = repository("sha256", "--object-format=sha256")
  expect(tracked(top, 32)).toEqual(listed(top))
})

gitTest("garbage, a cut index and nothing are no failure", () => {
  const index = readFileSync(join(repository("whole"), ".git/index"))
  expect(readTrackedPaths(new Uint8Array(0), 20).size).toBe(0)
  expect(readTrackedPaths(Buffer.from("DIRC garbage that is long enough"), 20).size).toBe(0)
  for (let length = 0; length < index.length; length += 37) {
    const some = readTrackedPaths(index.subarray(0, length), 20)
    expect(some.size).toBeLessThanOrEqual(32)
  }
})
