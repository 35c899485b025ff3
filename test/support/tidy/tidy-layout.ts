import { dirname, join, normalize } from "node:path"
import ts from "typescript"
import { type Finding, lineOf, parse, type TidyFile, visit } from "./tidy-files.ts"
import { exportedNames } from "./tidy-names.ts"

const folderFilesMax = 20
/** The length below which a file that only its neighbour imports is part of that neighbour. */
const ownFileLinesMin = 80

/** Returns the folders that hold more files than a reader can scan. */
export function crowdedFolders(files: readonly TidyFile[]): string[] {
  return [...Map.groupBy(files, ({ path }) => dirname(path))].flatMap(([folder, { length }]) => {
    if (length <= folderFilesMax) return []
    return [`${folder} has ${length} files, ${folderFilesMax} are allowed: make sub-folders`]
  })
}

/** Files that stay on their own although one neighbour imports them, with the reason. The list only shrinks. */
const separateFiles: Readonly<Record<string, string>> = {
  "src/app/verbs/workspace-adoption.ts": "loaded only when a history is adopted",
  "src/cli/help.ts": "the layout of help, apart from the start of a command",
  "src/exec/queue.ts": "a queue, tested by itself",
  "src/gate/resolution.ts": "the first step of a call, before any effect",
  "src/models/spoken-protocol.ts": "loaded only for a server whose protocol nothing names",
  "src/provider/protocols/ollama/request.ts": "each protocol has a request, a reply and errors",
  "src/provider/protocols/openai/request.ts": "each protocol has a request, a reply and errors",
  "src/provider/transport/egress.ts": "the security decision where a request may go",
  "src/sandbox/tree/asked-names.ts": "what a person consented to, apart from the scan",
  "src/workspace/checkpoint/goal.ts": "pure, where its importer has the effects",
}

/** Returns short files whose only importer is in their own folder: they belong into that importer. */
export function lonelyFiles(files: readonly TidyFile[]): Finding[] {
  const importers = importersOf(files)
  return files.flatMap(({ path, lines }) => {
    const users = importers.get(path) ?? []
    const [only] = users
    if (only === undefined || users.length > 1 || only.isLazy) return []
    if (lines.length >= ownFileLinesMin || dirname(only.path) !== dirname(path)) return []
    if (path.endsWith("/contract.ts") || path in separateFiles || dirname(path) === "src/tools") return []
    return [{ path, line: 1, message: `only ${only.path} imports it: move it there` }]
  })
}

/** Returns the exceptions of `lonelyFiles` that are not needed any more. */
export function staleSeparateFiles(files: readonly TidyFile[]): string[] {
  const importers = importersOf(files)
  return Object.keys(separateFiles).filter(path => {
    const file = files.find(each => each.path === path)
    return file === undefined || file.lines.length >= ownFileLinesMin || importers.get(path)?.length !== 1
  })
}

/**
 * Returns pairs of folders that import each other. A folder and its sub-folder may, and a contract may be imported by
 * every folder.
 */
export function mutualFolders(files: readonly TidyFile[]): string[] {
  const edges = new Set<string>()
  for (const [path, users] of importersOf(files)) {
    for (const { path: user } of users) {
      const [from, to] = [dirname(user), dirname(path)]
      const isFamily = from === to || from.startsWith(`${to}/`) || to.startsWith(`${from}/`)
      if (!isFamily && !path.endsWith("/contract.ts")) edges.add(`${from} ${to}`)
    }
  }
  return [...edges].filter(edge => {
    const [from = "", to = ""] = edge.split(" ")
    return from < to && edges.has(`${to} ${from}`)
  })
}

/** Returns names that several files export: each name has one meaning. */
export function repeatedExports(files: readonly TidyFile[]): string[] {
  const places = new Map<string, Set<string>>()
  for (const file of files) {
    for (const { text } of exportedNames(parse(file)))
      places.set(text, (places.get(text) ?? new Set()).add(file.path))
  }
  return [...places].flatMap(([name, paths]) => (paths.size > 1 ? [name] : [])).sort()
}

interface Importer {
  readonly path: string
  readonly isLazy: boolean
}

