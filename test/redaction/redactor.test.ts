import { describe, expect, test } from "bun:test"
import { Failure } from "../../src/domain/failure.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"

const plain = createRedactor({ secretValues: [], extraPatterns: [] })
const github = `ghp_${"a1".repeat(18)}`

describe("text", () => {
  test("without secrets is the very same text", () => {
    const text = "nothing here but a token of appreciation"
    expect(plain.redactText(text)).toBe(text)
    expect(plain.redactText("")).toBe("")
  })

  test("keeps characters of every kind around a secret", () => {
    expect(plain.redactText(`zwölf € 😀 ${github} \ud800 é`)).toBe(
      "zwölf € 😀 [REDACTED:github-token] \ud800 é",
    )
  })
})

describe("bytes", () => {
  test("that are no UTF-8 survive around a secret", () => {
    const before = Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x80, 0x20])
    const after = Buffer.from([0x20, 0xed, 0xa0, 0x80, 0x00, 0xff])
    const redacted = plain.redactBytes(Buffer.concat([before, Buffer.from(github), after]))
    expect(Buffer.from(redacted).toString("hex")).toBe(
      Buffer.concat([before, Buffer.from("[REDACTED:github-token]"), after]).toString("hex"),
    )
  })

  test("without secrets are not copied", () => {
    const bytes = Buffer.from([0, 255, 10, 128, 65])
    expect(plain.redactBytes(bytes)).toBe(bytes)
  })

  test("of a part of a larger buffer are read where they are", () => {
    const buffer = Buffer.from(`xx password=hunter22 yy password=hunter33`)
    const part = buffer.subarray(3, 20)
    expect(Buffer.from(plain.redactBytes(part)).toString()).toBe("password=[REDACTED:password]")
    const untouched = Buffer.from("0123456789").subarray(2, 5)
    expect(Buffer.from(plain.redactBytes(untouched)).toString()).toBe("234")
  })
})

describe("known values, rules and patterns together", () => {
  const all = createRedactor({ secretValues: ["zq81-xw72-value"], extraPatterns: ["INT-[0-9]{6}"] })

  test("each finds its own", () => {
    expect(all.redactText("a zq81-xw72-value b INT-123456 c password=hunter22")).toBe(
      "a [REDACTED:environment] b [REDACTED:custom] c password=[REDACTED:password]",
    )
  })

  test("a value that is part of a longer secret is hidden, whoever sees it first", () => {
    const redacted = all.redactText('{"token": "zq81-xw72-value-and-more"}')
    expect(redacted).not.toContain("zq81")
    expect(all.redactText(redacted)).toBe(redacted)
  })

  test("a marker that uncovers a token does not make the second redaction differ", () => {
    const uncover = createRedactor({ secretValues: [], extraPatterns: ["q+"] })
    const once = uncover.redactText(`qqq${github} x`)
    expect(once).toBe("[REDACTED:custom][REDACTED:github-token] x")
    expect(uncover.redactText(once)).toBe(once)
  })
})

test("a pattern that cannot be used is a configuration failure that names it", () => {
  const create = () => createRedactor({ secretValues: [], extraPatterns: ["fine", "(a+)+b"] })
  expect(create).toThrow(Failure)
  try {
    create()
  } catch (error) {
    expect(error instanceof Failure ? error.report : null).toMatchObject({
      kind: "config",
      code: "ACODE-CFG-003",
      where: "execution.redaction.patterns[1]",
      message: expect.stringContaining("(a+)+b"),
    })
  }
})

describe("a stream", () => {
  const run = (chunks: readonly string[]) => {
    const stream = plain.stream()
    return [
      ...chunks.map(chunk => Buffer.from(stream.push(Buffer.from(chunk))).toString()),
      Buffer.from(stream.end()).toString(),
    ]
  }

  test("finds a secret that was split", () => {
    expect(run(["my ghp", "_a1a1a1a1a1", "a1a1a1a1a1a1a1a1a1a1 ok\n"]).join("")).toBe(
      "my [REDACTED:github-token] ok\n",
    )
  })

  test("lets a line without open questions through as soon as it ends", () => {
    expect(run(["first line\n", "second line\n"])).toEqual(["first line\n", "second line\n", ""])
    expect(run(["password: hunter22\n", "x\n"])).toEqual(["password: [REDACTED:password]\n", "x\n", ""])
  })

  test("keeps an unfinished line back until it ends, and gives it out at the end", () => {
    expect(run(["pass", "word=hunter22"])).toEqual(["", "", "password=[REDACTED:password]"])
  })

  test("shows a progress bar that goes back to the beginning of its line", () => {
    expect(run(["10%\r", "20%\r"]).slice(0, 2).join("")).toContain("10%")
  })

  test("redacts a secret without end in bounded memory", () => {
    const stream = plain.stream()
    let out = Buffer.from(stream.push(Buffer.from("Authorization: Bearer a1"))).toString()
    for (let count = 0; count < 100; count++)
      out += Buffer.from(stream.push(Buffer.from("b2".repeat(5000)))).toString()
    out += Buffer.from(stream.push(Buffer.from(" done\n"))).toString() + Buffer.from(stream.end()).toString()
    expect(out).toBe("Authorization: Bearer [REDACTED:authorization] done\n")
  })

  test("does not mind that the caller fills its buffer again", () => {
    const stream = plain.stream()
    const buffer = Buffer.from("password=hun")
    let out = Buffer.from(stream.push(buffer)).toString()
    buffer.fill("x")
    out += Buffer.from(stream.push(Buffer.from("ter22\n"))).toString()
    expect(out).toBe("password=[REDACTED:password]\n")
  })

  test("two streams of one redactor do not see each other", () => {
    const [a, b] = [plain.stream(), plain.stream()]
    a.push(Buffer.from("password="))
    b.push(Buffer.from("plain "))
    expect(Buffer.from(b.push(Buffer.from("hunter22\n"))).toString()).toBe("plain hunter22\n")
    expect(Buffer.from(a.push(Buffer.from("hunter22\n"))).toString()).toBe("password=[REDACTED:password]\n")
  })
})
