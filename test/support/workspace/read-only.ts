import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes a directory one in which nothing can be made or replaced; root, whom modes do not stop, makes it immutable. */
export function readOnlyDirectory(directory: string): Disposable {
  if (process.getuid?.() !== 0) {
    chmodSync(directory, 0o500)
    return { [Symbol.dispose]: () => chmodSync(directory, 0o700) }
  }
  if (!chattr("+i", directory)) throw new Error("the directory cannot be made immutable")
  return { [Symbol.dispose]: () => void chattr("-i", directory) }
}

/** Returns why that cannot be done here; null when it can. */
export function readOnlySkip(): string | null {
  const directory = mkdtempSync(join(tmpdir(), "acode-"))
  try {
    using _ = readOnlyDirectory(directory)
    return null
  } catch {
    // That it fails is the answer.
    return "root can make no directory immutable here"
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function chattr(change: string, directory: string): boolean {
  return Bun.which("chattr") !== null && Bun.spawnSync(["chattr", change, directory]).exitCode === 0
}
