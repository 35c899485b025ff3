import ts from "typescript"
import { type Finding, lineOf, parse, type TidyFile, visit } from "./tidy-files.ts"

/** Words that are never right here, and the word that is: see GLOSSARY.md. */
const refusedWords = new Map([
  ["thread", "Session, or Stream"],
  ["conversation", "Session"],
  ["workflow", "Session"],
  ["job", "Execution, or Session"],
  ["observation", "ToolOutcome, or Evidence"],
  ["blob", "Artifact"],
  ["playbook", "Skill"],
  ["gateway", "Provider"],
])

/** Other people's words, for what is theirs. */
const systemPhrases = /`[^`]*`|processes and threads|CI jobs?|[\w.-]+\/[\w./-]+/gi

/** Here the threads are the kernel's. */
const kernelRooms = /^src\/(base|exec|sandbox)\//

const refusedSuffix = /(Manager|Helper|Utils?|Handler|Info|Data|Impl|V2|New)$/

/** Says the words of the glossary: in identifiers, strings and comments. Names of the system keep theirs, in `code`. */
export function refusedVocabulary(file: TidyFile): Finding[] {
  return file.lines.flatMap((text, index) =>
    wordsOf(text.replace(systemPhrases, "")).flatMap(word => {
      const instead = refusedWords.get(word.replace(/s$/, ""))
      if (instead === undefined || (/^threads?$/.test(word) && kernelRooms.test(file.path))) return []
      return [{ path: file.path, line: index + 1, message: `"${word}" is not a word of acode: ${instead}` }]
    }),
  )
}

function wordsOf(line: string): string[] {
  return line
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .map(word => word.toLowerCase())
}

/** Names of types that say no noun. */
const vagueTypeNames = new Set(["Told", "Said", "Heard", "Seen", "Found", "Way", "Room", "Parts"])

export function vagueTypes(file: TidyFile): Finding[] {
  const source = parse(file)
  return source.statements.flatMap(statement => {
    if (!ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)) return []
    const { text } = statement.name
    const line = lineOf(source, statement.getStart(source))
    return vagueTypeNames.has(text)
      ? [{ path: file.path, line, message: `${text}: name the noun it holds` }]
      : []
  })
}

export function refusedSuffixes(file: TidyFile): Finding[] {
  const source = parse(file)
  const findings: Finding[] = []
  for (const name of exportedNames(source)) {
    const suffix = refusedSuffix.exec(name.text)?.[0]
    if (suffix === undefined) continue
    const line = lineOf(source, name.getStart(source))
    findings.push({ path: file.path, line, message: `${name.text} ends in ${suffix}, which says nothing` })
  }
  return findings
}

export function exportedNames(source: ts.SourceFile): ts.Identifier[] {
  return source.statements.flatMap(statement => {
    if (!ts.canHaveModifiers(statement)) return []
    if (!ts.getModifiers(statement)?.some(modifier => modifier.kind === ts.SyntaxKind.ExportKeyword))
      return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name).filter(ts.isIdentifier)
    return "name" in statement && statement.name !== undefined && ts.isIdentifier(statement.name as ts.Node)
      ? [statement.name as ts.Identifier] // as: the line above asked
      : []
  })
}

/** A file that gives out what others define hides who needs whom. */
export function barrels(file: TidyFile): Finding[] {
  const findings: Finding[] = []
  if (/(^|\/)index\.ts$/.test(file.path))
    findings.push({ path: file.path, line: 1, message: "index.ts: name the file by the noun it defines" })
  const source = parse(file)
  visit(source, node => {
    if (!ts.isExportDeclaration(node) || node.moduleSpecifier === undefined) return
    const line = lineOf(source, node.getStart(source))
    findings.push({ path: file.path, line, message: "re-export: import from the file that defines it" })
  })
  return findings
}

export function oddFileNames(file: TidyFile): Finding[] {
  const odd = file.path.split("/").find(part => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?(\.ts)?$/.test(part))
  if (odd === undefined) return []
  return [{ path: file.path, line: 1, message: `"${odd}" is not kebab-case` }]
}

/** A behaviour is stated, not wished for. */
export function wishfulTestNames(file: TidyFile): Finding[] {
  return file.lines.flatMap((text, index) =>
    /\b(test|it|describe)[^"'`]*\(["'`][^"'`]*\bshould\b/.test(text)
      ? [{ path: file.path, line: index + 1, message: '"should" in the name of a test: state what happens' }]
      : [],
  )
}
