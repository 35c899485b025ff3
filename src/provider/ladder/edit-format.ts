import type { EditFormat, Protocol } from "../../domain/model-choice.ts"
import type { Decided } from "./window.ts"

/** In thousands of millions of parameters. Below the first, models do not copy the text to be replaced exactly. */
const replaceFrom = 4
const surelyReplaceFrom = 15
const smallWindow = 8_192

/**
 * How a model is to edit files. Whole files are what every model can do. Search and replace is shorter, needs exact
 * copies of what is there, and is what all larger models do best; line numbers, which diffs need, are what they get
 * wrong, so diffs are used only where somebody asks for them.
 */
export function decideEditFormat(
  protocol: Protocol,
  parameters: number | null,
  windowTokens: number,
): Decided<EditFormat> {
  if (protocol === "anthropic") return decided("replace", "models of this protocol are large")
  if (parameters !== null && parameters < replaceFrom)
    return decided("whole", `${parameters} thousand million parameters are few`)
  if (parameters !== null && parameters >= surelyReplaceFrom)
    return decided("replace", `${parameters} thousand million parameters are enough`)
  if (windowTokens <= smallWindow)
    return decided("whole", "the window is small, which goes with files that are")
  return decided("replace", parameters === null ? "the size of the model is not known" : "of middle size")
}

function decided(value: EditFormat, why: string): Decided<EditFormat> {
  return { value, note: `edit format: ${value} (${why})` }
}
