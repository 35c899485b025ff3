import { oneLine } from "../../base/text.ts"
import { type StageUsage, type TokenUsage, wholeUsage } from "../../domain/pipeline/token-usage.ts"
import type { ModelSelection } from "../../domain/pipeline-settings.ts"
import { stages } from "../../domain/stage.ts"

/** The price of a million tokens, in the currency of the configuration; null when unknown. */
export interface Prices {
  readonly input: number | null
  readonly output: number | null
}

export const unknownPrices: Prices = { input: null, output: null }

/** Returns the cost of a usage; null when no price is known. */
export function costOf({ input, output }: TokenUsage, prices: Prices): number | null {
  if (prices.input === null && prices.output === null) return null
  return (input * (prices.input ?? 0) + output * (prices.output ?? 0)) / 1_000_000
}

/** Returns the token usage of each stage and the sum. Empty when no server has counted tokens. */
export function usageLines(usage: StageUsage, prices: Prices): readonly string[] {
  const whole = wholeUsage(usage)
  if (whole.input + whole.output === 0) return []
  const used = stages.filter(stage => usage[stage].requests > 0)
  const cost = costOf(whole, prices)
  const parts = used.map(stage => `${stage} ${numbersText(usage[stage])}`)
  const together = `tokens ${numbersText(whole)} in ${whole.requests} requests`
  return [
    `${together}${cost === null ? "" : `, cost ${cost.toFixed(4)}`}`,
    ...(used.length > 1 ? [`  ${parts.join(" · ")}`] : []),
  ]
}

/** Returns the models, their servers, and how they call tools; empty with a script or a recording. */
export function modelLines(selection: ModelSelection | null): readonly string[] {
  if (selection === null) return []
  const { protocol, endpoint, consentBy } = selection
  const names = new Map(stages.map(stage => [selection[stage].name, selection[stage]]))
  const models = [...names.values()].map(
    ({ name, rung, windowTokens }) => `${oneLine(name, 100)} (${rung} calls, window ${windowTokens})`,
  )
  const consent = consentBy === null ? "" : `, as ${oneLine(consentBy, 60)} agreed`
  return [`model ${models.join(", ")} at ${oneLine(endpoint, 200)}, ${protocol}${consent}`]
}

function numbersText({ input, output }: TokenUsage): string {
  return `${input} in, ${output} out`
}
