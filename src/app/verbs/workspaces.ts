import { shownPath } from "../../base/path-names.ts"
import { oneLine } from "../../base/text.ts"
import { withDirectoryLock } from "../../config/lock.ts"
import { Failure } from "../../domain/failure.ts"
import { bytesAt } from "../state/storage-use.ts"
import { formerHistory, type KnownWorkspace, knownWorkspaces } from "../state/workspace-record.ts"
import { removeTree } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"
import type { AdoptedWorkspace } from "./workspace-adoption.ts"

export interface ListedWorkspace extends KnownWorkspace {
  /** The key, by the name that every listing has for it. */
  readonly id: string
  readonly bytes: number
}

/** The state of all workspaces of this user, for directories that were moved or removed. */
export interface WorkspaceVerbs {
  /** All, or those that stand so. */
  workspaces(...standings: readonly KnownWorkspace["standing"][]): Promise<readonly ListedWorkspace[]>
  /** How to get back the history of what was this workspace before it was moved or made anew; null without one. */
  formerHistory(): Promise<string | null>
  /**
   * Makes the state of a directory that is gone the state of this workspace. What this one has recorded itself is set
   * aside as that of a former workspace, and can be adopted in turn.
   */
  adoptWorkspace(typed: string): Promise<AdoptedWorkspace>
  /** Removes the state of a directory that is gone. Gives how much that freed. */
  forgetWorkspace(typed: string): Promise<ListedWorkspace>
}

export function workspaceVerbs(wiring: Wiring): WorkspaceVerbs {
  const { places } = wiring
  const all = () => knownWorkspaces(places)
  const locked = <Result>(work: () => Result) => withDirectoryLock(places.workspacesDirectory, work)
  return {
    workspaces: async (...standings) =>
      all()
        .filter(known => standings.length === 0 || standings.includes(known.standing))
        .map(withSize),
    formerHistory: async () => formerHistory(places, wiring.root.path),
    adoptWorkspace: async typed => {
      const named = former(all(), typed, "adopted")
      // Loaded when it is used: it brings along what holds a workspace.
      const { adopt } = await import("./workspace-adoption.ts")
      return await locked(() => adopt(wiring, named))
    },
    forgetWorkspace: async typed => {
      const named = former(all(), typed, "forgotten")
      return await locked(() => ({ ...withSize(named), bytes: removeTree(named.directory) }))
    },
  }
}

function withSize(known: KnownWorkspace): ListedWorkspace {
  return { id: known.key, ...known, bytes: bytesAt(known.directory) }
}

/** The one that was typed: its key, or a beginning or an end of it that no other has. */
function former(all: readonly KnownWorkspace[], typed: string, what: string): KnownWorkspace {
  const exact = all.filter(({ key }) => key === typed)
  const found =
    exact.length > 0 ? exact : all.filter(({ key }) => key.startsWith(typed) || key.endsWith(typed))
  const [named] = found
  if (named === undefined || found.length > 1)
    throw usage(
      `${found.length === 0 ? "no workspace" : `${found.length} workspaces`} of which the key begins or ends with "${oneLine(typed, 80)}"`,
      "`acode workspace list` shows the keys",
    )
  if (named.standing === "gone" || named.standing === "aside") return named
  throw usage(
    `the state of ${oneLine(shownPath(named.root), 200)} cannot be ${what}: that directory is still there`,
    "only the state of a directory that was moved or removed can be",
  )
}

function usage(message: string, hint: string): Failure {
  return new Failure({ kind: "usage", code: "ACODE-CLI-002", message, hint })
}
