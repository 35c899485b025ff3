import { afterAll, beforeAll, expect } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readGitConfig } from "../../src/base/git-config.ts"
import { seededRandom } from "../soak/random.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"

const gitTest = testWhere(missingProgram("git"))
let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "acode-git-config-"))
})
afterAll(() => rmSync(directory, { recursive: true }))

/** Each variable as git names it: `section.subsection.name`, then `=` and the value, where there is one. */
function asRead(text: string): readonly string[] {
  return readGitConfig(text).map(({ section, subsection, name, value }) => {
    const key = [section, ...(subsection === null ? [] : [subsection]), name].join(".")
    return value === null ? key : `${key}\n${value}`
  })
}

/** What git reads; null where it refuses the file. */
function byGit(text: string): readonly string[] | null {
  const file = join(directory, "config")
  writeFileSync(file, text)
  const child = Bun.spawnSync(["git", "config", "--file", file, "--null", "--list"], {
    env: { PATH: "/usr/bin:/bin", HOME: directory },
  })
  if (child.exitCode !== 0) return null
  return child.stdout.toString().split("\0").slice(0, -1)
}

/** Older versions of git read a tab inside of a value as a space. */
function withSpaces(variable: string): string {
  return variable.replaceAll("\t", " ")
}

const texts = [
  "[core]\n\thooksPath = .githooks\n\tbare\n",
  '[Core]\n  FSMonitor="./run it" # comment\n  pager = less ; -R\n',
  '[includeIf "gitdir:~/Work/"]\n\tpath = "a \\"b\\" \\\\ c"\n',
  "[branch.MAIN]\nremote = a\\\n  b\n",
  '[a]\nx = 1\n[b "c\\\\d\\e"]\ny = 2 [c] z = 3\n',
  "\ufeff[core]\r\n\tbare = true\r\n",
  "[core] hooksPath = one line\n",
  '[alias]\n\tx = !echo "a#b" ;done\n\ty = " keeps  "  \n\tz = \n',
  "; only\n# comments\n",
  "[a-b.c.d]\nkey-1 = a\\tb\\nc\n",
]

gitTest("what git reads from a configuration file is what is read here", () => {
  for (const text of texts) expect([text, asRead(text)]).toEqual([text, byGit(text) ?? []])
})

gitTest("also from files made at random, up to what git refuses", () => {
  const random = seededRandom(50_261_118)
  const words = [...'"\\#;=[]. \t', "\\\n", "\\n", "\\t", '"q"', " ; x", "#", "é", "word", "a b"]
  const starts = [
    "key =",
    "\tkey=",
    "Key-1 = ",
    "other",
    "[core]\n\tname = ",
    '[a "B c"] x =',
    "[b.C]\ny = ",
    "# ",
  ]
  const line = () =>
    `${random.oneOf(starts)}${Array.from({ length: random.whole(4) }, () => random.oneOf(words)).join("")}\n`
  let accepted = 0
  for (let round = 0; round < 300; round++) {
    const text = `[s]\n${Array.from({ length: random.whole(4) + 1 }, line).join("")}`
    const expected = byGit(text)
    if (expected === null) continue
    accepted++
    expect([text, asRead(text).map(withSpaces)]).toEqual([text, expected.map(withSpaces)])
  }
  expect(accepted).toBeGreaterThan(50)
})
