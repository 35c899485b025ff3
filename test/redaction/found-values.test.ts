import { describe, expect, test } from "bun:test"
import { createRedactor } from "../../src/redaction/redactor.ts"

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
const secret = `p4/${"x+y="}"&é$wörd1`
const frame = `password=${JSON.stringify(secret)}`

describe("a value that was found once is replaced everywhere in the text", () => {
  const spellings: readonly [name: string, written: string][] = [
    ["as it is", secret],
    ["URL-encoded", encodeURIComponent(secret)],
    ["as a string of JSON", JSON.stringify(secret).slice(1, -1)],
    ["in base64", Buffer.from(secret).toString("base64")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
    ["with colours inside", `${secret.slice(0, 4)}\x1b[1m${secret.slice(4)}`],
  ]
  test.each(spellings)("%s, before its finding and behind it", (_, written) => {
    const redacted = redactor.redactText(`got ${written} here\n${frame}\nand <${written}> there\n`)
    expect(redacted).toBe(
      'got [REDACTED:password] here\npassword="[REDACTED:password]"\nand <[REDACTED:password]> there\n',
    )
  })

  test("in the base64 of a longer text, wherever it lies in it", () => {
    for (const before of ["", "a", "ab", "user:"]) {
      const encoded = Buffer.from(`${before}hunter22-and-more tail`).toString("base64")
      const redacted = redactor.redactText(`password=hunter22-and-more\nx ${encoded} y`)
      const left = redacted.slice(redacted.indexOf("\nx ") + 3).split(/\[REDACTED:password\]/)
      expect(left.map(part => Buffer.from(part, "base64").toString("latin1")).join("")).not.toContain(
        "hunter",
      )
    }
  })

  test("decoded, when it was found encoded", () => {
    const basic = Buffer.from("bob:tr0ub4dor&3").toString("base64")
    expect(redactor.redactText(`Authorization: Basic ${basic}\ntried tr0ub4dor&3 for bob`)).toBe(
      "Authorization: Basic [REDACTED:authorization]\ntried [REDACTED:authorization] for bob",
    )
    expect(redactor.redactText("ftp://u:p%40ss%2Fw0rd@h\np@ss/w0rd")).toBe(
      "ftp://u:[REDACTED:url-password]@h\n[REDACTED:url-password]",
    )
  })

  test("line by line, when it is a key", () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7vE1xKq3u0PzT"
    const key = `-----BEGIN PRIVATE KEY-----\n${line}\n${line.toLowerCase()}\n-----END PRIVATE KEY-----`
    expect(redactor.redactText(`${key}\nchunk ${line} of it`)).toBe(
      "[REDACTED:private-key]\nchunk [REDACTED:private-key] of it",
    )
  })

  test("in every part of a text of which the middle is missing", () => {
    const parts = redactor.redactParts([Buffer.from("a hunter22-x b"), Buffer.from("token=hunter22-x\n")])
    expect(parts.map(part => Buffer.from(part).toString())).toEqual([
      "a [REDACTED:token] b",
      "token=[REDACTED:token]\n",
    ])
  })
})

describe("a value is replaced only where it was found", () => {
  test.each([
    ["postgres", "POSTGRES_PASSWORD=postgres\nimage: postgres:16\n"],
    ["short1", "password=short1\nthe short1 road\n"],
    ["scram-sha-256", 'method = ("password", "scram-sha-256")\nauth scram-sha-256\n'],
    ["12345678", "password: 12345678\norder 12345678\n"],
  ])("when it may stand elsewhere for another reason: %s", (value, text) => {
    const redacted = redactor.redactText(text)
    expect(redacted).toContain("[REDACTED:password]")
    expect(redacted.split("\n")[1]).toContain(value)
  })

  test("and not in another text", () => {
    redactor.redactText("password=hunter22-x")
    expect(redactor.redactText("hunter22-x")).toBe("hunter22-x")
  })
})

describe("in a stream", () => {
  const text = "first hunter22-x\npassword=hunter22-x\nthen hunter22-x and hunter22-x\n"
  const streamed = (size: number) => {
    const stream = redactor.stream()
    let out = ""
    for (let at = 0; at < text.length; at += size)
      out += Buffer.from(stream.push(Buffer.from(text.slice(at, at + size)))).toString()
    return out + Buffer.from(stream.end()).toString()
  }

  test("a value is replaced behind its finding, wherever the stream is cut", () => {
    const expected =
      "first hunter22-x\npassword=[REDACTED:password]\nthen [REDACTED:password] and [REDACTED:password]\n"
    for (let size = 1; size <= text.length; size++) expect(streamed(size)).toBe(expected)
  })

  test("a line is out as soon as it ends, also when values are known", () => {
    const stream = redactor.stream()
    stream.push(Buffer.from("password=hunter22-x\n"))
    expect(Buffer.from(stream.push(Buffer.from("nothing to see\n"))).toString()).toBe("nothing to see\n")
  })

  test("of many secrets a bounded number is remembered, and each is replaced where it is found", () => {
    const stream = redactor.stream()
    let markers = 0
    for (let count = 0; count < 20_000; count++) {
      const out = Buffer.from(stream.push(Buffer.from(`password=hunter${count}x\n`))).toString()
      expect(out).not.toContain("hunter")
      markers += out.split("[REDACTED:password]").length - 1
    }
    expect(markers).toBe(20_000)
  })
})
