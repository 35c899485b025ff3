import { modeMatrix } from "../domain/mode-matrix.ts"
import { modes } from "../domain/model-choice.ts"
import { defineCommand } from "./definition.ts"

export const configMatrix = defineCommand({
  name: "config matrix",
  summary: "what each mode allows",
  arguments: [],
  flags: {
    mode: { kind: "choice", choices: modes, summary: "only this mode" },
    capability: {
      kind: "choice",
      choices: modeMatrix.map(({ id }) => id),
      summary: "only this capability",
    },
  },
  examples: [
    { line: "acode config matrix", note: "the modes side by side" },
    { line: "acode config matrix --mode airgapped --json", note: "one of them, for a script" },
  ],
  run: async ({ flags: { mode, capability } }, { output, globals }) => {
    const shown = modes.filter(each => mode === undefined || each === mode)
    const rows = modeMatrix.filter(({ id }) => capability === undefined || id === capability)
    if (globals.json)
      output.json(
        rows.map(({ id, summary, allowed }) => ({
          ...{ id, summary },
          allowed: Object.fromEntries(shown.map(each => [each, allowed[each]])),
        })),
      )
    const lines = [
      ["", ...shown],
      ...rows.map(({ id, allowed }) => [id, ...shown.map(each => allowed[each])]),
    ]
    const widths = ["", ...shown].map((_, column) =>
      Math.max(...lines.map(cells => cells[column]?.length ?? 0)),
    )
    for (const cells of lines)
      output.line(
        cells
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd(),
      )
    return 0
  },
})
