import type { Json } from "../../base/canonical.ts"
import type { Stage } from "../stage.ts"

/** The tokens of the requests of a stage. */
export interface TokenUsage {
  readonly requests: number
  readonly input: number
  readonly output: number
}

export type StageUsage = Readonly<Record<Stage, TokenUsage>>

const unused: TokenUsage = { requests: 0, input: 0, output: 0 }

export const noUsage: StageUsage = { planner: unused, executor: unused, verifier: unused, reviewer: unused }

/** Adds one request and the tokens that the server reports for it. */
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

/** Four letters of code or English, two of Cyrillic, and a bit more than one character of Chinese. */
export const bytesPerToken = 4

/** Failures after which a server has worked nevertheless. */
const afterWork: ReadonlySet<string> = new Set(["truncated", "malformed", "timeout", "refused"])

interface CountedReply {
  readonly text: string
  readonly calls: readonly { readonly tool: string; readonly arguments: Json }[]
  readonly failure: { readonly kind: string } | null
}

/**
 * Returns the tokens of a turn: as the server reports them, else as acode estimates. No turn is free for lack of a
 * report.
 */
export function spentTokens(
  { input, output }: Pick<TokenUsage, "input" | "output">,
  estimatedInput: number,
  { text, calls, failure }: CountedReply,
): number {
  const hasWorked = failure === null || text !== "" || afterWork.has(failure.kind)
  if (!hasWorked) return input + output
  const said = text + calls.map(({ tool, arguments: args }) => tool + JSON.stringify(args)).join("")
  return (input || estimatedInput) + (output || Math.ceil(Buffer.byteLength(said) / bytesPerToken))
}
