import type { EditFormat, Protocol } from "../../domain/model-choice.ts"
import type { Decided } from "./window.ts"

/** In thousands of millions of parameters. Below the first, models do not copy the text to be replaced exactly. */
const replaceFrom = 4
const surelyReplaceFrom = 15
const smallWindow = 8_192

/**
 * Families that were trained to write patches with the lines around a change: OpenAI's from GPT-4.1 on, its reasoning
 * models and its open weights. Small ones of them say that they are.
 */
const writesPatches = /(?:^|\/)(?:gpt-(?:4\.1|[5-9]|oss)|o[34](?:-|$)|codex)(?!.*(?:nano|mini))/i

/** What is known about a model whose way to edit is to be chosen. */
export interface EditingModel {
  readonly protocol: Protocol
  readonly name: string
  /** In thousands of millions; null where the server does not tell. */
  readonly parameters: number | null
  readonly windowTokens: number
}

/**
 * How a model is to edit files. Whole files are what every model can do. Search and replace is shorter, needs exact
 * copies of what is there, and is what most larger models do best. Diffs are for those that were made for them.
 */
export function decideEditFormat(model: EditingModel, asked: EditFormat | "auto"): Decided<EditFormat> {
  if (asked !== "auto") return decided(asked, "configured")
  const { protocol, name, parameters, windowTokens } = model
  if (protocol === "anthropic") return decided("replace", "models of this protocol are large")
  if (parameters !== null && parameters < replaceFrom)
    return decided("whole", `${parameters} thousand million parameters are few`)
  if (writesPatches.test(name)) return decided("diff", "models of this name are made for it")
  if (parameters !== null && parameters >= surelyReplaceFrom)
    return decided("replace", `${parameters} thousand million parameters are enough`)
  if (windowTokens <= smallWindow)
    return decided("whole", "the window is small, which goes with files that are")
  return decided("replace", parameters === null ? "the size of the model is not known" : "of middle size")
}

function decided(value: EditFormat, why: string): Decided<EditFormat> {
  return { value, note: `edit format: ${value} (${why})` }
}
