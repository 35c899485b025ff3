import { expect, test } from "bun:test"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { reinserted } from "../../src/tools/reinsertion.ts"
import { shownText } from "../../src/tools/shown-text.ts"
import { seeded } from "../workspace/support.ts"
import { type TestRoom, testRoom } from "./support.ts"

type Below = (below: number) => number
const letters = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKMNPQRSTUVWXYZ23456789"
const random = (below: Below, length: number) =>
  Array.from({ length }, () => letters[below(letters.length)]).join("")

/** A secret of each kind of shape the redactor knows, in a line of its own; a key has many. */
const secretLines: readonly ((below: Below, end: string) => { line: string; secret: string })[] = [
  below => within('password = "', `${random(below, 8)}7x`, '"'),
  below => within("key: ", `ghp_${random(below, 36)}`, ""),
  below => within("  aws = ", `AKIA${random(below, 15).toUpperCase()}7`, " # eu"),
  below => within("url: https://user:", `${random(below, 10)}9`, "@example.org/x"),
  below => within("Authorization: Bearer ", `${random(below, 30)}1`, ""),
  below => within("stripe ", `sk_live_${random(below, 24)}`, ";"),
  (below, end) => {
    const body = Array.from({ length: 4 + below(20) }, () => random(below, 64)).join(end)
    return within("", `-----BEGIN PRIVATE KEY-----${end}${body}${end}-----END PRIVATE KEY-----`, "")
  },
]

function within(before: string, secret: string, after: string) {
  return { line: before + secret + after, secret }
}

interface Scene {
  readonly lines: string[]
  readonly secrets: string[]
}

function sceneOf(below: Below, end: string): Scene {
  const lines = Array.from({ length: 3 + below(25) }, (_, index) => `plain line ${index} grün`)
  const secrets: string[] = []
  for (let count = 1 + below(5); count > 0; count--) {
    const made = secretLines[below(secretLines.length)]?.(below, end)
    if (made === undefined) continue
    lines.splice(below(lines.length + 1), 0, made.line)
    secrets.push(made.secret)
  }
  return { lines, secrets }
}

/** Changes, adds and removes lines that hold no marker. */
function editedElsewhere(shown: readonly string[], below: Below): string[] {
  return shown.flatMap((line, index) => {
    if (line.includes("[REDACTED:")) return [line]
    const dice = below(6)
    if (dice === 0) return [`${line} changed`]
    if (dice === 1) return []
    return dice === 2 ? [line, `added after ${index}`] : [line]
  })
}

const formats = {
  lf: { end: "\n", encode: (text: string) => Buffer.from(text, "utf8") },
  crlf: { end: "\r\n", encode: (text: string) => Buffer.from(text, "utf8") },
  bom: { end: "\n", encode: (text: string) => Buffer.from(`\ufeff${text}`, "utf8") },
  latin1: { end: "\n", encode: (text: string) => Buffer.from(text, "latin1") },
  utf16: { end: "\r\n", encode: (text: string) => Buffer.from(`\ufeff${text}`, "utf16le") },
} as const

async function shownLines(t: TestRoom, end: string): Promise<string[]> {
  const { value } = await t.call("read_file", { path: "f.txt" })
  return String(Object(value).content).split(end)
}

test.each(Object.entries(formats))(
  "%s: all secrets survive a rewrite from what was shown",
  async (name, format) => {
    using t = testRoom()
    const below = seeded(name.length * 7919)
    let edited = 0
    for (let round = 0; round < 15; round++) {
      const { lines, secrets } = sceneOf(below, format.end)
      const content = format.encode(lines.join(format.end) + format.end)
      t.put("f.txt", content)
      const shown = await shownLines(t, format.end)
      for (const secret of secrets) expect(shown.join("\n")).not.toContain(secret)
      const proposed = editedElsewhere(shown, below)
      if (proposed.join() !== shown.join()) edited += 1
      await t.call("write_file", { path: "f.txt", content: proposed.join(format.end) })
      const after = t.bytes("f.txt")
      for (const secret of secrets) expect(after.includes(withoutMark(format, secret))).toBe(true)
      expect(after.includes(withoutMark(format, "[REDACTED:"))).toBe(false)
      expect(await shownLines(t, format.end)).toEqual(proposed)
      if (proposed.join() === shown.join()) expect(after).toEqual(content)
    }
    expect(edited).toBeGreaterThan(10)
  },
)

/** The bytes of a part of the file, which has no byte order mark of its own. */
function withoutMark(format: (typeof formats)[keyof typeof formats], text: string): Buffer {
  return format === formats.utf16 ? Buffer.from(text, "utf16le") : Buffer.from(text, "utf8")
}

test("all secrets survive edits and patches written against what was shown", async () => {
  using t = testRoom()
  const below = seeded(4242)
  let patched = 0
  for (let round = 0; round < 15; round++) {
    const { lines, secrets } = sceneOf(below, "\n")
    t.put("f.txt", `${lines.join("\n")}\n`)
    const shown = (await shownLines(t, "\n")).join("\n")
    const proposed = editedElsewhere(shown.split("\n"), below).join("\n")
    const patch = t.room.changes.unifiedDiff("f.txt", shown, proposed)
    if (patch === "") continue
    patched += 1
    await t.call("modify_file", { path: "f.txt", patch })
    for (const secret of secrets) expect(t.read("f.txt")).toContain(secret)
    expect((await shownLines(t, "\n")).join("\n")).toBe(proposed)
    const first = proposed.split("\n").find(line => line !== "" && proposed.split(line).length === 2)
    if (first === undefined || first.includes("[REDACTED:")) continue
    const edits = [{ search: first, replace: `${first} once more` }]
    await t.call("modify_file", { path: "f.txt", edits })
    for (const secret of secrets) expect(t.read("f.txt")).toContain(secret)
  }
  expect(patched).toBeGreaterThan(10)
})

test("whatever the file and the edits elsewhere, what comes out is the file with the edits", () => {
  const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
  const below = seeded(99)
  for (let round = 0; round < 400; round++) {
    const end = round % 2 === 0 ? "\n" : "\r\n"
    const { lines, secrets } = sceneOf(below, end)
    const shown = shownText(lines.join(end), redactor)
    const proposed = editedElsewhere(shown.text.split(end), below).join(end)
    const result = reinserted("f", shown, proposed)
    for (const secret of secrets) expect(result.split(secret).length).toBe(2)
    expect(redactor.redactText(result)).toBe(proposed)
  }
})
