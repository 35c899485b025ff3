// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of shells is what it is about
import { afterAll, describe, expect, test } from "bun:test"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { marks, type ParsedCommand, type ParsedScript } from "../../src/policy/shell/script.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { parser } from "./policy-kit.ts"

/**
 * Strings made of shell syntax are given to the parser and to real shells in which p, q and r write down how they were
 * called. Whatever a shell starts, the parser must have found, with the same arguments. What it calls unreadable is
 * never run by acode and is not compared.
 */
const directory = mkdtempSync(join(tmpdir(), "acode-shell-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A function may be defined but has no name to be called by: nothing made of these can start itself over and over. */
const pieces = [
  ..."p|q|r|p a|q b|a|b|ab|-x| | | |\t|'|'|\"|\"|\\|$x|${x}|$(q)|`r`|$((1+1))|*|~|#| # |; |&& |& |(|)|{ |; }".split(
    "|",
  ),
  ..."<a §>o §>>o §2>&1 §!§! §=§x=1 §[ a ] §[ §] §if p; then §; fi§else §for i in a b; do §; done".split("§"),
  ..."case a in a) §;; esac§f() { §<<E\n§E\n§\nE\n§$'a'§\\\n§{a,b}§?§[a]§$§$(§`§<(p) §[[ a ]] ".split("§"),
  ...'((1)) §&> o §<<<a §$1§"$@"§${x:-b}§é§function f §;;§time §in §do §then §2§1>o §{x}>o §-§--'.split("§"),
  ...'\\ §\\"§\\$§a\\\nb§%§+§x+=1 §x[0]=1 §<<-E\n§\tE\n§<<\'E\'\n§>|o §<&- §>&2 §$x$x§"$x"§\'a b\'§"a b"'.split(
    "§",
  ),
  ...'@§elif p; then §}§{§command p §$#§$?§${#x}§${x%b}§${x§^§&§;§<§>§${x:-`r`}§${x:-$(r)}§" $x "§$((§))'.split(
    "§",
  ),
  ...'"`r`"§<<E\n`r`\nE\n§<<E\n$(r)\nE\n§a=~§\n§| §|| §|§||'.split("§"),
]

function generator(seed: number): () => string {
  let state = seed
  const below = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 8) % limit
  }
  return () => {
    const count = 1 + below(9)
    const parts = Array.from({ length: count }, () => pieces[below(pieces.length)] ?? "")
    return (["p ", "q ", ""][below(3)] ?? "") + parts.join("")
  }
}

/** Runs each script in a subshell of its own, without programs, and returns what was called how. */
function callsIn(shell: string, scripts: readonly string[]): string[][][] {
  const place = mkdtempSync(join(directory, "run-"))
  for (const [index, script] of scripts.entries()) writeFileSync(join(place, `s${index}`), script)
  const driver = `cd '${place}'; mkdir w
end=$(printf '\\002')
rec() { l=; for a in "$@"; do l="$l$a$end"; done; printf '\\001%s' "$l" >&9; }
p() { rec p "$@"; }; q() { rec q "$@"; return 1; }; r() { rec r "$@"; }
PATH=/nonexistent; i=0
while [ $i -lt ${scripts.length} ]; do
  ( cd w; : > a; : > o; exec 9>../o$i 2>/dev/null </dev/null; set -f; . ../s$i >/dev/null ); i=$((i+1))
done`.replace("mkdir w", `/bin/mkdir w`)
  writeFileSync(join(place, "driver"), driver)
  Bun.spawnSync([shell, join(place, "driver")], { stdout: "ignore", stderr: "ignore", timeout: 50_000 })
  return scripts.map((_, index) => {
    const file = join(place, `o${index}`)
    if (!existsSync(file)) return []
    const calls = readFileSync(file, "utf8").split("\u0001").slice(1)
    return calls.map(call => call.split("\u0002").slice(0, -1))
  })
}

function explains({ words }: ParsedCommand, call: readonly string[]): boolean {
  const keywords = words.findIndex(word => !["time", "!", "command", "coproc"].includes(word))
  const own = words.slice(Math.max(0, keywords))
  const [name] = own
  if (name === undefined || !patternOf(name).test(call[0] ?? "")) return false
  if (own.some(word => word.includes(marks.splitting))) return true
  return own.length === call.length && own.every((word, index) => patternOf(word).test(call[index] ?? ""))
}

function patternOf(word: string): RegExp {
  const characters = [...word].map(character => {
    if (character === marks.unknown || character === marks.splitting) return "[^]*"
    if (character === marks.wildcard) return "[*?\\[]"
    return character === marks.home ? ".*" : character.replace(/[.*+?^${}()|[\]\\/-]/, "\\$&")
  })
  return new RegExp(`^${characters.join("")}$`)
}

const seed = 20_240_601
const count = 2000
const generate = generator(seed)
const scripts = Array.from({ length: count }, generate)
const readable = scripts.flatMap(text => {
  const script = parser.parse(text)
  return script.readable && !/while|until/.test(text) ? [{ text, script }] : []
})
type Readable = ParsedScript & { readable: true }

describe(`of ${count} strings made from seed ${seed}`, () => {
  test("many are readable, so that there is something to compare", () => {
    expect(readable.length).toBeGreaterThan(count / 10)
  })

  for (const shell of ["/bin/bash", "/bin/sh"]) {
    testWhere(missingProgram(shell))(
      `${shell} starts nothing the parser has not found`,
      () => {
        // A POSIX shell reads what only bash has in its own way; acode does not hand such a string to it.
        const fair = (script: Readable) => shell === "/bin/bash" || script.bashOnly === null
        const list = readable.filter(({ script }) => fair(script))
        let compared = 0
        for (const [index, calls] of callsIn(
          shell,
          list.map(({ text }) => text),
        ).entries()) {
          const entry = list[index]
          for (const call of calls) {
            compared += 1
            const found = entry?.script.commands.some(command => explains(command, call))
            expect({ text: entry?.text, call, found }).toEqual({ text: entry?.text, call, found: true })
          }
        }
        expect(compared).toBeGreaterThan(count / 10)
      },
      60_000,
    )
  }
})
