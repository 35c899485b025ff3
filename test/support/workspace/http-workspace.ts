import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, type RunningAcode, runAcode, startAcode } from "../acode.ts"
import { type AgentRun, type AgentWorkspace, agentRun, agentWorkspace } from "../agent/agent-workspace.ts"
import type { TempWorkspaceOptions } from "./temp-workspace.ts"

/** Values of the `model:` and `mode:` sections, as they are written in the user's file. */
export interface HttpOptions extends TempWorkspaceOptions {
  readonly endpoint: string | null
  readonly model?: Readonly<Record<string, unknown>>
  readonly more?: Readonly<Record<string, unknown>>
  readonly variables?: Readonly<Record<string, string>>
}

/** A workspace whose user has configured a model server. */
export interface HttpWorkspace extends AgentWorkspace {
  /** `acode run` with `--json`, without a script, to its end. */
  ask(...flags: readonly string[]): Promise<AgentRun>
  goOn(...flags: readonly string[]): Promise<AgentRun>
  begin(...flags: readonly string[]): RunningAcode
  plain(...args: readonly string[]): Promise<AcodeRun>
  /** Writes the user's file anew. */
  configure(options: Pick<HttpOptions, "endpoint" | "model" | "more">): void
}

export function httpWorkspace(options: HttpOptions): HttpWorkspace {
  const room = agentWorkspace(options)
  const env = { ...room.environment, ...options.variables }
  const run = { cwd: room.workspace.root, env }
  const goal = "do what is asked"
  const configure: HttpWorkspace["configure"] = given => {
    const directory = join(room.workspace.configHome, "acode")
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, "config.yml"), JSON.stringify(configOf(given)))
  }
  configure(options)
  return {
    ...room,
    configure,
    environment: env,
    ask: async (...flags) => agentRun(await runAcode(["run", goal, ...flags, "--json"], run)),
    goOn: async (...flags) => agentRun(await runAcode(["resume", ...flags, "--json"], run)),
    begin: (...flags) => startAcode(["run", goal, ...flags, "--json"], run),
    plain: (...args) => runAcode(args, run),
  }
}

function configOf({ endpoint, model = {}, more = {} }: Pick<HttpOptions, "endpoint" | "model" | "more">) {
  return { schema_version: "1", model: { endpoint, ...model }, ...more }
}
