import { join } from "node:path"
import { systemClock } from "../../../src/base/clock.ts"
import { noFaults } from "../../../src/base/faults.ts"
import type { Store } from "../../../src/store/contract.ts"
import { openStore, type StoreOptions } from "../../../src/store/open-store.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import type { TempWorkspace } from "./temp-workspace.ts"

/** The history of a workspace at the places the product keeps it, without a redactor. */
export function openTempStore(workspace: TempWorkspace, changed: Partial<StoreOptions> = {}): Store {
  return openStore({
    databasePath: workspace.state("workspace.db"),
    artifactsDirectory: workspace.state("artifacts"),
    keysDirectory: join(workspace.dataHome, "acode", "keys"),
    anchorsDirectory: join(workspace.dataHome, "acode", "anchors"),
    stateDirectory: workspace.root,
    redactor: { redactText: text => text, redactBytes: bytes => bytes },
    clock: systemClock,
    faults: noFaults,
    self: processIdentity(),
    ...changed,
  })
}
