import { describe, expect, test } from "bun:test"
import { newLayer } from "../../../src/policy/programs/layer.ts"
import { judgeAwk, judgeSed } from "../../../src/policy/programs/text-tools.ts"
import { findingsOf, marked, touchesOf } from "../policy-kit.ts"

const judged = (judge: typeof judgeSed, argv: readonly string[]) => {
  const found = newLayer(argv.map(marked), null)
  judge(found)
  return { findings: findingsOf(found), touches: touchesOf(found) }
}
const sed = (...args: string[]) => judged(judgeSed, ["sed", ...args])
const awk = (...args: string[]) => judged(judgeAwk, ["awk", ...args])

describe("a sed script", () => {
  const plain = [
    "p",
    "1,20p",
    "$p",
    "/a/p",
    "/a/,/b/d",
    "s/a/b/",
    "s/a/b/g",
    "s|a/b|c|gI",
    "s/a/b/2p",
    "1d;2d",
    "s/a/b/;s/c/d/",
    "/x/!d",
    "y/ab/cd/",
    "5q",
    "=",
    "1~2p",
    "s/[a-z]/x/",
    "s/a\\/b/c/",
    "",
    "$!N",
    "/a/I,+3p",
  ]
  test.each(plain)("%s only prints and substitutes", script => {
    expect(sed("-n", script, "x").findings).toEqual([])
  })

  const risky = [
    "e",
    "1e id",
    "s/a/b/e",
    "s/a/b/ge",
    "w out",
    "s/a/b/w out",
    "/a/w out",
    "r x",
    "a\\text",
    "i text",
    "c x",
    "{p",
    "s/a/b",
    "s/[/]e/x/",
    "b x",
    ":a",
    "{?}",
    "s/a/{?}/",
    "W x",
    "R x",
    "F",
    "v",
    "M",
    "s\na\nb\n",
    "p x",
    "1;e",
  ]
  test.each(risky)("%j may do more", script => {
    expect(sed("-n", script, "x").findings).toContain("ask commands.inline-code@2")
  })

  test("is found wherever it is given", () => {
    expect(sed("-e", "e", "x").findings).toEqual(["ask commands.inline-code@1"])
    expect(sed("--expression=e", "x").findings).toEqual(["ask commands.inline-code@1"])
    expect(sed("-ne", "e", "x").findings).toEqual(["ask commands.inline-code@1"])
    expect(sed("-f", "x", "y").findings).toEqual(["ask commands.option@1"])
  })
})

describe("the files of sed", () => {
  test("are read, or written in place", () => {
    expect(sed("s/a/b/", "x", "y").touches).toEqual(["read x@2", "read y@3"])
    expect(sed("-i", "s/a/b/", "x").touches).toEqual(["write x@3"])
    expect(sed("--in-place", "s/a/b/", "x").touches).toEqual(["write x@3"])
    expect(sed("-i.bak", "s/a/b/", "x")).toEqual({ findings: [], touches: ["write x@3"] })
    expect(sed("-e", "p", "x").touches).toEqual(["read x@3"])
  })

  test("may turn out to be options", () => {
    expect(sed("p", "{??}").findings).toEqual(["ask commands.dynamic-option@2"])
  })

  test("and its unknown options are asked", () => {
    expect(sed("--follow-symlinks", "p", "x").findings).toEqual(["ask commands.option@1"])
  })
})

describe("an awk program", () => {
  test.each([
    "{print $1}",
    "NR==1",
    "$1 == 2 || $3 {print}",
    'BEGIN{FS=":"} {print $2}',
    "$3 >= 5",
    "/a/",
    "{s+=$1} END{print s}",
  ])("%s only reads and prints", program => {
    expect(awk(program, "x")).toEqual({ findings: [], touches: ["read x@2"] })
  })

  test.each([
    '{system("id")}',
    '{print > "x"}',
    '{print | "sh"}',
    '"id" | getline',
    "{getline}",
    '@load "x"',
    "{@f()}",
    "{?}",
    '{print >> "x"}',
    'BEGIN{close("x")}',
  ])("%s may do more", program => {
    expect(awk(program, "x").findings).toContain("ask commands.inline-code@1")
  })

  test("may come with a separator and variables, not with code", () => {
    expect(awk("-F:", "-v", "a=1", "{print}", "x")).toEqual({ findings: [], touches: ["read x@5"] })
    for (const option of ["-f", "-i", "-l", "-e", "-E"])
      expect(awk(option, "x", "y").findings).toContain("ask commands.inline-code@1")
  })
})
