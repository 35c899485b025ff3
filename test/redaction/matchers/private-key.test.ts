import { describe, expect, test } from "bun:test"
import { isOpenBlock, privateKeyMatcher } from "../../../src/redaction/matchers/private-key.ts"
import { newline, type Scene } from "../../../src/redaction/scene.ts"

const begin = `-----BEGIN ${""}PRIVATE KEY-----`
const end = `-----END ${""}PRIVATE KEY-----`
const line = "MIIEvQIBADANBgkqhkiG".repeat(3)

function sceneOf(text: string, final: boolean): Scene {
  const bytes = Buffer.from(text)
  return { bytes, floor: 0, floorByte: newline, end: bytes.length, final }
}

function block(text: string): string | null {
  const at = text.indexOf("-----BEGIN")
  const match = privateKeyMatcher(sceneOf(text, true), at, 10)
  return match === null ? null : text.slice(match.start, match.end)
}

describe("a key block with its END", () => {
  test.each([
    ["as it is written", `${begin}\n${line}\nab==\n${end}`],
    ["on one line with escapes", `${begin}\\n${line}\\nab==\\n${end}`],
    ["with anything before each line", `${begin}\nweb_1 | ${line}\nweb_1 | ${end}`],
    ["with headers", `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,00\n\n${line}\n${end}`],
    ["with a short body", `${begin}\nabcd\n${end}`],
  ])("is one secret, %s", (_, text) => {
    expect(block(`x ${text} y`)).toBe(text)
  })

  test.each([
    ["a template", `${begin}\n\${body}\n${end}`],
    ["elided", `${begin}\n...\n${end}`],
    ["elided by one character", `${begin}\nMIIE…\n${end}`],
    ["empty", `${begin}\n\n${end}`],
    ["redacted already", `${begin}\n[REDACTED:secret]\n${end}`],
    ["a public key", `-----BEGIN PUBLIC KEY-----\n${line}\n-----END PUBLIC KEY-----`],
    ["a certificate", `-----BEGIN CERTIFICATE-----\n${line}\n-----END CERTIFICATE-----`],
  ])("is none when it is %s", (_, text) => {
    expect(block(text)).toBeNull()
  })
})

describe("a key block without its END", () => {
  test("goes as far as its lines look like a key", () => {
    expect(block(`${begin}\n${line}\n${line}\nshort==\nand prose`)).toBe(
      `${begin}\n${line}\n${line}\nshort==`,
    )
    expect(block(`${begin}\n${line}\nProse begins here.`)).toBe(`${begin}\n${line}\nProse`)
  })

  test("is recognised when the end of the input cut it", () => {
    expect(block(`${begin}\n${line}\n${line.slice(0, 10)}`)).toBe(`${begin}\n${line}\n${line.slice(0, 10)}`)
  })

  test("skips the headers of an encrypted key", () => {
    const text = `${begin}\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,00\n\n${line}`
    expect(block(text)).toBe(text)
  })

  test("ends where another one begins", () => {
    expect(block(`${begin}\n${line}\n${begin}\n${line}\n${end}`)).toBe(`${begin}\n${line}`)
  })

  test("is none when nothing like a key follows", () => {
    expect(block(`text.includes("${begin}")`)).toBeNull()
    expect(block(`${begin} marks the beginning of a key`)).toBeNull()
    expect(block(begin)).toBeNull()
  })
})

describe("whether more is needed", () => {
  const isOpen = (text: string) => isOpenBlock(sceneOf(text, false), 0)
  test.each([
    ["the label has not ended", "-----BEGIN PRIV", true],
    ["the label names something else", "-----BEGIN CERTIFICATE-----\n", false],
    ["the line ended before the label", "-----BEGIN nothing\n", false],
    ["its end has not come", `${begin}\n${line}\n`, true],
    ["its end may be cut", `${begin}\n${line}\n-----END`, true],
    ["its end has come", `${begin}\n${line}\n${end}\n${"x".repeat(80)}`, false],
    ["it is too long already", `${begin}\n${`${line}\n`.repeat(300)}`, false],
  ])("when %s", (_, text, expected) => {
    expect(isOpen(text)).toBe(expected)
  })
})
