import { renameSync, rmSync } from "node:fs"
import { shownPath } from "../base/path-names.ts"
import { oneLine } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { hasHistory } from "../store/state-directory.ts"
import { withDirectoryLock } from "./config-lock.ts"
import { assertStateOutside, directoryIdentity } from "./state-directory.ts"
import { bytesAt } from "./storage-use.ts"
import { removeTree } from "./upkeep.ts"
import type { Wiring } from "./wire.ts"
import { formerWorkspaces, type KnownWorkspace, knownWorkspaces, writeRecord } from "./workspace-record.ts"

export interface ListedWorkspace extends KnownWorkspace {
  readonly bytes: number
}

/** The state of all workspaces of this user, for directories that were moved or removed. */
export interface WorkspaceVerbs {
  /** All, or those that stand so. */
  workspaces(standing?: KnownWorkspace["standing"]): Promise<readonly ListedWorkspace[]>
  /** How to get back the history of what was this workspace before it was moved or made anew; null without one. */
  formerHistory(): Promise<string | null>
  /** Makes the state of a directory that is gone the state of this workspace, which has none yet. */
  adoptWorkspace(typed: string): Promise<KnownWorkspace>
  /** Removes the state of a directory that is gone. Gives how much that freed. */
  forgetWorkspace(typed: string): Promise<ListedWorkspace>
}

export function workspaceVerbs(wiring: Wiring): WorkspaceVerbs {
  const { places } = wiring
  const all = () => knownWorkspaces(places)
  const locked = <Result>(work: () => Result) => withDirectoryLock(places.workspacesDirectory, work)
  return {
    workspaces: async standing =>
      all()
        .filter(known => standing === undefined || known.standing === standing)
        .map(known => ({ ...known, bytes: bytesAt(known.directory) })),
    formerHistory: async () => formerHistory(wiring),
    adoptWorkspace: async typed => {
      const named = gone(all(), typed, "adopted")
      return await locked(() => {
        assertStateOutside(places, wiring.root.path)
        if (hasHistory(places.databasePath)) throw hasItsOwn(places.stateDirectory)
        // Without a history nothing in it is worth keeping.
        rmSync(places.stateDirectory, { recursive: true, force: true })
        renameSync(named.directory, places.stateDirectory)
        writeRecord(places.stateDirectory, {
          ...directoryIdentity(wiring.root.path),
          madeAt: named.madeAt,
        })
        return named
      })
    },
    forgetWorkspace: async typed => {
      const named = gone(all(), typed, "forgotten")
      return await locked(() => ({ ...named, bytes: removeTree(named.directory) }))
    },
  }
}

/** Said where a history is looked for and there is none. */
export function formerHistory({ places, root }: Wiring): string | null {
  if (hasHistory(places.databasePath)) return null
  const [former] = formerWorkspaces(places, root.path)
  if (former === undefined) return null
  const was =
    former.root === root.path
      ? "another directory stood here before"
      : `this was ${shownPath(former.root)} before`
  return `${oneLine(was, 200)}; \`acode workspace adopt ${former.key}\` takes over its history`
}

/** The one that was typed: its key, or a beginning or an end of it that no other has. */
function gone(all: readonly KnownWorkspace[], typed: string, what: string): KnownWorkspace {
  const exact = all.filter(({ key }) => key === typed)
  const found =
    exact.length > 0 ? exact : all.filter(({ key }) => key.startsWith(typed) || key.endsWith(typed))
  const [named] = found
  if (named === undefined || found.length > 1)
    throw usage(
      `${found.length === 0 ? "no workspace" : `${found.length} workspaces`} of which the key begins or ends with "${oneLine(typed, 80)}"`,
      "`acode workspace list` shows the keys",
    )
  if (named.standing === "gone") return named
  throw usage(
    `the state of ${oneLine(shownPath(named.root), 200)} cannot be ${what}: that directory is still there`,
    "only the state of a directory that was moved or removed can be",
  )
}

function hasItsOwn(where: string): Failure {
  return usage(
    "this workspace has a history of its own, which would be lost",
    `to do without it, move ${where} away first`,
  )
}

function usage(message: string, hint: string): Failure {
  return new Failure({ kind: "usage", code: "ACODE-CLI-002", message, hint })
}
