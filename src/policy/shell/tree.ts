import { assertSeparated, readNested, readWord, type WordVisitor } from "./expansion.ts"
import { readHeredoc, readHereString, readRedirect, readTestWords } from "./redirect.ts"
import { type Assignment, marks, type ParsedCommand, type ParsedScript, type Redirect } from "./script.ts"
import { namedChildren, type SyntaxNode } from "./syntax.ts"
import { UnreadableScript } from "./word.ts"

/** The position of a statement in the script. */
interface Place {
  readonly fedBy: readonly number[]
  readonly functions: readonly string[]
  readonly repeated: boolean
}

interface Reading {
  readonly text: string
  readonly commands: ParsedCommand[]
  readonly functions: { name: string; before: number }[]
  readonly functionNames: string[]
  /** The statements that run in every case. */
  readonly unconditional: ReadonlySet<SyntaxNode>
  bashOnly: string | null
}

/** Turns a syntax tree into commands. It names every kind of node; any other kind makes the script unreadable. */
export function readTree(root: SyntaxNode, text: string): ParsedScript {
  const unconditional = new Set(root.children)
  const reading: Reading = {
    text,
    commands: [],
    functions: [],
    functionNames: [],
    unconditional,
    bashOnly: null,
  }
  if (/\S/.test(text.slice(0, root.startIndex)) || /\S/.test(text.slice(root.endIndex)))
    throw new UnreadableScript("text that belongs to no command")
  readStatements(root, reading, { fedBy: [], functions: [], repeated: false })
  const { commands, functions, functionNames, bashOnly } = reading
  return { readable: true, commands, functions, functionNames, bashOnly }
}

function readStatements(node: SyntaxNode, reading: Reading, place: Place): void {
  for (const child of node.children) {
    if (child.isNamed) readStatement(child, reading, place)
    else readToken(child, reading)
  }
}

const structure = new Set(
  "; & && || | ( ) { } \n ! if then elif else fi for in do done while until case esac $( `".split(" "),
)
const bashTokens: Readonly<Record<string, string>> = {
  "|&": "|&",
  ";&": ";&",
  ";;&": ";;&",
  "<(": "process substitution",
  ">(": "process substitution",
  function: "the word function",
  select: "select",
}

function readToken(token: SyntaxNode, reading: Reading): void {
  if (structure.has(token.type) || token.type.trim() === "") return
  const construct = bashTokens[token.type]
  if (construct === undefined) throw new UnreadableScript(`the token ${token.type}`)
  reading.bashOnly ??= construct
}

type Reader = (node: SyntaxNode, reading: Reading, place: Place) => void

function readStatement(node: SyntaxNode, reading: Reading, place: Place): void {
  const read = readers.get(node.type)
  if (read === undefined) throw new UnreadableScript(`a ${node.type.replaceAll("_", " ")}`)
  read(node, reading, place)
}

/**
 * Reads a command. Its index is reserved before its words are read, so that commands appear in the order of the text.
 */
function readCommand(node: SyntaxNode, reading: Reading, place: Place): void {
  const words: string[] = []
  const assignments: Assignment[] = []
  const redirects: Redirect[] = []
  reading.commands.push({ words, assignments, redirects, ...place })
  const visitor = wordVisitor(reading, place)
  let end: number | null = null
  for (const child of node.type === "variable_assignment" ? [node] : node.children) {
    if (end !== null) assertSeparated(reading.text, end, child.startIndex, true)
    end = child.endIndex
    if (child.type === "variable_assignment") {
      const assignment = readAssignment(child, visitor)
      if (words.length === 0 || node.type === "declaration_command") assignments.push(assignment)
      if (words.length > 0) words.push(`${assignment.name}=${assignment.value}`)
    } else if (child.type === "file_redirect") redirects.push(...readRedirect(child, visitor))
    else if (child.type === "herestring_redirect") redirects.push(readHereString(child, visitor))
    else if (child.type === "command_name") words.push(readName(child, visitor))
    else words.push(child.isNamed ? readWord(child, visitor) : child.type)
  }
}

function readName(node: SyntaxNode, visitor: WordVisitor): string {
  const [only, ...more] = node.children
  if (only === undefined || more.length > 0) throw new UnreadableScript("a program name")
  return readWord(only, visitor)
}

function wordVisitor(reading: Reading, place: Place): WordVisitor {
  return {
    substitution: node => readStatements(node, reading, { ...place, fedBy: [] }),
    bashOnly: construct => {
      reading.bashOnly ??= construct
    },
  }
}

/** Reads a group with redirections, which apply to each command in it. */
function readRedirected(node: SyntaxNode, reading: Reading, place: Place): void {
  const first = reading.commands.length
  const visitor = wordVisitor(reading, place)
  const redirects: Redirect[] = []
  let end: number | null = null
  for (const child of node.children) {
    if (end !== null) assertSeparated(reading.text, end, child.startIndex, false)
    end = child.endIndex
    if (child.type === "file_redirect") redirects.push(...readRedirect(child, visitor))
    else if (child.type === "herestring_redirect") redirects.push(readHereString(child, visitor))
    else if (child.type === "heredoc_redirect") {
      const heredoc = readHeredoc(child, reading.text, visitor)
      redirects.push(...heredoc.redirects)
      const fedBy = [...place.fedBy, ...indexes(first, reading.commands.length)]
      for (const statement of heredoc.statements) readStatement(statement, reading, { ...place, fedBy })
    } else readStatement(child, reading, place)
  }
  if (first === reading.commands.length)
    reading.commands.push({ words: [], assignments: [], redirects, ...place })
  else
    for (let index = first; index < reading.commands.length; index++) {
      const command = reading.commands[index]
      if (command !== undefined)
        reading.commands[index] = { ...command, redirects: [...command.redirects, ...redirects] }
    }
}

