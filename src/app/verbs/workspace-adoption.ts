import { renameSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import { holdWorkspace } from "../../gate/session-log.ts"
import { openStore } from "../../store/open-store.ts"
import { isProcessAlive, processIdentity } from "../../store/process-identity.ts"
import { hasHistory } from "../../store/state-directory.ts"
import { assertStateOutside, directoryIdentity } from "../state/state-directory.ts"
import { namesIn } from "../state/storage-use.ts"
import { type KnownWorkspace, writeRecord } from "../state/workspace-record.ts"
import type { Wiring } from "../wiring/wire.ts"
import { lookInto } from "./former-ids.ts"

export interface AdoptedWorkspace extends KnownWorkspace {
  /** The key of what was recorded here before; null when nothing was. */
  readonly setAside: string | null
}

/** Makes other state that of this workspace. The caller has the lock of the directory of all of them. */
export async function adopt(wiring: Wiring, named: KnownWorkspace): Promise<AdoptedWorkspace> {
  const { places } = wiring
  assertStateOutside(places, wiring.root.path)
  await assertIdle(wiring, named)
  const setAside = hasHistory(places.databasePath) ? await setPresentAside(wiring) : null
  // Without a history nothing in it is worth keeping.
  rmSync(places.stateDirectory, { recursive: true, force: true })
  renameSync(named.directory, places.stateDirectory)
  writeRecord(places.stateDirectory, { ...directoryIdentity(wiring.root.path), madeAt: named.madeAt })
  return { ...named, setAside }
}

/**
 * Moves what was recorded here away, as the history of a former workspace. Its head is anchored at its new place first:
 * else the other history would have to answer for it. Gives its key.
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
  // Refuses where somebody works here.
  holdWorkspace({ leases: store.leases, owner: processIdentity() })[Symbol.dispose]()
  wiring.closeStore()
  const moving = openStore({ ...(await wiring.storeOptions()), stateDirectory: place })
  try {
    moving.anchor()
  } finally {
    // Before the files get another name: SQLite removes those beside the database by name.
    moving[Symbol.dispose]()
  }
  renameSync(stateDirectory, place)
  return key
}

/** A history that a process writes to cannot be moved under it. One that cannot be read is moved as it is. */
async function assertIdle(wiring: Wiring, { directory, root }: KnownWorkspace): Promise<void> {
  const isDriven =
    (await lookInto(wiring, directory, store =>
      store.sessions.list({}).some(({ exitCode, owner }) => exitCode === null && isProcessAlive(owner)),
    )) ?? false
  if (isDriven) throw isWorking(root)
}

function isWorking(root: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-002",
    message: `somebody works in ${oneLine(shownPath(root), 200)} now`,
    hint: "try again when that has ended",
  })
}
