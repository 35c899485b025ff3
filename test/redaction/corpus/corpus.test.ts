import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { createRedactor } from "../../../src/redaction/redactor.ts"

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
const folder = new URL("../../scenarios/redaction/", import.meta.url)

/** Puts the parts of a line together, so that no file holds a token that a scanner would take for a real one. */
function expanded(text: string): string {
  return text
    .replace(/\{([^{}*]+)\*(\d+)\}/g, (_, part: string, count: string) => part.repeat(Number(count)))
    .replaceAll("{nl}", "\n")
    .replaceAll("{}", "")
}

function casesOf(file: string): { readonly label: string; readonly text: string }[] {
  return readFileSync(new URL(file, folder), "utf8")
    .split("\n")
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const bar = line.indexOf(" | ")
      return { label: `${file}:${number} ${line.slice(0, bar)}`, text: line.slice(bar + 3) }
    })
}

test("each secret of the corpus is replaced, and nothing around it", () => {
  const cases = casesOf("secrets.txt")
  const wrong = cases.flatMap(({ label, text }) => {
    const arrow = text.lastIndexOf(" => ")
    const expected = expanded(text.slice(arrow + 4))
    const redacted = redactor.redactText(expanded(text.slice(0, arrow)))
    return redacted === expected ? [] : [{ label, redacted, expected }]
  })
  expect(wrong).toEqual([])
  expect(cases.length).toBeGreaterThan(140)
})

test("what only looks like a secret comes out as it went in", () => {
  const cases = casesOf("stays.txt")
  const wrong = cases.flatMap(({ label, text }) => {
    const redacted = redactor.redactText(expanded(text))
    return redacted === expanded(text) ? [] : [{ label, redacted }]
  })
  expect(wrong).toEqual([])
  expect(cases.length).toBeGreaterThan(140)
})

test("the sources of a compiler, which speak of tokens all the time, come out as they went in", () => {
  const library = new URL("../../../node_modules/typescript/lib/", import.meta.url)
  const files = readdirSync(library).filter(name => /\.(?:js|ts)$/.test(name))
  const changed = files.filter(name => {
    const text = readFileSync(new URL(name, library), "utf8")
    return redactor.redactText(text) !== text
  })
  expect(changed).toEqual([])
  expect(files.length).toBeGreaterThan(100)
})

test("the corpus is found as one text too, and redacting it again changes nothing", () => {
  const lines = casesOf("secrets.txt").map(({ text }) => text.slice(0, text.lastIndexOf(" => ")))
  const once = redactor.redactText(expanded(lines.join("\n\n")))
  expect(redactor.redactText(once)).toBe(once)
  expect(once.match(/\[REDACTED:/g)?.length).toBeGreaterThan(140)
})
