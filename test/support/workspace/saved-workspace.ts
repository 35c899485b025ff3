import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { type AcodeRun, runAcode } from "../acode.ts"
import { type TempWorkspace, tempWorkspace } from "./temp-workspace.ts"

/** A workspace with its state that can be restored to a saved moment, so that a crash can be repeated from there. */
export interface SavedWorkspace extends Disposable {
  readonly workspace: TempWorkspace
  acode(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<AcodeRun>
  /** Remembers how everything is now. Nothing of acode may run. */
  save(name: string): void
  /** Puts everything back to how it was then, at the same path. */
  restore(name: string): void
}

export function savedWorkspace(): SavedWorkspace {
  const workspace = tempWorkspace()
  const copyOf = (name: string) => `${workspace.outside}.${name}`
  const saved = new Set<string>()
  return {
    workspace,
    acode: (args, env = {}) =>
      runAcode(args, { cwd: workspace.root, env: { ...workspace.environment, ...env } }),
    save: name => {
      saved.add(name)
      copy(workspace.outside, copyOf(name))
    },
    restore: name => copy(copyOf(name), workspace.outside),
    [Symbol.dispose]: () => {
      for (const name of saved) rmSync(copyOf(name), { recursive: true, force: true })
      workspace[Symbol.dispose]()
    },
  }
}

/**
 * Copies with `cp`, which keeps modes, times and symlinks. Empties and fills the workspace itself: a new directory
 * would be another workspace.
 */
function copy(from: string, to: string): void {
  mkdirSync(join(to, "workspace"), { recursive: true })
  for (const directory of [to, join(to, "workspace")])
    for (const name of readdirSync(directory))
      if (name !== "workspace" || directory !== to)
        rmSync(join(directory, name), { recursive: true, force: true })
  const { exitCode, stderr } = Bun.spawnSync(["cp", "-a", `${from}/.`, to], { stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`cp: ${stderr.toString()}`)
}
