import { oneLine } from "../base/text.ts"
import { externalCallLines } from "../domain/external-call-list.ts"
import { modes } from "../domain/model-choice.ts"
import { defineCommand } from "./definition.ts"
import type { FlagSpecs } from "./flags.ts"
import { interruption } from "./interruption.ts"

export const modelsFlags = {
  mode: {
    kind: "choice",
    choices: modes,
    summary: "where models may be; burst lets the list be asked for elsewhere, and tells what was asked",
  },
} as const satisfies FlagSpecs

export const modelsList = defineCommand({
  name: "models list",
  summary: "the model server that would be used, and its models",
  description: "The one marked with * is what `run` takes without --model.",
  arguments: [],
  flags: modelsFlags,
  examples: [
    { line: "acode models list", note: "what the configured server has, or the one that is found here" },
    { line: "acode models list --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    using interrupted = interruption()
    const { endpoint, protocol, models, externalCalls } = await (await service()).listModels({
      ...{ model: null, mode: flags.mode ?? null, signal: interrupted.signal },
      notice: text => output.notice(text),
    })
    if (globals.json)
      output.json(models.map(model => ({ id: model.name, endpoint, protocol, ...model, externalCalls })))
    output.line(`${protocol} at ${oneLine(endpoint, 200)}`)
    const width = Math.min(60, Math.max(0, ...models.map(({ name }) => name.length)))
    for (const { name, details, isLoaded, isChosen } of models) {
      const loaded = isLoaded === true ? "loaded" : ""
      const notes = [oneLine(details, 200), loaded].filter(note => note !== "").join(", ")
      output.line(`${isChosen ? "*" : " "} ${oneLine(name, 200).padEnd(width)}  ${notes}`.trimEnd())
    }
    for (const line of externalCallLines(externalCalls)) output.line(output.dim(line))
    if (models.length === 0) output.notice("it lists no models")
    return 0
  },
})