function indexes(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, offset) => from + offset)
}

function readPipeline(node: SyntaxNode, reading: Reading, place: Place): void {
  const first = reading.commands.length
  for (const child of node.children) {
    const fedBy = [...place.fedBy, ...indexes(first, reading.commands.length)]
    if (child.isNamed) readStatement(child, reading, { ...place, fedBy })
    else readToken(child, reading)
  }
}

function readTest(node: SyntaxNode, reading: Reading, place: Place): void {
  const opening = node.children[0]?.type
  const visitor = wordVisitor(reading, place)
  const words: string[] = []
  reading.commands.push({ words, assignments: [], redirects: [], ...place })
  if (opening === "[") words.push(...readTestWords(node, visitor))
  else {
    visitor.bashOnly("[[…]]")
    words.push("[", marks.unknown)
    readNested(node, visitor)
  }
}

function readFunction(node: SyntaxNode, reading: Reading, place: Place): void {
  const name = namedChildren(node)[0]?.text
  if (name === undefined || !/^[\w:.-]+$/.test(name)) throw new UnreadableScript("a function name")
  reading.functionNames.push(name)
  for (const child of node.children) {
    if (!child.isNamed) readToken(child, reading)
    else if (child.type === "file_redirect") throw new UnreadableScript("a redirected function")
    else if (child.type !== "word")
      readStatement(child, reading, { ...place, functions: [...place.functions, name], repeated: true })
  }
  if (reading.unconditional.has(node)) reading.functions.push({ name, before: reading.commands.length })
}

/** Reads a loop. Its variable is assigned like any other: `for PATH in .` must not be missed. */
function readFor(node: SyntaxNode, reading: Reading, outer: Place): void {
  const place = { ...outer, repeated: true }
  const visitor = wordVisitor(reading, place)
  for (const child of node.children) {
    if (!child.isNamed) readToken(child, reading)
    else if (child.type === "do_group" || child.type === "compound_statement")
      readStatement(child, reading, place)
    else if (child.type === "variable_name") {
      const assignments = [{ name: child.text, value: marks.unknown }]
      reading.commands.push({ words: [], assignments, redirects: [], ...place })
    } else if (child.type !== "comment") readWord(child, visitor)
  }
}

const patterns = new Set(["extglob_pattern", "regex"])

/** Reads the branches of a `case`. Its values and patterns only choose between them. */
function readCase(node: SyntaxNode, reading: Reading, place: Place): void {
  const visitor = wordVisitor(reading, place)
  const closing = node.type === "case_item" ? ")" : "in"
  let chosen = false
  for (const child of node.children) {
    if (child.type === closing) chosen = true
    if (child.type === ";;") continue
    if (!child.isNamed) readToken(child, reading)
    else if (chosen) readStatement(child, reading, place)
    else if (!patterns.has(child.type)) readWord(child, visitor)
    else if (/[`$\\'"]/.test(child.text)) throw new UnreadableScript("a pattern with quotes or expansions")
  }
}

function readLoop(node: SyntaxNode, reading: Reading, place: Place): void {
  readStatements(node, reading, { ...place, repeated: true })
}

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["comment", () => undefined],
  ["command", readCommand],
  ["declaration_command", readCommand],
  ["unset_command", readCommand],
  ["variable_assignment", readCommand],
  ["variable_assignments", readCommand],
  ["redirected_statement", readRedirected],
  ["pipeline", readPipeline],
  ["test_command", readTest],
  ["function_definition", readFunction],
  ["while_statement", readLoop],
  ["for_statement", readFor],
  ["case_statement", readCase],
  ["case_item", readCase],
  ["list", readStatements],
  ["negated_command", readStatements],
  ["subshell", readStatements],
  ["compound_statement", readStatements],
  ["do_group", readStatements],
  ["if_statement", readStatements],
  ["elif_clause", readStatements],
  ["else_clause", readStatements],
])

/** Reads `name=value`. A form that a POSIX shell does not have is only searched for commands. */
function readAssignment(node: SyntaxNode, visitor: WordVisitor): Assignment {
  const [name, operator, value, ...more] = node.children
  if (name === undefined || operator === undefined || more.length > 0)
    throw new UnreadableScript("an assignment")
  if (name.type !== "variable_name" || operator.text !== "=") {
    visitor.bashOnly("arrays and +=")
    readNested(node, visitor)
    return { name: name.text.split("[")[0] ?? name.text, value: marks.unknown }
  }
  if (value === undefined) return { name: name.text, value: "" }
  if (operator.endIndex !== value.startIndex) throw new UnreadableScript("an assignment with a gap in it")
  if (value.type !== "array") return { name: name.text, value: readWord(value, visitor) }
  visitor.bashOnly("arrays and +=")
  readNested(value, visitor)
  return { name: name.text, value: marks.unknown }
}
