import type { Stage } from "./stage.ts"

/** What the requests of a stage took. */
export interface TokenUsage {
  readonly requests: number
  readonly input: number
  readonly output: number
}

export type StageUsage = Readonly<Record<Stage, TokenUsage>>

const unused: TokenUsage = { requests: 0, input: 0, output: 0 }

export const noUsage: StageUsage = { planner: unused, executor: unused, verifier: unused, reviewer: unused }

/** With one more request, and what the server says that it took. */
export function usedMore(
  usage: StageUsage,
  stage: Stage,
  { input, output }: Pick<TokenUsage, "input" | "output">,
): StageUsage {
  const used = usage[stage]
  const more = { requests: used.requests + 1, input: used.input + input, output: used.output + output }
  return { ...usage, [stage]: more }
}

export function wholeUsage(usage: StageUsage): TokenUsage {
  return Object.values(usage).reduce((sum, { requests, input, output }) => ({
    requests: sum.requests + requests,
    input: sum.input + input,
    output: sum.output + output,
  }))
}
