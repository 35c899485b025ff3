import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { errorCodes } from "../../src/domain/error-codes.ts"

const sources = join(import.meta.dir, "../../src")

describe("the table of error codes", () => {
  test("names every code once, each series numbered from 1 without a gap", () => {
    const series = new Map<string, number[]>()
    for (const { code } of errorCodes.filter(({ code }) => !/^E\d{3}$/.test(code))) {
      const [, name = "", number = ""] = /^ACODE-([A-Z]+)-(\d{3})$/.exec(code) ?? []
      series.set(name, [...(series.get(name) ?? []), Number(number)])
    }
    expect([...series.keys()]).not.toContain("")
    for (const [name, numbers] of series) expect(numbers, name).toEqual(numbers.map((_, index) => index + 1))
  })

  test("says of each what it means and what to do, in sentences", () => {
    for (const { code, meaning, action } of errorCodes) {
      expect(meaning, code).toMatch(/^\S.{10,}\.$/)
      expect(action, code).toMatch(/^\S.{10,}\.$/)
    }
  })

  test("knows every code that occurs in the sources", async () => {
    const known = new Set(errorCodes.map(({ code }) => code))
    const unknown: string[] = []
    for await (const file of new Bun.Glob("**/*.ts").scan(sources))
      for (const [code] of readFileSync(join(sources, file), "utf8").matchAll(
        /ACODE-[A-Z]+-\d{3}|(?<=")E\d{3}(?=")/g,
      ))
        if (!known.has(code)) unknown.push(`${file}: ${code}`)
    expect(unknown).toEqual([])
  })
})
