import { describe, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { unlinkSync, writeFileSync } from "node:fs"
import { basename, dirname } from "node:path"
import fc from "fast-check"
import { pathBytes, pathFromBytes } from "../../src/base/path-bytes.ts"
import { nameOf, parentOf, quotedPath, readShown, shownPath } from "../../src/base/path-names.ts"
import { printable } from "../../src/base/text.ts"
import { OracleDirectory } from "../contents/oracle.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"

describe("the parts of a path", () => {
  test.each(["a", "a/b", "a/b/c.txt", "a/", "a/b//", "./a", "a/./b", "../a", "a/..", ".", "a b/ü.txt"])(
    "of %s are those of node:path",
    path => {
      expect([parentOf(path), nameOf(path)]).toEqual([dirname(path), basename(path)])
    },
  )

  test("keep bytes that are no UTF-8", () => {
    expect([parentOf("d\udcff/x\udc80"), nameOf("d\udcff/x\udc80")]).toEqual(["d\udcff", "x\udc80"])
  })
})

describe("a path as it is printed", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.constantFrom("\n", "\t", "\r", "\u001b", '"', "\\", "\u202e", "é", "\\n", "\\377"),
    fc.integer({ min: 0xdc80, max: 0xdcff }).map(code => String.fromCharCode(code)),
  )
  const path = fc.array(part, { maxLength: 6 }).map(parts => pathFromBytes(pathBytes(parts.join(""))))

  test("is one line that no terminal acts on, and can be read back", () => {
    fc.assert(
      fc.property(path, given => {
        const shown = shownPath(given)
        expect(shown).toBe(printable(shown))
        expect(shown).not.toMatch(/[\t\n\p{Cs}]/u)
        expect(readShown(shown)).toBe(given)
      }),
      { numRuns: 2000 },
    )
  })

  test("is as it is where nothing speaks against it", () => {
    for (const plain of ["src/a b.ts", "é/日本.txt", 'in"side', "back\\slash"]) {
      expect([shownPath(plain), quotedPath(plain)]).toEqual([plain, `"${plain}"`])
    }
  })

  testWhere(missingProgram("git"))("is as git writes it otherwise", () => {
    const odd = ["a\nb", 'a\n"b', "a\\\tb", "\u001b[31m", "\u007f", "\u0007\b\v\f\r\n", "\udcff\udc80\n"]
    using directory = new OracleDirectory()
    expect(odd.map(shownPath)).toEqual(gitNames(directory.path, odd))
  })
})

/** With bytes beyond ASCII escaped: a test of names without any other such bytes. */
function gitNames(directory: string, names: readonly string[]): string[] {
  spawnSync("git", ["init", "-q"], { cwd: directory })
  return names.map(name => {
    const file = Buffer.concat([Buffer.from(`${directory}/`), pathBytes(name)])
    writeFileSync(file, "")
    const { stdout } = spawnSync("git", ["ls-files", "--others"], { cwd: directory, encoding: "utf8" })
    unlinkSync(file)
    return stdout.trimEnd()
  })
}
