import { codeChecks } from "../../code/checks.ts"
import type { Config } from "../../config/schema.ts"
import type { SymbolRow } from "../../domain/code/symbol.ts"
import { findProgram } from "../../exec/program.ts"
import type { CheckDeps, CodeAnswer, CodeQuestions, ToolDeps } from "../../tools/contract.ts"
import type { Wiring } from "./wire.ts"

/** Returns the code access of tools. The first question loads the parsers: most sessions ask none. */
export function codeTools(wiring: Wiring): Pick<ToolDeps, "code" | "splice"> {
  const questions = async () => {
    const { codeQuestions, updateMsMax } = await import("./code-questions.ts")
    return codeQuestions(wiring, updateMsMax)
  }
  const code: CodeQuestions = {
    symbolsInFile: async path => (await questions()).symbolsInFile(path),
    references: async (name, from) => (await questions()).references(name, from),
    symbolsNamed: async (name, from): Promise<CodeAnswer<SymbolRow>> =>
      (await questions()).symbolsNamed(name, from),
  }
  return {
    code,
    splice: async request => {
      const { codeSplicer } = await import("./code-questions.ts")
      return (await codeSplicer(wiring))(request)
    },
  }
}

/** Returns the checkers of this machine, as configuration sets them. */
export function checkDeps({ root, request }: Wiring, { code }: Config): CheckDeps {
  const { checkers, check_timeout_seconds } = code
  return {
    checkers: codeChecks,
    settings: {
      configured: new Map(checkers.map(each => [each.checker, each.command])),
      hasProgram: name => isInstalled(name, root.path, request),
    },
    timeoutMs: check_timeout_seconds * 1000,
  }
}

/** Searches PATH outside of the workspace: the repository could bring a program under the name of a compiler. */
function isInstalled(name: string, root: string, { environment }: Wiring["request"]): boolean {
  const search = findProgram(name, root, environment.host["PATH"])
  return search.kind === "found" && !search.path.startsWith(`${root}/`)
}
