import { UnreadableScript } from "./word.ts"

/**
 * One node of a syntax tree as plain data. The parser's own nodes live in foreign memory and read each field from
 * there, which made reading a tree ten times as slow as building it.
 */
export interface SyntaxNode {
  readonly type: string
  readonly isNamed: boolean
  readonly startIndex: number
  readonly endIndex: number
  readonly text: string
  readonly children: readonly SyntaxNode[]
}

/** The fields of the parser's nodes that are copied. */
interface ForeignNode {
  readonly type: string
  readonly isNamed: boolean
  readonly startIndex: number
  readonly endIndex: number
  readonly childCount: number
  readonly children: readonly (ForeignNode | null)[]
}

/** The kinds of nodes whose text is read separately, because blanks count in it. */
const textual = new Set([
  "string",
  "heredoc_body",
  "heredoc_redirect",
  "expansion",
  "arithmetic_expansion",
  "ansi_c_string",
  "translated_string",
])

/**
 * Copies a tree and checks that it covers every character. The grammar is made for syntax colouring and skips text
 * that it cannot place: `-x$` arrives as a token called `$`, an escaped blank before a newline not at all.
 */
export function copyTree(node: ForeignNode, text: string): SyntaxNode {
  const { type, isNamed, startIndex, endIndex } = node
  const own = text.slice(startIndex, endIndex)
  if (!isNamed && own.trim() !== type.trim()) throw new UnreadableScript(`the text ${JSON.stringify(own)}`)
  const foreign = node.childCount === 0 ? [] : node.children.filter(child => child !== null)
  const children = foreign.map(child => copyTree(child, text))
  if (children.length > 0 && !textual.has(type)) assertComplete(children, startIndex, endIndex, text)
  return { type, isNamed, startIndex, endIndex, text: own, children }
}

function assertComplete(children: readonly SyntaxNode[], start: number, end: number, text: string): void {
  let at = start
  for (const child of [...children, { startIndex: end, endIndex: end }]) {
    const gap = text.slice(at, child.startIndex)
    if (at > child.startIndex || !/^(?:[ \t\n]|[ \t\n]\\\n)*$/.test(gap))
      throw new UnreadableScript(`the text ${JSON.stringify(gap.trim())}`)
    at = child.endIndex
  }
}

export function namedChildren(node: SyntaxNode): SyntaxNode[] {
  return node.children.filter(child => child.isNamed)
}
