import { describe, expect, test } from "bun:test"
import { Failure } from "../../src/domain/failure.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { reinserted } from "../../src/tools/reinsertion.ts"
import { shownText } from "../../src/tools/shown-text.ts"

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })

/** What becomes of a file when somebody who was shown it redacted writes it anew. */
function rewritten(current: string, change: (shown: string) => string): string {
  const shown = shownText(current, redactor)
  return reinserted("f.txt", shown, change(shown.text))
}

function refusal(step: () => unknown): string {
  try {
    step()
  } catch (error) {
    if (error instanceof Failure) return `${error.report.code} ${error.report.where}`
    throw error
  }
  return "none"
}

const a = 'password = "alpha1111"'
const b = 'password = "beta2222"'
const c = 'password = "gamma3333"'
const marked = 'password = "[REDACTED:password]"'

describe("secrets are put back", () => {
  test("where their line is unchanged, whatever happens around it", () => {
    const current = `head\n${a}\ntail\n`
    expect(rewritten(current, text => text)).toBe(current)
    expect(rewritten(current, text => text.replace("head", "HEAD\nmore"))).toBe(`HEAD\nmore\n${a}\ntail\n`)
    expect(rewritten(current, text => text.replace("tail\n", ""))).toBe(`head\n${a}\n`)
    expect(rewritten(current, () => `${marked}\n`)).toBe(`${a}\n`)
  })

  test("when their line was moved or is there twice", () => {
    expect(rewritten(`x\n${a}\n`, () => `${marked}\nx\n`)).toBe(`${a}\nx\n`)
    expect(rewritten(`x\n${a}\n`, () => `${marked}\n${marked}\n`)).toBe(`${a}\n${a}\n`)
  })

  test("in order, where several lines look alike and all of them stay", () => {
    const current = `one\n${a}\ntwo\n${b}\nthree\n${c}\n`
    expect(rewritten(current, text => text.replace("two", "2"))).toBe(current.replace("two", "2"))
    const renamed = rewritten(current, text => text.replace(/^(one|two|three)$/gm, name => `host-${name}`))
    expect(renamed).toBe(current.replace(/^(one|two|three)$/gm, name => `host-${name}`))
  })

  test("by what stands next to them, where one of several is removed", () => {
    const current = `dev:\n${a}\nprod:\n${b}\ntest:\n${c}\n`
    expect(rewritten(current, () => `prod:\n${marked}\n`)).toBe(`prod:\n${b}\n`)
    expect(rewritten(current, () => `dev:\n${marked}\n\ntest:\n${marked}\n`)).toBe(
      `dev:\n${a}\n\ntest:\n${c}\n`,
    )
  })

  test("by what stands next to them, where parts were moved", () => {
    const current = `dev:\n${a}\nprod:\n${b}\n`
    expect(rewritten(current, () => `prod:\n${marked}\ndev:\n${marked}\n`)).toBe(`prod:\n${b}\ndev:\n${a}\n`)
  })

  test("where alike lines hold the same secret, however many there are", () => {
    const current = `${a}\n${a}\n`
    expect(rewritten(current, () => `${marked}\nx\n${marked}\n${marked}\n`)).toBe(`${a}\nx\n${a}\n${a}\n`)
  })

  test("with line ends of the new text, and keys of many lines as they were", () => {
    const body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\r\n".repeat(4)
    const key = `-----BEGIN PRIVATE KEY-----\r\n${body}-----END PRIVATE KEY-----`
    const current = `a\r\n${key}\r\nb\r\n`
    expect(rewritten(current, text => text.replace("b", "B"))).toBe(current.replace("\nb", "\nB"))
    expect(rewritten(current, () => "a\n[REDACTED:private-key]\nb\n")).toBe(`a\n${key}\nb\n`)
  })

  test("at the end without a newline", () => {
    expect(rewritten(`x\n${a}`, text => `y\n${text}`)).toBe(`y\nx\n${a}`)
    expect(rewritten(`x\n${a}\n`, text => text.trimEnd())).toBe(`x\n${a}`)
  })
})

describe("a marker never reaches a file", () => {
  test("a changed line with a marker is refused by its number", () => {
    const change = (text: string) => text.replace(marked, `${marked} # changed`)
    expect(refusal(() => rewritten(`x\ny\n${a}\n`, change))).toBe("ACODE-SEC-007 f.txt:3")
  })

  test("a marker out of nowhere is refused, in a new file and in an old one", () => {
    expect(refusal(() => reinserted("n.txt", null, "a\nkey: [REDACTED:token]\n"))).toBe(
      "ACODE-SEC-007 n.txt:2",
    )
    expect(refusal(() => rewritten("plain\n", () => "[REDACTED:api-key]"))).toBe("ACODE-SEC-007 f.txt:1")
  })

  test("an indented line is another line", () => {
    expect(refusal(() => rewritten(`${a}\n`, () => `  ${marked}\n`))).toBe("ACODE-SEC-007 f.txt:1")
  })

  test("a line that could stand for several secrets is refused rather than guessed", () => {
    const current = `one\n${a}\ntwo\n${b}\n`
    // Which of the two is gone, when the name of the other was changed as well?
    expect(refusal(() => rewritten(current, () => `three\n${marked}\n`))).toBe("ACODE-SEC-007 f.txt:2")
    expect(refusal(() => rewritten(current, text => `${text}three\n${marked}\n`))).toBe(
      "ACODE-SEC-007 f.txt:6",
    )
  })

  test("a secret is not given to a second line that happens to stand in its place", () => {
    const current = `one\n${a}\ntwo\n${b}\n`
    const proposed = `one\n${marked}\nnew\n${marked}\ntwo\n${marked}\n`
    expect(refusal(() => rewritten(current, () => proposed))).toBe("ACODE-SEC-007 f.txt:4")
  })

  test("neighbours that disagree are no help", () => {
    const current = `one\n${a}\ntwo\n${b}\nthree\n${c}\n`
    // Either the first and the name of the second are gone, or the second and its name.
    expect(refusal(() => rewritten(current, () => `one\n${marked}\nthree\n`))).toBe("ACODE-SEC-007 f.txt:2")
    expect(refusal(() => rewritten(`${a}\none\n${b}\ntwo\n${c}`, () => `two\n${marked}\none\n`))).toBe(
      "ACODE-SEC-007 f.txt:2",
    )
  })
})

describe("what is no secret passes", () => {
  test("a marker that stands in the file itself", () => {
    const current = "Secrets become [REDACTED:kind].\nmore\n"
    expect(rewritten(current, text => text.replace("more", "less"))).toBe(current.replace("more", "less"))
  })

  test("a text without any marker, even when it drops the secrets", () => {
    expect(rewritten(`${a}\n`, () => "gone\n")).toBe("gone\n")
    expect(reinserted("n.txt", null, "[REDACTED] and [REDACTED: x]")).toBe("[REDACTED] and [REDACTED: x]")
  })
})
