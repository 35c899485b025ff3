import { Failure } from "../../domain/failure.ts"
import type { Workspace } from "../../workspace/contract.ts"

/** The little of a project that tells which tools it uses. */
export interface ProjectFiles {
  /** Names in the root directory. */
  readonly names: ReadonlySet<string>
  /** A small text file; null when it is not there, or not that. */
  text(path: string): string | null
  /** Whether there is such a file anywhere. */
  has(glob: string): boolean
}

const bytesMax = 256 * 1024
const entriesMax = 10_000

export function projectFiles(workspace: Workspace): ProjectFiles {
  const { entries } = workspace.list({ path: ".", depth: 1, entriesMax })
  return {
    names: new Set(entries.map(({ path }) => path)),
    text: path => {
      try {
        return workspace.readText(path, bytesMax).text
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        // Missing, huge or binary: it says nothing about how the project is tested.
        return null
      }
    },
    has: pattern => workspace.glob({ pattern, path: ".", matchesMax: 1 }).paths.length > 0,
  }
}
