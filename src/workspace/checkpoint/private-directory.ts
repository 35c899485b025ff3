import { chmodSync, lstatSync, mkdirSync } from "node:fs"
import { Failure } from "../../domain/failure.ts"

/** Makes sure that a directory is there, is one, is ours and is closed to everybody else. */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const stat = lstatSync(path)
  const owner = process.getuid?.()
  if (!stat.isDirectory() || (owner !== undefined && stat.uid !== owner))
    throw new Failure({
      kind: "integrity",
      code: "ACODE-SEC-006",
      message: `"${path}" is not a directory of its own that belongs to you`,
      where: path,
      hint: "remove the symlink or the foreign directory; copies of your files are kept there",
    })
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700)
}
