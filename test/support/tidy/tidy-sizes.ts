import ts from "typescript"
import { type Finding, lineOf, parse, type TidyFile, visit } from "./tidy-files.ts"

const fileLinesMax = 400
/** Tables of data, which a reader searches and does not read. */
const dataTables: readonly string[] = ["src/domain/error-codes.ts"]
/** Above the limit a function needs an exception; above the hard one there is none. */
const functionLines = { limit: 60, hard: 70 }

/** Functions above the limit and their length: `path#function` → lines. The numbers may only go down. */
export type SizeExceptions = Readonly<Record<string, number>>

export function oversizedFiles(files: readonly TidyFile[]): Finding[] {
  return files
    .filter(({ path, lines }) => lines.length > fileLinesMax && !dataTables.includes(path))
    .map(file => ({
      path: file.path,
      line: file.lines.length,
      message: `has ${file.lines.length} lines, ${fileLinesMax} are allowed: split it by reason to exist`,
    }))
}

export function oversizedFunctions(files: readonly TidyFile[], exceptions: SizeExceptions): Finding[] {
  return files.flatMap(file =>
    functionsOf(file).flatMap(({ name, line, count }) => {
      const allowed = exceptions[`${file.path}#${name}`] ?? functionLines.limit
      if (count <= Math.min(allowed, functionLines.hard)) return []
      return [
        {
          path: file.path,
          line,
          message: `${name} has ${count} lines, ${allowed} are allowed: move leaves out`,
        },
      ]
    }),
  )
}

/** Exceptions that are no longer needed, or larger than what they excuse: the list only shrinks. */
export function staleSizeExceptions(files: readonly TidyFile[], exceptions: SizeExceptions): string[] {
  const actual = new Map<string, number>()
  for (const file of files) {
    for (const { name, count } of functionsOf(file))
      if (count > functionLines.limit) actual.set(`${file.path}#${name}`, count)
  }
  return Object.entries(exceptions)
    .filter(([name, count]) => actual.get(name) !== count)
    .map(([name, count]) => `${name}: listed with ${count}, now ${actual.get(name) ?? "within the limit"}`)
}

interface MeasuredFunction {
  readonly name: string
  readonly line: number
  readonly count: number
}

function functionsOf(file: TidyFile): MeasuredFunction[] {
  const source = parse(file)
  const found: MeasuredFunction[] = []
  visit(source, node => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return
    const line = lineOf(source, node.getStart(source))
    found.push({ name: nameOf(node), line, count: lineOf(source, node.end) - line + 1 })
  })
  return found
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText()
  const { parent } = node
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText()
  return "(anonymous)"
}

/** Files that still spread literals. The list only shrinks. */
const spreadingFiles: readonly string[] = [
  "src/app/skills/task-run.ts",
  "src/engine/lanes/perform-plan.ts",
  "src/engine/lanes/perform-steps.ts",
  "src/engine/stages/planner.ts",
  "src/skills/recorded-claim.ts",
]

/** Returns the exceptions of `spreadLiterals` that are not needed any more. */
export function staleSpreadingFiles(files: readonly TidyFile[]): string[] {
  const spreading = files.filter(file => spreadsIn(file).length > 0).map(({ path }) => path)
  return spreadingFiles.filter(path => !spreading.includes(path))
}

/** Finds object literals that are spread into another one only to write several properties in a line. */
export function spreadLiterals(file: TidyFile): Finding[] {
  return spreadingFiles.includes(file.path) ? [] : spreadsIn(file)
}

function spreadsIn(file: TidyFile): Finding[] {
  const source = parse(file)
  const findings: Finding[] = []
  visit(source, node => {
    if (!ts.isSpreadAssignment(node) || !ts.isObjectLiteralExpression(node.expression)) return
    const line = lineOf(source, node.getStart(source))
    findings.push({ path: file.path, line, message: "a literal is spread: write its properties here" })
  })
  return findings
}
