import { parseArgs } from "node:util"
import { repositoryRoot } from "../test/support/acode.ts"
import { type Figure, printTable, writeJson } from "./report.ts"

/**
 * `npm run bench [-- --only NAME --json FILE]`: what the product costs, against what the machine gives without it,
 * measured in the same run. Not a test: a busy machine misses bars without anything being wrong. `--tree DIR` names the
 * checkout that the group `code` indexes.
 */
const groups: Readonly<Record<string, () => Promise<Figure[]> | Figure[]>> = {
  pure: async () => (await import("./pure.ts")).pureFigures(),
  policy: async () => (await import("./policy.ts")).policyFigures(),
  workspace: async () => (await import("./workspace.ts")).workspaceFigures(),
  large: async () => {
    build()
    return (await import("./trees/large-tree.ts")).largeTreeFigures()
  },
  code: async () => {
    build()
    return (await import("./trees/code.ts")).codeFigures(values.tree)
  },
  redaction: async () => (await import("./redaction.ts")).redactionFigures(),
  runner: async () => (await import("./runner.ts")).runnerFigures(),
  gate: async () => (await import("./gate.ts")).gateFigures(),
  pipeline: async () => {
    build()
    return (await import("./sessions/pipeline.ts")).pipelineFigures()
  },
  sandbox: async () => (await import("./sandbox.ts")).sandboxFigures(),
  capture: async () => (await import("./capture.ts")).captureFigures(),
  evidence: async () => (await import("./evidence.ts")).evidenceFigures(),
  history: async () => (await import("./history.ts")).historyFigures(),
  kill: async () => (await import("./kill.ts")).killFigures(),
  models: async () => {
    build()
    return (await import("./sessions/models.ts")).modelFigures()
  },
  skills: async () => {
    build()
    return (await import("./sessions/skills.ts")).skillFigures()
  },
  start: async () => {
    build()
    return (await import("./start.ts")).startFigures()
  },
}

const { values } = parseArgs({
  options: { only: { type: "string" }, json: { type: "string" }, tree: { type: "string" } },
})
const chosen = Object.entries(groups).filter(([name]) => values.only === undefined || name === values.only)
if (chosen.length === 0)
  throw new Error(`usage: --only ${Object.keys(groups).join("|")} --json FILE --tree DIR`)

const figures: Figure[] = []
for (const [name, measure] of chosen) {
  process.stderr.write(`measuring ${name} …\n`)
  figures.push(...(await measure()))
}
printTable(figures)
if (values.json !== undefined) writeJson(values.json, figures)

function build(): void {
  const { exitCode, stderr } = Bun.spawnSync(["bash", "scripts/build"], { cwd: repositoryRoot })
  if (exitCode !== 0) throw new Error(`npm run build: ${stderr.toString()}`)
}
