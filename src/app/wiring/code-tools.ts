import type { SymbolRow } from "../../domain/code/symbol.ts"
import type { CodeAnswer, CodeQuestions, ToolDeps } from "../../tools/contract.ts"
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
