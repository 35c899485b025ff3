import { Failure } from "../domain/failure.ts"
import type { Confinement } from "./contract.ts"

/** Throws for a workspace that is to be shown as an overlay, where a sandbox cannot make one. */
export function refuseLayers({ layers, workspaceRoot }: Confinement, sandbox: string): void {
  if (layers === null) return
  throw new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: `${sandbox} cannot show the workspace as an overlay`,
    where: workspaceRoot,
    hint: "run `acode doctor` to see which sandboxes work here",
  })
}
