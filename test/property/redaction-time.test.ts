import { describe, expect, test } from "bun:test"
import { createRedactor } from "../../src/redaction/redactor.ts"

const redactor = createRedactor({ secretValues: ["correct-horse-battery-staple"], extraPatterns: [] })
const filled = (unit: string, bytes: number) =>
  Buffer.from(unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes))

/** Texts that begin like a secret all over, or never end. */
const hostile: Readonly<Record<string, string>> = {
  "one letter": "a",
  blanks: " ",
  dashes: "-",
  quotes: `"'`,
  backslashes: "\\",
  "token prefixes in one run": "sk-",
  "token prefixes apart": " sk-",
  "key blocks without end": `-----BEGIN ${""}PRIVATE KEY-----\n`,
  "key blocks without label": "-----BEGIN",
  words: "token",
  assignments: "password=",
  "quoted assignments": '"api_key": "',
  "assignments in assignments": '{\\"token\\":\\"',
  "spaced assignments": "token:        ",
  "lines of assignments": "token=a\n",
  "keys that are seldom secret": "_key=",
  addresses: "https://user:",
  "JWT beginnings": "eyJhbGciOi.",
  headers: "Authorization: Bearer ",
  options: " -p",
  "options with programs": " mysql -pabc",
  "nearly a value": "correct-horse-battery-stapl",
  "real secrets": "password=hunter22 ",
  markers: "[REDACTED:token]",
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1000
}

describe("time is linear in the input", () => {
  for (const [name, unit] of Object.entries(hostile))
    test(`with ${name}`, () => {
      const [small, large] = [filled(unit, 30_000), filled(unit, 300_000)]
      redactor.redactBytes(small)
      // What takes quadratic time needs minutes here; how fast the machine is decides nothing.
      expect(cpuMs(() => void redactor.redactBytes(large))).toBeLessThan(2_000)
    })

  test("of a stream whose line never ends, byte by byte", () => {
    const bytes = filled("token sk- ", 60_000)
    const stream = redactor.stream()
    const spent = cpuMs(() => {
      for (let at = 0; at < bytes.length; at++) stream.push(bytes.subarray(at, at + 1))
      stream.end()
    })
    expect(spent).toBeLessThan(2_000)
  })
})
