import { oneLine } from "../base/text.ts"
import { externalCallLines } from "../domain/external-call-list.ts"
import { defineCommand } from "./definition.ts"
import { interruption } from "./interruption.ts"
import { modelsFlags } from "./models-list.ts"

export const modelsProbe = defineCommand({
  name: "models probe",
  summary: "try out what a model can do",
  description:
    "Asks the model anew, a few short questions: how it calls tools, how it is to edit files, how large its window is.\n" +
    "A session asks only when nothing is known about a model yet.",
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
      ...{ model: name ?? null, mode: flags.mode ?? null, signal: interrupted.signal },
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
