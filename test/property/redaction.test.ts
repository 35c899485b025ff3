import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { spellingsOf } from "../../src/redaction/found-values.ts"
import { createPatternStages } from "../../src/redaction/pattern-stage.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { createRuleStage } from "../../src/redaction/rule-stage.ts"
import { createValueStages, spellingsAs, valueSetOf } from "../../src/redaction/value-stage.ts"

/** Pieces of secrets and of what surrounds them, which in a row make most of what the rules distinguish. */
const fragments = [
  ..."=:;,.-_/\\|&#@<>()[]{}$\"'` \t\n".split(""),
  ...["\x1b[1m", "\x1b[0m", "\x1b]8;;https://a?token=", "\x1b\\", "\x07", "\x1b", "\\u001b[1m", "\\u001b"],
  ...["\\u0022", "\\/", "\\$", "&quot;", "&#39;", "'\\''", `'"'"'`, "\\n", "$'", "u0022", "&", "%22", "%3D"],
  ...["\r\n", "  ", "--", '\\"', "\\\\", "://", "//", "\u2026", "é", " ".repeat(20)],
  ...[
    "token",
    "TOKEN",
    "password",
    "passwd",
    "secret",
    "api_key",
    "_key",
    "pwd",
    "_auth",
    '"auth"',
    "credential",
  ],
  ...[
    "Bearer ",
    "Authorization: ",
    "Basic ",
    "export ",
    "const ",
    "mysql -u x -p",
    "curl -u a:",
    " -p",
    " -u ",
  ],
  ...[
    "sk-",
    "sk-ant-",
    "ghp_",
    "AKIA",
    "eyJhbGciOi",
    "eyJ",
    "SG.",
    "hf_",
    "npm_",
    "hooks.slack.com/services/",
  ],
  ...[
    "postgres://",
    "user:",
    "@host",
    "hunter2",
    "a1b2c3d4e5",
    "A1B2C3D4E5F6G7H8",
    "abcdefghijklmnopqrst",
    "swordfish",
  ],
  ...[
    "x",
    "xxx",
    "the",
    "required",
    "0",
    "1234",
    `\${X}`,
    "%X%",
    "{{x}}",
    "process.env.X",
    "getToken(",
    "foo.bar",
  ],
  ...[`-----BEGIN ${""}PRIVATE KEY-----`, "-----BEGIN", `-----END ${""}PRIVATE KEY-----`, "-----"],
  ...["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "B".repeat(300), "a".repeat(40)],
  ...[
    "[REDACTED:token]",
    "[REDACTED:",
    "REDACTED",
    "custom-123456",
    "zzz",
    "s3cr3tValue!",
    "czNjcjN0VmFsdWUh",
  ],
]
const longFragments = [
  "B".repeat(500),
  "a1".repeat(400),
  "z\\".repeat(300),
  'q\\"'.repeat(300),
  " ".repeat(1100),
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(330),
]
const texts = fc
  .array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 24 })
  .map(parts => parts.join(""))
const longTexts = fc
  .array(fc.constantFrom(...fragments, ...longFragments), { minLength: 1, maxLength: 20 })
  .map(parts => parts.join(""))
const cuts = fc.array(fc.nat(300), { maxLength: 30 })

const values = ["s3cr3tValue!", "[token]abc123", "x1234567["]
const patterns = ["custom-[0-9]+", "(?i)\\bz+\\b", "x+(token|hunter)?"]
const redactors = {
  "the rules": createRedactor({ secretValues: [], extraPatterns: [] }),
  "the rules and known values": createRedactor({ secretValues: values, extraPatterns: [] }),
  "the rules, known values and patterns": createRedactor({ secretValues: values, extraPatterns: patterns }),
}
const stages = {
  "the rules": createRuleStage,
  "known values": createValueStages(valueSetOf(spellingsAs("environment", spellingsOf(values)))),
  patterns: createPatternStages(patterns),
}

function pieces(text: string, lengths: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  let from = 0
  const cut = lengths.map(length => {
    const piece = bytes.subarray(from, from + length)
    from = Math.min(bytes.length, from + length)
    return piece
  })
  return [...cut, bytes.subarray(from)]
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")

describe("redacting twice is redacting once", () => {
  for (const [name, redactor] of Object.entries(redactors))
    test(`by ${name}`, () => {
      const property = fc.property(texts, text => {
        const once = redactor.redactText(text)
        expect(redactor.redactText(once)).toBe(once)
      })
      fc.assert(property, { numRuns: 1500 })
    })

  test("also in long lines and long secrets", () => {
    const redactor = redactors["the rules and known values"]
    const property = fc.property(longTexts, text => {
      const once = redactor.redactText(text)
      expect(redactor.redactText(once)).toBe(once)
    })
    fc.assert(property, { numRuns: 300 })
  })
})

describe("however the input is cut, the same comes out", () => {
  for (const [name, redactor] of Object.entries(redactors))
    test(`of a stream with ${name}`, () => {
      const streamed = (chunks: readonly Uint8Array[]) => {
        const stream = redactor.stream()
        return [...chunks.map(chunk => latin1(stream.push(chunk))), latin1(stream.end())].join("")
      }
      const property = fc.property(texts, cuts, (text, lengths) => {
        const inOne = streamed([Buffer.from(text)])
        expect(streamed(pieces(text, lengths))).toBe(inOne)
        // Of a whole text a value is replaced before its finding too; what is out of a stream is out.
        const whole = latin1(redactor.redactBytes(Buffer.from(text)))
        if (whole !== inOne)
          expect(whole.split("[REDACTED:").length).toBeGreaterThanOrEqual(inOne.split("[REDACTED:").length)
      })
      fc.assert(property, { numRuns: 800 })
    })

  for (const [name, create] of Object.entries(stages))
    test(`of the stage with ${name}, which holds back no more than it must`, () => {
      const property = fc.property(longTexts, cuts, (text, lengths) => {
        const stage = create()
        const out = pieces(text, lengths).map(piece => latin1(stage.push(piece, false)))
        out.push(latin1(stage.push(new Uint8Array(0), true)))
        expect(out.join("")).toBe(latin1(create().push(Buffer.from(text), true)))
      })
      fc.assert(property, { numRuns: 400 })
    })
})

describe("what is not a secret", () => {
  test("bytes without any anchor come out as they went in", () => {
    const bytes = fc
      .uint8Array({ maxLength: 300 })
      .map(array => array.map(byte => (byte % 2 === 0 ? byte : 0xff)))
    fc.assert(
      fc.property(bytes, input => {
        expect(latin1(redactors["the rules and known values"].redactBytes(input))).toBe(latin1(input))
      }),
      { numRuns: 300 },
    )
  })

  test("nothing is ever added but markers, and nothing is reordered", () => {
    const property = fc.property(texts, text => {
      const redacted = redactors["the rules"].redactText(text)
      let from = 0
      for (const part of redacted.split(/\[REDACTED:[a-z-]+\]/)) {
        const at = text.indexOf(part, from)
        expect(at).toBeGreaterThanOrEqual(from)
        from = at + part.length
      }
    })
    fc.assert(property, { numRuns: 800 })
  })
})

test("a known value is in no output, wherever it stood", () => {
  const redactor = redactors["the rules and known values"]
  const property = fc.property(texts, texts, (before, after) => {
    expect(redactor.redactText(`${before}s3cr3tValue!${after}`)).not.toContain("s3cr3tValue!")
  })
  fc.assert(property, { numRuns: 800 })
})
