import { readNested, readWord, type WordVisitor } from "./shell-expansion.ts"
import { type Assignment, marks } from "./shell-script.ts"
import type { SyntaxNode } from "./shell-syntax.ts"
import { Unreadable } from "./shell-word.ts"

/** `name=value`. What a POSIX shell does not have is read for the commands in it only. */
export function readAssignment(node: SyntaxNode, visitor: WordVisitor): Assignment {
  const [name, operator, value, ...more] = node.children
  if (name === undefined || operator === undefined || more.length > 0) throw new Unreadable("an assignment")
  if (name.type !== "variable_name" || operator.text !== "=") {
    visitor.bashOnly("arrays and +=")
    readNested(node, visitor)
    return { name: name.text.split("[")[0] ?? name.text, value: marks.unknown }
  }
  if (value === undefined) return { name: name.text, value: "" }
  if (operator.endIndex !== value.startIndex) throw new Unreadable("an assignment with a gap in it")
  if (value.type !== "array") return { name: name.text, value: readWord(value, visitor) }
  visitor.bashOnly("arrays and +=")
  readNested(value, visitor)
  return { name: name.text, value: marks.unknown }
}
