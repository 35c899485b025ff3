import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import { textChanges } from "../../../src/workspace/change/changes.ts"
import type { Edit } from "../../../src/workspace/change/contract.ts"

const scenarios = join(import.meta.dir, "../../scenarios/patch")
const cases = readdirSync(scenarios).filter(name => statSync(join(scenarios, name)).isDirectory())

test("there are enough scenarios to mean something", () => expect(cases.length).toBeGreaterThanOrEqual(25))

describe("the patch scenario", () => {
  for (const name of cases)
    test(name, () => {
      const directory = join(scenarios, name)
      const refused = optional(join(directory, "refused.txt"))
      if (refused === null) expect(change(directory)).toEqual(filesIn(join(directory, "after")))
      else expectRefusal(() => change(directory), refused.split("\n").filter(Boolean))
    })
})

/** The files afterwards. */
function change(directory: string): Map<string, string> {
  const files = filesIn(join(directory, "before"))
  const edits = optional(join(directory, "edits.json"))
  if (edits !== null) {
    const [[path, text] = ["", ""]] = files
    return new Map([[path, textChanges.applyEdits(path, text, JSON.parse(edits) as Edit[]).text]])
  }
  const patch = readFileSync(join(directory, "patch.txt"), "utf8")
  const only = optional(join(directory, "only.txt"))
  const patched = textChanges.applyPatch(patch, only, path => files.get(path) ?? null)
  const placed = optional(join(directory, "placed.txt"))
  if (placed !== null) {
    const told = patched.flatMap(file =>
      file.hunks.map(({ line, offset, fuzz }) => `${file.path} line ${line} offset ${offset} fuzz ${fuzz}\n`),
    )
    expect(told.join("")).toBe(placed)
  }
  for (const { path, after } of patched) {
    if (after === null) files.delete(path)
    else files.set(path, after)
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function expectRefusal(step: () => unknown, [code = "", ...parts]: string[]): void {
  let failure: Failure | null = null
  try {
    step()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    failure = error
  }
  expect(failure?.report.code ?? "not refused").toBe(code)
  for (const part of parts) expect(failure?.message).toContain(part)
}

function filesIn(directory: string): Map<string, string> {
  if (!existsSync(directory)) return new Map()
  const paths = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()
  const files = paths.filter(path => statSync(join(directory, path)).isFile())
  return new Map(files.map(path => [path, readFileSync(join(directory, path), "utf8")]))
}

function optional(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null
}
