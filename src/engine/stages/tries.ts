import type { Turn } from "../../domain/pipeline/state.ts"
import type { ModelMessage } from "../../provider/contract.ts"

/** Answers that were not of the right shape, each with exactly what was wrong with it. */
export function failedTries(turns: readonly Turn[]): readonly ModelMessage[] {
  return turns
    .filter(({ failure, problems }) => failure === null && problems.length > 0)
    .flatMap(({ text, problems }) => [
      { role: "assistant" as const, text, calls: [] },
      { role: "user" as const, text: correction(problems) },
    ])
}

function correction(problems: readonly string[]): string {
  const listed = problems.map(problem => `- ${problem}`).join("\n")
  return `That answer cannot be used:\n${listed}\nAnswer again with the whole JSON object, and nothing else.`
}
