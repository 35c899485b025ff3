import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { docPages } from "./doc-pages.ts"

/** Writes `docs/`; with `--check` says what in it is not what the code says, and fails. */
const directory = join(import.meta.dirname, "..", "docs")
const pages = docPages()

if (process.argv.includes("--check")) {
  const drifted = drift()
  for (const line of drifted) process.stdout.write(`${line}\n`)
  if (drifted.length > 0) process.stdout.write("run npm run docs\n")
  process.exitCode = drifted.length > 0 ? 1 : 0
} else {
  mkdirSync(directory, { recursive: true })
  for (const [name, text] of pages) writeFileSync(join(directory, name), text)
}

function drift(): string[] {
  const unknown = readdirSync(directory).filter(name => !pages.has(name))
  const changed = [...pages].flatMap(([name, text]) => firstDifference(name, text) ?? [])
  return [...unknown.map(name => `docs/${name}: no page of this name is generated`), ...changed]
}

function firstDifference(name: string, expected: string): string | null {
  const stored = readdirSync(directory).includes(name) ? readFileSync(join(directory, name), "utf8") : ""
  if (stored === expected) return null
  const [is, wanted] = [stored.split("\n"), expected.split("\n")]
  const at = wanted.findIndex((line, index) => line !== is[index])
  const index = at === -1 ? wanted.length : at
  return `docs/${name}:${index + 1}\n  is      ${is[index] ?? "(end)"}\n  wanted  ${wanted[index] ?? "(end)"}`
}
