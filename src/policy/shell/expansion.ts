import { marks } from "./script.ts"
import { namedChildren, type SyntaxNode } from "./syntax.ts"
import { bareWord, isBlank, parameter, quotedText, UnreadableScript } from "./word.ts"

/** Receives the commands that are found in a word. */
export interface WordVisitor {
  /** Called with the statements of `$(…)`, backticks and `<(…)`. */
  substitution(node: SyntaxNode): void
  bashOnly(construct: string): void
}

/** Returns the word as the program would receive it, with marks for parts that are known only at run time. */
export function readWord(node: SyntaxNode, visitor: WordVisitor): string {
  return readPart(node, visitor, true)
}

function readPart(node: SyntaxNode, visitor: WordVisitor, startsWord: boolean): string {
  switch (node.type) {
    case "word":
    case "variable_name":
    case "special_variable_name":
    case "test_operator":
    case "file_descriptor":
      return bareWord(node.text, startsWord)
    case "number":
      if (!/^-?\d+$/.test(node.text)) throw new UnreadableScript(`the number ${node.text}`)
      return node.text
    case "raw_string":
      return node.text.slice(1, -1)
    case "extglob_pattern":
      return bareWord(node.text, startsWord)
    case "string":
      return readString(node, visitor)
    case "concatenation":
      return readConcatenation(node, visitor)
    default:
      return readExpansion(node, visitor, false)
  }
}

function readConcatenation(node: SyntaxNode, visitor: WordVisitor): string {
  let end = node.startIndex
  let value = ""
  for (const part of node.children) {
    if (part.startIndex !== end) throw new UnreadableScript("a word with a gap in it")
    value += readPart(part, visitor, part.startIndex === node.startIndex)
    end = part.endIndex
  }
  // The parts hide a brace that the whole word has: `a{b,c}` arrives as five parts.
  return /[{].*[}]/.test(value) ? `${marks.splitting}${value}` : value
}

/**
 * Reads the literal text between the expansions from the source: the grammar loses blanks, or adds them to an
 * expansion.
 */
function readString(node: SyntaxNode, visitor: WordVisitor): string {
  const { text } = node
  if (!text.startsWith('"') || !text.endsWith('"') || text.length < 2) throw new UnreadableScript("a string")
  let value = ""
  let end = 1
  for (const part of namedChildren(node)) {
    if (part.type === "string_content") continue
    const trimmed = part.text.trimStart()
    const start = part.endIndex - node.startIndex - trimmed.length
    value += quotedText(text.slice(end, start)) + readExpansion({ ...part, text: trimmed }, visitor, true)
    end = part.endIndex - node.startIndex
  }
  return value + quotedText(text.slice(end, -1))
}

function readExpansion(node: SyntaxNode, visitor: WordVisitor, quoted: boolean): string {
  switch (node.type) {
    case "simple_expansion":
      return parameter(node.text, quoted)
    case "expansion":
      assertNothingHidden(node)
      readNested(node, visitor)
      return parameter(node.text, quoted)
    case "arithmetic_expansion":
      if (!node.text.startsWith("$((") || !node.text.endsWith("))"))
        throw new UnreadableScript("old arithmetic")
      assertNothingHidden(node)
      readNested(node, visitor)
      return quoted ? marks.unknown : marks.splitting
    case "command_substitution":
      checkSubstitution(node)
      visitor.substitution(node)
      return quoted ? marks.unknown : marks.splitting
    case "process_substitution":
      visitor.bashOnly("process substitution")
      visitor.substitution(node)
      return marks.unknown
    case "brace_expression":
      visitor.bashOnly("brace expansion")
      return marks.splitting
    default:
      throw new UnreadableScript(`a ${node.type.replaceAll("_", " ")} inside a word`)
  }
}

function checkSubstitution(node: SyntaxNode): void {
  const text = node.text
  if (text.startsWith("`")) {
    // Inside backticks a backslash has a second meaning, and shells disagree how often it applies.
    if (text.includes("\\") || text.slice(1, -1).includes("`"))
      throw new UnreadableScript("nested or escaped backticks")
    return
  }
  if (!text.startsWith("$(") || !text.endsWith(")")) throw new UnreadableScript("a command substitution")
}

/** Searches `${…}` and `$((…))` for commands; everything else in them only computes a value. */
export function readNested(node: SyntaxNode, visitor: WordVisitor): void {
  for (const child of namedChildren(node)) {
    if (child.type === "command_substitution" || child.type === "process_substitution") {
      readExpansion(child, visitor, true)
    } else if (child.type === "string") readString(child, visitor)
    else if (child.type === "ansi_c_string" || child.type === "translated_string")
      throw new UnreadableScript("quotes that only bash knows")
    else readNested(child, visitor)
  }
}

/**
 * Throws where text could hide a command. Inside `${…}`, `$((…))` and here-documents the grammar treats some commands
 * as text, so the text without the commands that it found must not resemble one.
 */
export function assertNothingHidden(node: SyntaxNode): void {
  let rest = ""
  let end = node.endIndex - node.text.length
  const start = end
  for (const found of outermostSubstitutions(node)) {
    rest += node.text.slice(end - start, found.startIndex - start)
    end = found.endIndex
  }
  rest += node.text.slice(end - start)
  const body = node.type === "arithmetic_expansion" ? rest.slice(3) : rest
  if (/`|\$\(|[<>]\(/.test(body)) throw new UnreadableScript("a command where text is expected")
}

function outermostSubstitutions(node: SyntaxNode): SyntaxNode[] {
  return node.children.flatMap(child =>
    /^(command|process)_substitution$/.test(child.type) ? [child] : outermostSubstitutions(child),
  )
}

/** Throws unless the text between two parts is only blanks, at least one where two words must not touch. */
export function assertSeparated(text: string, end: number, start: number, mustPart: boolean): void {
  if (end > start || !isBlank(text.slice(end, start)))
    throw new UnreadableScript("text that belongs to no command")
  if (mustPart && end === start) throw new UnreadableScript("two words without a blank between them")
}
