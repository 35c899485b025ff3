import type { Checks, ProjectFiles } from "../../code/contract.ts"
import { Failure } from "../../domain/failure.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { CheckDeps } from "../contract.ts"

/** Returns the commands that check a path: at most one for each kind of code in it. Only inspects. */
export function checksAt(
  workspace: Workspace,
  { checkers, settings }: CheckDeps,
  path: string,
  isDirectory: boolean,
): Checks {
  return checkers.checksOf({ path, isDirectory }, projectFilesIn(workspace), settings)
}

const entriesMax = 10_000
const textBytesMax = 256 * 1024
const sourcesMax = 501

function projectFilesIn(workspace: Workspace): ProjectFiles {
  const listed = new Map<string, ReadonlySet<string>>()
  return {
    isFile: path => readable(() => workspace.locate(path).kind === "file", false),
    names: directory => {
      const known = listed.get(directory) ?? namesIn(workspace, directory)
      listed.set(directory, known)
      return known
    },
    text: path => readable(() => workspace.readText(path, textBytesMax).text, null),
    below: (directory, extensions) => {
      const pattern = `**/*.${extensions.length === 1 ? extensions[0] : `{${extensions.join(",")}}`}`
      return readable(() => workspace.glob({ pattern, path: directory, matchesMax: sourcesMax }), {
        paths: [],
        truncated: false,
      })
    },
  }
}

function namesIn(workspace: Workspace, directory: string): ReadonlySet<string> {
  return readable(() => {
    const { entries } = workspace.list({ path: directory, depth: 1, entriesMax })
    return new Set(
      entries.flatMap(({ path, kind }) => (kind === "file" ? [path.slice(path.lastIndexOf("/") + 1)] : [])),
    )
  }, new Set())
}

/** A file that cannot be read does not show how the project is checked. */
function readable<Result>(read: () => Result, otherwise: Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return otherwise
  }
}
