import { posix } from "node:path"

export interface SafePathOptions {
  /**
   * A person's command may use `node_modules/.bin` and the like. What acode itself starts must not come from the
   * workspace, where whoever wrote it could have left a `git`.
   */
  readonly keepWorkspace: boolean
}

/** Drops the entries of PATH that depend on the current directory, or lie in the workspace. */
export function safePath(path: string, workspaceRoot: string, options: SafePathOptions): string {
  const root = posix.normalize(`${workspaceRoot}/`)
  return path
    .split(":")
    .filter(entry => entry.startsWith("/"))
    .filter(entry => options.keepWorkspace || !posix.normalize(`${entry}/`).startsWith(root))
    .join(":")
}
