import { defineCommand } from "./definition.ts"

export const configMode = defineCommand({
  name: "config mode",
  summary: "the mode of a session here, and what it allows",
  description: "What `run` uses without --mode. `acode config matrix` compares the modes.",
  arguments: [],
  flags: {},
  examples: [{ line: "acode config mode", note: "where models may be, and what else follows from it" }],
  run: async (_input, { service, output, globals }) => {
    const { usualMode } = await import("../app/model/mode.ts")
    const { modeMatrix } = await import("../domain/mode-matrix.ts")
    const { values, origins } = await (await service()).config()
    const mode = usualMode(values.mode)
    const { allow_burst: allowsBurst, airgapped_lock: isLocked } = values.mode
    const origin = origins.get(isLocked ? "mode.airgapped_lock" : "mode.default") ?? "default"
    const allowed = modeMatrix.map(capability => ({ id: capability.id, allowed: capability.allowed[mode] }))
    if (globals.json) output.json({ mode, origin, allowsBurst, isLocked, allowed })
    output.line(`${mode}${output.dim(`  (${origin})`)}`)
    const width = Math.max(...modeMatrix.map(({ summary }) => summary.length))
    for (const { summary, allowed: words } of modeMatrix)
      output.line(`  ${summary.padEnd(width)}  ${words[mode]}`)
    output.line(
      `  ${"--mode burst".padEnd(width)}  ${allowsBurst && !isLocked ? "may be said" : "is refused"}`,
    )
    return 0
  },
})
