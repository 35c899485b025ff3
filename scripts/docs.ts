import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { docPages } from "./doc-pages.ts"
import { modelSchemas, toolTraitsText } from "./model-schemas.ts"

/** Pages of `docs/` that people write. */
const written: ReadonlySet<string> = new Set(["threat-model.md"])

/** Writes what is generated; with `--check` says what of it is not what the code says, and fails. */
const root = join(import.meta.dirname, "..")
const files = new Map([
  ...[...docPages()].map(([name, text]) => [`docs/${name}`, text] as const),
  ["src/engine/stages/model-schemas.json", modelSchemas()] as const,
  ["src/domain/plan/tool-traits.json", toolTraitsText()] as const,
])

if (process.argv.includes("--check")) {
  const drifted = drift()
  for (const line of drifted) process.stdout.write(`${line}\n`)
  if (drifted.length > 0) process.stdout.write("run npm run docs\n")
  process.exitCode = drifted.length > 0 ? 1 : 0
} else {
  mkdirSync(join(root, "docs"), { recursive: true })
  for (const [path, text] of files) writeFileSync(join(root, path), text)
}

function drift(): string[] {
  const unknown = readdirSync(join(root, "docs")).filter(
    name => !files.has(`docs/${name}`) && !written.has(name),
  )
  const changed = [...files].flatMap(([path, text]) => firstDifference(path, text) ?? [])
  return [...unknown.map(name => `docs/${name}: no page of this name is generated`), ...changed]
}

function firstDifference(path: string, expected: string): string | null {
  const stored = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : ""
  if (stored === expected) return null
  const [is, wanted] = [stored.split("\n"), expected.split("\n")]
  const at = wanted.findIndex((line, index) => line !== is[index])
  const index = at === -1 ? wanted.length : at
  return `${path}:${index + 1}\n  is      ${is[index] ?? "(end)"}\n  wanted  ${wanted[index] ?? "(end)"}`
}
