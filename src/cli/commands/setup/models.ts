import { oneLine } from "../../../base/text.ts"
import { externalCallLines } from "../../../domain/external-calls.ts"
import { modes } from "../../../domain/model-choice.ts"
import { defineCommand } from "../../definition.ts"
import type { FlagSpecs } from "../../parse/flags.ts"
import { interruption } from "../../terminal/interruption.ts"

const modelsFlags = {
  mode: {
    kind: "choice",
    choices: modes,
    summary: "where models may be; burst allows remote servers, and prints each request to them",
  },
} as const satisfies FlagSpecs

export const modelsList = defineCommand({
  name: "models list",
  summary: "show the model server that would be used, and its models",
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
      model: null,
      mode: flags.mode ?? null,
      signal: interrupted.signal,
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

export const modelsProbe = defineCommand({
  name: "models probe",
  summary: "test what a model can do",
  description:
    "Sends the model a few short requests: how it calls tools, how it edits files best, how large its window is.\n" +
    "A session does this only for a model that was not probed yet.",
  arguments: [
    {
      name: "NAME",
      summary: "NAME or PROVIDER/NAME; without it the one a session would use",
      optional: true,
    },
  ],
  flags: modelsFlags,
  examples: [
    { line: "acode models probe", note: "the model that `run` would use" },
    { line: "acode models probe qwen3:8b --json", note: "for a script" },
  ],
  run: async ({ arguments: [name], flags }, { service, output, globals }) => {
    using interrupted = interruption()
    const probed = await (await service()).probeModel({
      model: name ?? null,
      mode: flags.mode ?? null,
      signal: interrupted.signal,
      notice: text => output.notice(text),
    })
    if (globals.json) output.json({ id: probed.name, ...probed })
    const rows = [
      ["model", `${oneLine(probed.name, 200)} at ${oneLine(probed.endpoint, 200)}, ${probed.protocol}`],
      ["tools", probed.rung],
      ["window", `${probed.windowTokens} tokens, of which a reply takes at most ${probed.outputTokensMax}`],
      ["edits", probed.editFormat],
      ["answer", `begins after ${probed.firstTokenMs} ms`],
    ] as const
    for (const [what, text] of rows) output.line(`${what.padEnd(7)} ${text}`)
    for (const note of probed.notes) output.line(output.dim(`        ${oneLine(note, 300)}`))
    for (const line of externalCallLines(probed.externalCalls)) output.line(output.dim(`        ${line}`))
    return 0
  },
})
