import { join } from "node:path"
import { Wiring } from "../src/app/wiring/wire.ts"
import { readEnvironment } from "../src/config/environment.ts"
import { repositoryRoot } from "../test/support/acode.ts"
import { type TempWorkspace, tempWorkspace } from "../test/support/workspace/temp-workspace.ts"

export interface Product extends Disposable {
  readonly workspace: TempWorkspace
  readonly wiring: Wiring
}

/** The program that `npm run build` makes. */
export const builtProgram = join(repositoryRoot, "dist", "acode")

/** The product as it is wired for people, on a workspace of its own. */
export function openProduct(): Product {
  // Figures about capturing are not about keeping, and those about killing not about asking politely first.
  const config = 'schema_version: "1"\nexecution:\n  artifact_max_mb: 1\n  kill_grace_seconds: 0\n'
  const workspace = tempWorkspace({
    git: true,
    files: { "README.md": "# a project\n", ".agent/config.yml": config },
  })
  const environment = readEnvironment(workspace.environment)
  const wiring = new Wiring({ environment, workspace: workspace.root, configFile: undefined })
  return {
    workspace,
    wiring,
    [Symbol.dispose]: () => {
      wiring[Symbol.dispose]()
      workspace[Symbol.dispose]()
    },
  }
}
