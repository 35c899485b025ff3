import { codeChecks } from "../../../src/code/checks.ts"
import { createCodeParser, usualLimits } from "../../../src/code/parser.ts"
import { createSplicer } from "../../../src/code/splice.ts"
import { Failure } from "../../../src/domain/failure.ts"
import type { ToolDeps } from "../../../src/tools/contract.ts"

function noIndex(): Promise<never> {
  return Promise.reject(new Failure({ kind: "usage", code: "E103", message: "there is no code index" }))
}

/**
 * The parts of tools that know code, in a place without an index.
 * Symbols are replaced, and code is checked, as in the product.
 */
export const codeParts: Pick<ToolDeps, "code" | "splice" | "checks"> = {
  code: { symbolsInFile: noIndex, references: noIndex, symbolsNamed: noIndex },
  checks: {
    checkers: codeChecks,
    settings: { configured: new Map(), hasProgram: name => Bun.which(name) !== null },
    timeoutMs: 60_000,
  },
  splice: createSplicer(createCodeParser(usualLimits), usualLimits),
}