function importersOf(files: readonly TidyFile[]): ReadonlyMap<string, readonly Importer[]> {
  const importers = new Map<string, Importer[]>()
  for (const file of files) {
    for (const { specifier, isLazy } of importsOf(file)) {
      if (!specifier.startsWith(".")) continue
      const target = normalize(join(dirname(file.path), specifier))
      const known = importers.get(target) ?? []
      if (!known.some(({ path }) => path === file.path)) known.push({ path: file.path, isLazy })
      importers.set(target, known)
    }
  }
  return importers
}

function importsOf(file: TidyFile): { specifier: string; isLazy: boolean }[] {
  const found: { specifier: string; isLazy: boolean }[] = []
  visit(parse(file), node => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
      found.push({ specifier: node.moduleSpecifier.text, isLazy: false })
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      if (argument !== undefined && ts.isStringLiteral(argument))
        found.push({ specifier: argument.text, isLazy: true })
    }
  })
  return found
}

/** Finds doc comments that open with a question word or a preposition instead of a verb or the noun they define. */
export function vagueOpenings(file: TidyFile): Finding[] {
  const findings: Finding[] = []
  for (const match of file.text.matchAll(/\/\*\*\s*(?:\*\s*)?([A-Za-z]+)/g)) {
    const [, word = ""] = match
    if (!vagueOpener.test(word)) continue
    const line = file.text.slice(0, match.index).split("\n").length
    findings.push({
      path: file.path,
      line,
      message: `a doc comment opens with "${word}": use a verb or the noun`,
    })
  }
  return findings
}

const vagueOpener =
  /^(What|Who|Whose|Of|How|As|Those|Which|Whether|Where|When|For|In|With|To|That|Whatever|Whoever|Why|By|From|If|So|At|Up|On|Also|After|Before|Between|Behind|Below|Beside|Outside|Inside|Since|Under|Again|Can|Does|Far|Not|Together|Further|Stand|See|Must|Only|Some|Such|Both)$/

interface RefusedPhrase {
  readonly text: RegExp
  readonly instead: string
}

const refusedPhrases: readonly RefusedPhrase[] = [
  { text: /\b(tells?|told|telling)\b/i, instead: "report, print, return" },
  { text: /\b(look|looks|looked|looking) at\b/i, instead: "inspect, check, read" },
  { text: /\b(mend|mends|mended|mending)\b/i, instead: "fix" },
  { text: /\b(whoever|somebody|nobody|anybody)\b/i, instead: "the caller, the user, another process" },
  { text: /(?<!\bthere )\bis no (?!longer\b|more\b)[a-z]/i, instead: "is not a" },
  { text: /\b(go|goes|went|going) on\b/i, instead: "continue, resume" },
  { text: /\b(put|puts|putting) back\b/i, instead: "restore" },
  { text: /\b(come|comes|came) to (its|an|the|their) end\b/i, instead: "finish" },
  { text: /\bfor good\b/i, instead: "permanently" },
  { text: /\bof no use\b/i, instead: "invalid, not usable" },
]

/** Finds phrases of comments and messages that are not plain technical English. */
export function dialect(file: TidyFile): Finding[] {
  return proseOf(file).flatMap(({ line, text }) =>
    refusedPhrases.flatMap(phrase => {
      const found = phrase.text.exec(text)?.[0]
      return found === undefined
        ? []
        : [{ path: file.path, line, message: `"${found}" is not plain English: ${phrase.instead}` }]
    }),
  )
}

interface Prose {
  readonly line: number
  readonly text: string
}

/** Returns the comments and the texts with blanks of a source file; all lines of any other file. */
function proseOf(file: TidyFile): Prose[] {
  if (!file.path.endsWith(".ts")) return file.lines.map((text, index) => ({ line: index + 1, text }))
  const source = parse(file)
  const prose: Prose[] = []
  for (const match of file.text.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm))
    for (const [index, text] of match[0].split("\n").entries())
      prose.push({ line: file.text.slice(0, match.index).split("\n").length + index, text })
  visit(source, node => {
    if (!ts.isStringLiteralLike(node) && !ts.isTemplateHead(node) && !ts.isTemplateMiddleOrTemplateTail(node))
      return
    if (node.text.includes(" ")) prose.push({ line: lineOf(source, node.getStart(source)), text: node.text })
  })
  return prose
}
