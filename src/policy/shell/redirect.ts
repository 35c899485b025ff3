import { assertNothingHidden, readNested, readWord, type WordVisitor } from "./expansion.ts"
import { marks, type Redirect } from "./script.ts"
import { namedChildren, type SyntaxNode } from "./syntax.ts"
import { UnreadableScript } from "./word.ts"

const fileOperators = new Set(["<", ">", ">>", ">|", "<&", ">&", "&>", "&>>"])

/** Returns the target, or null for a redirection that only copies or closes a descriptor. */
export function readRedirect(node: SyntaxNode, visitor: WordVisitor): Redirect[] {
  const descriptors = node.children.filter(child => child.type === "file_descriptor")
  // The grammar treats the argument of `a -x2>&1` as a descriptor, and dash that of `a 11>f` as an argument.
  if (descriptors.some(({ text }) => !/^\d$/.test(text)))
    throw new UnreadableScript("a descriptor that is not one digit")
  const parts = node.children.filter(child => child.type !== "file_descriptor")
  const [operator, target, ...more] = parts
  if (operator === undefined) throw new UnreadableScript("a redirection")
  if (operator.type === "<&-" || operator.type === ">&-") {
    if (target !== undefined) throw new UnreadableScript("words after a redirection")
    return []
  }
  if (!fileOperators.has(operator.type)) throw new UnreadableScript(`the redirection ${operator.type}`)
  // The grammar treats `> file word` as two targets where a shell sees an argument.
  if (target === undefined || more.length > 0) throw new UnreadableScript("words after a redirection")
  if (operator.type.startsWith("&")) visitor.bashOnly(operator.type)
  const word = readWord(target, visitor)
  if (operator.type.endsWith("&")) {
    if (/^[\d-]$/.test(word)) return []
    throw new UnreadableScript("a descriptor that is not one digit")
  }
  return [{ kind: "file", operator: operator.type.replaceAll("&", ""), target: word }]
}

export interface Heredoc {
  readonly redirects: readonly Redirect[]
  /** The commands on the line of `<<`, which the grammar puts inside the here-document. */
  readonly statements: readonly SyntaxNode[]
}

/**
 * Returns the text up to the delimiter. Its end is checked against the lines of the script: if the grammar and a
 * shell disagreed about it, text could hide commands.
 */
export function readHeredoc(node: SyntaxNode, text: string, visitor: WordVisitor): Heredoc {
  const start = node.children.find(child => child.type === "heredoc_start")
  const body = node.children.find(child => child.type === "heredoc_body")
  const end = node.children.find(child => child.type === "heredoc_end")
  const delimiter = /^(["']?)(\w+)\1$/.exec(start?.text ?? "")
  if (start === undefined || end === undefined || delimiter === null)
    throw new UnreadableScript("a here-document whose end is not plain")
  const stripsTabs = node.children[0]?.type === "<<-"
  assertEnd(text, start, end, delimiter[2] ?? "", stripsTabs)
  const redirects: Redirect[] = [{ kind: "text", body: bodyText(body, delimiter[1] !== "", visitor) }]
  const statements: SyntaxNode[] = []
  for (const child of node.children) {
    if (child === start || child === body || child === end) continue
    if (child.type === "file_redirect") redirects.push(...readRedirect(child, visitor))
    else if (child.type === "heredoc_redirect")
      throw new UnreadableScript("several here-documents on one line")
    else if (child.isNamed && child.type !== "heredoc_body" && child.type !== "file_descriptor")
      statements.push(child)
    else if (!["<<", "<<-", "|", "&&", "||", ";", "\n"].includes(child.type) && child.type.trim() !== "")
      throw new UnreadableScript(`the token ${child.type} beside a here-document`)
  }
  return { redirects, statements }
}

function assertEnd(
  text: string,
  start: SyntaxNode,
  end: SyntaxNode,
  delimiter: string,
  stripsTabs: boolean,
): void {
  const firstLine = text.indexOf("\n", start.endIndex)
  const between = text.slice(start.endIndex, firstLine < 0 ? text.length : firstLine)
  if (/<<|\\/.test(between)) throw new UnreadableScript("several here-documents on one line")
  const lines = firstLine < 0 ? [] : text.slice(firstLine + 1).split("\n")
  let offset = firstLine + 1
  for (const line of lines) {
    if ((stripsTabs ? line.replace(/^\t+/, "") : line) === delimiter) {
      if (end.endIndex === offset + line.length) return
      break
    }
    offset += line.length + 1
  }
  throw new UnreadableScript("a here-document whose end is not plain")
}

function bodyText(body: SyntaxNode | undefined, quoted: boolean, visitor: WordVisitor): string {
  if (body === undefined) return ""
  if (quoted) return body.text
  assertNothingHidden(body)
  readNested(body, visitor)
  return /[\\$`]/.test(body.text) ? marks.unknown : body.text
}

/** Reads `<<< word`. */
export function readHereString(node: SyntaxNode, visitor: WordVisitor): Redirect {
  visitor.bashOnly("<<<")
  const word = namedChildren(node)[0]
  return { kind: "text", body: word === undefined ? marks.unknown : readWord(word, visitor) }
}

/**
 * Reads the words of a test. `[ a || b ]` is two commands to a shell and one test to the grammar, so operators are
 * refused.
 */
export function readTestWords(node: SyntaxNode, visitor: WordVisitor): string[] {
  const words: string[] = []
  collect(node, words, visitor)
  if (words[0] !== "[" || words.at(-1) !== "]") throw new UnreadableScript("a test")
  return words
}

const testTokens = new Set(["[", "]", "=", "==", "!=", "!", "-a", "-o"])

const testExpressions = new Set(["unary_expression", "binary_expression", "test_command"])

function collect(node: SyntaxNode, words: string[], visitor: WordVisitor): void {
  for (const child of node.children) {
    if (testExpressions.has(child.type)) collect(child, words, visitor)
    else if (child.isNamed) words.push(readWord(child, visitor))
    else if (testTokens.has(child.type)) words.push(child.type)
    else throw new UnreadableScript(`the token ${child.type} in a test`)
  }
}
