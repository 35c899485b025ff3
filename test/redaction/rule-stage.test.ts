import { describe, expect, test } from "bun:test"
import { createRuleStage } from "../../src/redaction/rule-stage.ts"
import { lookaheadBytes } from "../../src/redaction/scene.ts"

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")
const whole = (input: string) => text(createRuleStage().push(Buffer.from(input, "latin1"), true))

function chunked(input: string, size: number): string {
  const stage = createRuleStage()
  const bytes = Buffer.from(input, "latin1")
  let out = ""
  for (let at = 0; at < bytes.length; at += size)
    out += text(stage.push(bytes.subarray(at, at + size), false))
  return out + text(stage.push(new Uint8Array(0), true))
}

const pem = `-----BEGIN RSA ${""}PRIVATE KEY-----\n${`${"MIIE".repeat(16)}\n`.repeat(20)}-----END RSA ${""}PRIVATE KEY-----`
const inputs: Readonly<Record<string, string>> = {
  "several secrets": `a=1\npassword=hunter22 token: ${"z9".repeat(9)}\nhttps://u:p4ss@h/x\nend`,
  "a key block": `before\n${pem}\nafter password=hunter22\n`,
  "a key block without end": `x ${pem.slice(0, 700)}`,
  "a key block that is too long": `${pem.slice(0, 400)}${`${"MIIE".repeat(16)}\n`.repeat(400)}end`,
  "a long line": `${"lorem ipsum ".repeat(400)}password=hunter22 ${"dolor sit ".repeat(400)}`,
  "a secret longer than what is looked at": `token="${"ab1".repeat(2000)}" next\n`,
  "a secret with escapes at every place": `token="${'a1\\"'.repeat(900)}" next\n`,
  "escapes before a line end": `token="${"a1\\".repeat(900)}\n" next\n`,
  "a token at the very end": `x ghp_${"a1".repeat(18)}`,
  "markers that are there already": "password=[REDACTED:password]\n[REDACTED:token] = hunter22 x\n",
  "no line ends at all": `${"x".repeat(5000)}`,
}

describe("every chunking gives what the whole gives", () => {
  for (const [name, input] of Object.entries(inputs))
    test(name, () => {
      const expected = whole(input)
      for (const size of [1, 2, 3, 7, 64, 255, 256, 257, 1000, 1024, 4096])
        expect(chunked(input, size)).toBe(expected)
    })
})

describe("what is held back", () => {
  test("is bounded, on a line that never ends", () => {
    const stage = createRuleStage()
    let given = 0
    let received = 0
    for (let count = 0; count < 200; count++) {
      given += 100
      received += stage.push(Buffer.from("token ".repeat(20).slice(0, 100)), false).length
      expect(given - received).toBeLessThan(lookaheadBytes + 100)
    }
  })

  test("is bounded, in a key block that never ends", () => {
    const stage = createRuleStage()
    stage.push(Buffer.from(`-----BEGIN ${""}PRIVATE KEY-----\n`), false)
    let out = ""
    for (let count = 0; count < 800; count++)
      out += text(stage.push(Buffer.from("no key at all, only lines of text here\n"), false))
    expect(out.length).toBeGreaterThan(0)
  })

  test("is nothing, when a line has ended", () => {
    const stage = createRuleStage()
    expect(text(stage.push(Buffer.from("the password is: unknown\n"), false))).toBe(
      "the password is: unknown\n",
    )
  })
})

describe("markers", () => {
  test("are no keys, although they contain their words", () => {
    expect(whole("[REDACTED:token] = hunter22x1")).toBe("[REDACTED:token] = hunter22x1")
    expect(whole("[REDACTED:authorization]: a1b2c3d4e5f6g7h8i9")).toBe(
      "[REDACTED:authorization]: a1b2c3d4e5f6g7h8i9",
    )
  })

  test("are no names either", () => {
    const once = whole(`curl -u sk-${"B1".repeat(40)}`)
    expect(once).toBe("curl -u [REDACTED:secret-key]")
    expect(whole(once)).toBe(once)
  })

  test("are what comes before the next secret, for the first redaction as for the second", () => {
    const once = whole(`ghp_${"a1".repeat(18)}.password=hunter22`)
    expect(once).toBe("[REDACTED:github-token].password=[REDACTED:password]")
    expect(whole(once)).toBe(once)
  })
})

test("input without anchors is given back as it is", () => {
  const input = Buffer.from("plain words\nand numbers 12345\n")
  expect(createRuleStage().push(input, true)).toBe(input)
})

test("a short text and a long one are judged alike, though they are scanned in different ways", () => {
  const secret = 'x password=hunter22 "token": "a1b2c3d4"'
  const padding = "\n".repeat(3000)
  expect(whole(padding + secret)).toBe(padding + whole(secret))
})
