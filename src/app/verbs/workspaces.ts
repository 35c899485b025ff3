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
  /** The key, under the property name that every listing uses. */
  readonly id: string
  readonly bytes: number
}

/** The state of all workspaces of this user, for directories that were moved or removed. */
export interface WorkspaceVerbs {
  /** Lists all workspaces, or those with one of these standings. */
  workspaces(...standings: readonly KnownWorkspace["standing"][]): Promise<readonly ListedWorkspace[]>
  /** Returns how to adopt the history of this workspace from before it was moved or recreated; null without one. */
  formerHistory(): Promise<string | null>
  /**
   * Makes the state of a directory that is gone the state of this workspace. This workspace's own state is set aside as
   * that of a former workspace, and can be adopted in turn.
   */
  adoptWorkspace(typed: string): Promise<AdoptedWorkspace>
  /** Removes the state of a directory that is gone. Returns its size. */
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
      // Loaded only here: it imports the leases of workspaces.
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

/** Returns the workspace whose key is typed whole, or as a beginning or an end that no other key has. */
function former(all: readonly KnownWorkspace[], typed: string, what: string): KnownWorkspace {
  const exact = all.filter(({ key }) => key === typed)
  const found =
    exact.length > 0 ? exact : all.filter(({ key }) => key.startsWith(typed) || key.endsWith(typed))
  const [named] = found
  if (named === undefined || found.length > 1)
    throw usage(
      `"${oneLine(typed, 80)}" matches the key of ${found.length === 0 ? "no workspace" : `${found.length} workspaces`}`,
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
