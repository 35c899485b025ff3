import { readWord, type WordVisitor } from "./shell-expansion.ts"
import type { SyntaxNode } from "./shell-syntax.ts"
import { Unreadable } from "./shell-word.ts"

/** `[ a || b ]` is two commands to a shell and one test to the grammar, so operators are not read here. */
export function readTestWords(node: SyntaxNode, visitor: WordVisitor): string[] {
  const words: string[] = []
  collect(node, words, visitor)
  if (words[0] !== "[" || words.at(-1) !== "]") throw new Unreadable("a test")
  return words
}

const testTokens = new Set(["[", "]", "=", "==", "!=", "!", "-a", "-o"])

const testExpressions = new Set(["unary_expression", "binary_expression", "test_command"])

function collect(node: SyntaxNode, words: string[], visitor: WordVisitor): void {
  for (const child of node.children) {
    if (testExpressions.has(child.type)) collect(child, words, visitor)
    else if (child.isNamed) words.push(readWord(child, visitor))
    else if (testTokens.has(child.type)) words.push(child.type)
    else throw new Unreadable(`the token ${child.type} in a test`)
  }
}
