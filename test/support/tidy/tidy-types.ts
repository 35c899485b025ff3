import ts from "typescript"
import { type Finding, lineOf, parse, type TidyFile, visit } from "./tidy-files.ts"

/** Finds `any`, `x!` and assertions without a reason, which hide errors from the compiler. */
export function unsoundTypes(file: TidyFile): Finding[] {
  const source = parse(file)
  const findings: Finding[] = []
  const report = (node: ts.Node, message: string) =>
    findings.push({ path: file.path, line: lineOf(source, node.getStart(source)), message })
  visit(source, node => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) report(node, "`any`: use `unknown` and decode it")
    if (ts.isNonNullExpression(node)) report(node, "`!`: check it, or make the type say so")
    if (ts.isTypeAssertionExpression(node)) report(node, "`<T>x`: decode it")
    if (
      ts.isAsExpression(node) &&
      !ts.isAsExpression(node.parent) &&
      !isConst(node) &&
      !decodes(node) &&
      !hasReason(source, node)
    )
      report(
        node,
        "`as` without a comment beside or above it: decode the value, or say why the compiler cannot know",
      )
  })
  return findings
}

/** Finds swallowed failures without a sentence that says what they can be, and why it is right to continue. */
export function silentCatches(file: TidyFile): Finding[] {
  const source = parse(file)
  const findings: Finding[] = []
  visit(source, node => {
    if (!ts.isCatchClause(node) || node.variableDeclaration !== undefined) return
    if (/\/\/|\/\*/.test(node.block.getText(source))) return
    const line = lineOf(source, node.getStart(source))
    findings.push({
      path: file.path,
      line,
      message: "`catch {` without a sentence that says why nothing is lost",
    })
  })
  return findings
}

function isConst(node: ts.AsExpression): boolean {
  return ts.isTypeReferenceNode(node.type) && node.type.typeName.getText() === "const"
}

/** Returns whether an assertion names the type of a JSON.parse result, which is `any`: the first half of decoding. */
function decodes(node: ts.AsExpression): boolean {
  return ts.isCallExpression(node.expression) && node.expression.expression.getText() === "JSON.parse"
}

function hasReason(source: ts.SourceFile, node: ts.Node): boolean {
  const lines = source.text.split("\n")
  const first = lineOf(source, node.getStart(source))
  const last = lineOf(source, node.end)
  if (lines.slice(first - 1, last).some(line => /\/\/ |\/\*/.test(line))) return true
  return carriersOf(node).some(carrier => {
    const comments = ts.getLeadingCommentRanges(source.text, carrier.getFullStart()) ?? []
    return comments.length > 0
  })
}

/**
 * Returns the nodes above which a comment about an expression may stand: its property, statement, or whole function.
 */
function carriersOf(node: ts.Node): ts.Node[] {
  const carriers: ts.Node[] = []
  for (let at: ts.Node = node; at.parent !== undefined; at = at.parent) {
    if (ts.isPropertyAssignment(at) || ts.isClassElement(at) || ts.isStatement(at)) carriers.push(at)
    const wholeBody = ts.isReturnStatement(at) && ts.isBlock(at.parent) && at.parent.statements.length === 1
    if (ts.isStatement(at) && !ts.isBlock(at) && !wholeBody) break
  }
  return carriers
}
