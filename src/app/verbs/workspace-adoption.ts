import { renameSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import { holdWorkspace } from "../../gate/session-log.ts"
import { openStore } from "../../store/open-store.ts"
import { processIdentity } from "../../store/process-identity.ts"
import { hasHistory } from "../../store/state-directory.ts"
import { isDriven } from "../session-control.ts"
import { assertStateOutside, directoryIdentity } from "../state/state-directory.ts"
import { namesIn } from "../state/storage-use.ts"
import { type KnownWorkspace, writeRecord } from "../state/workspace-record.ts"
import type { Wiring } from "../wiring/wire.ts"
import { lookInto } from "./former-ids.ts"

export interface AdoptedWorkspace extends KnownWorkspace {
  /** The key of the state that was recorded here before; null when there was none. */
  readonly setAside: string | null
}

/** Makes the state of a former workspace that of this one. The caller holds the lock of all state directories. */
export async function adopt(wiring: Wiring, named: KnownWorkspace): Promise<AdoptedWorkspace> {
  const { places } = wiring
  assertStateOutside(places, wiring.root.path)
  await assertIdle(wiring, named)
  const setAside = hasHistory(places.databasePath) ? await setPresentAside(wiring) : null
  // State without a history holds nothing worth keeping.
  rmSync(places.stateDirectory, { recursive: true, force: true })
  renameSync(named.directory, places.stateDirectory)
  writeRecord(places.stateDirectory, { ...directoryIdentity(wiring.root.path), madeAt: named.madeAt })
  return { ...named, setAside }
}

/**
 * Moves this workspace's history aside, as that of a former workspace, and returns its key. Its head is anchored at the
 * new place first: otherwise the anchor would be missing in the adopted history.
 */
async function setPresentAside(wiring: Wiring): Promise<string> {
  const { stateDirectory, workspacesDirectory } = wiring.places
  const taken = new Set(namesIn(workspacesDirectory))
  let count = 1
  while (taken.has(`${basename(stateDirectory)}.${count}`)) count += 1
  const key = `${basename(stateDirectory)}.${count}`
  const place = join(workspacesDirectory, key)
  const store = await wiring.store()
  if (store.executions.stats().running > 0) throw isWorking(wiring.root.path)
  // Throws while another process works here.
  holdWorkspace({ leases: store.leases, owner: processIdentity() })[Symbol.dispose]()
  wiring.closeStore()
  const moving = openStore({ ...(await wiring.storeOptions()), stateDirectory: place })
  try {
    moving.anchor()
  } finally {
    // Before the files are renamed: SQLite removes its files beside the database by name.
    moving[Symbol.dispose]()
  }
  renameSync(stateDirectory, place)
  return key
}

/** Throws while a process works on the history. One that cannot be read is moved as it is. */
async function assertIdle(wiring: Wiring, { directory, root }: KnownWorkspace): Promise<void> {
  const isBusy = (await lookInto(wiring, directory, store => store.sessions.list({}).some(isDriven))) ?? false
  if (isBusy) throw isWorking(root)
}

function isWorking(root: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `another process is working in ${oneLine(shownPath(root), 200)}`,
    hint: "try again when it has finished",
  })
}
