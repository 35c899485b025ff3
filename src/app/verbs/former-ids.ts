import { join } from "node:path"
import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../store/contract.ts"
import { openStore } from "../../store/open-store.ts"
import { fitting, type RecordedKind, recordedIdsLike } from "../recorded-id.ts"
import { partsOfState } from "../state/state-directory.ts"
import { namesIn } from "../state/storage-use.ts"
import { type KnownWorkspace, knownWorkspaces } from "../state/workspace-record.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Returns which other history has an id that is unknown here, and how to reach it; null when none has it. */
export async function whereKnown(wiring: Wiring, typed: string, kind: RecordedKind): Promise<string | null> {
  if (typed === "") return null
  const others = knownWorkspaces(wiring.places).filter(({ standing }) => standing !== "here")
  for (const known of others.slice(0, othersMax)) {
    const [id] = await idsIn(wiring, known, typed, kind)
    if (id !== undefined)
      return `${id} is in the history of ${oneLine(shownPath(known.root), 200)}${wayThere(known)}`
  }
  return null
}

/** The limit of histories that are searched: each is a database to open. */
const othersMax = 100

function wayThere({ standing, key }: KnownWorkspace): string {
  if (standing === "elsewhere") return "; -C names that workspace"
  return `, which was ${standing === "aside" ? "set aside" : "moved or removed"}: \`acode workspace adopt ${key}\` takes it over`
}

async function idsIn(
  wiring: Wiring,
  { directory }: KnownWorkspace,
  typed: string,
  kind: RecordedKind,
): Promise<readonly string[]> {
  if (kind !== "checkpoint")
    return (await lookInto(wiring, directory, store => recordedIdsLike(store, typed, kind))) ?? []
  const names = namesIn(join(partsOfState(directory).checkpointsDirectory, "manifests"))
  return fitting(
    names.flatMap(name => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : [])),
    typed,
  )
}

/** Reads the history of another workspace; null when it cannot be read. */
export async function lookInto<Result>(
  wiring: Wiring,
  directory: string,
  read: (store: Store) => Result,
): Promise<Result | null> {
  try {
    const places = { ...partsOfState(directory), stateDirectory: directory }
    using store = openStore({ ...(await wiring.storeOptions()), ...places, readOnly: true })
    return read(store)
  } catch (error) {
    // Damaged, of another version or of another user: it does not have the id, and the person did not name it.
    if (error instanceof Failure) return null
    throw error
  }
}
