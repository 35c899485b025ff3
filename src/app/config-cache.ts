import { statSync } from "node:fs"
import { join } from "node:path"
import { sha256Hex } from "../base/canonical.ts"
import { lazily } from "../domain/lazily.ts"
import { defaultLeaves, type Leaves } from "./config-keys.ts"
import { keep, readKept } from "./kept-file.ts"

/** What valid files said, so that the parser and the schemas need not be loaded to read the same file again. */
export interface ConfigCache {
  /** Null when it is not known. */
  read(fileHash: string): Leaves | null
  write(fileHash: string, leaves: Leaves): void
}

/**
 * By the hash of the file and by the very program that found it valid: another one may ask for something else. The
 * sources change too often for that, so only the compiled program keeps anything.
 */
export function configCache(
  cacheHome: string,
  programOf: () => string | null = lazily(compiledProgram),
): ConfigCache {
  const placeOf = (fileHash: string): string | null => {
    const program = programOf()
    if (program === null) return null
    return join(cacheHome, "acode", "config", `${sha256Hex(`${program}\n${fileHash}`)}.json`)
  }
  return {
    read: fileHash => {
      const path = placeOf(fileHash)
      const text = path === null ? null : readKept(path)
      return text === null ? null : leavesIn(text, fileHash)
    },
    write: (fileHash, leaves) => {
      const path = placeOf(fileHash)
      if (path !== null) keep(path, JSON.stringify({ fileHash, leaves: [...leaves] }))
    },
  }
}

/** Tells one build from another; null for what is run from its sources. */
function compiledProgram(): string | null {
  if (!Bun.main.startsWith("/$bunfs/")) return null
  const { size, mtimeMs, ino } = statSync(process.execPath)
  return `${process.execPath} ${size} ${mtimeMs} ${ino}`
}

function leavesIn(text: string, fileHash: string): Leaves | null {
  try {
    const kept = JSON.parse(text)
    if (kept.fileHash !== fileHash || !Array.isArray(kept.leaves)) return null
    const leaves: Leaves = new Map(kept.leaves)
    return [...leaves.keys()].every(key => defaultLeaves.has(key)) ? leaves : null
  } catch {
    // Damaged: the file itself is read again.
    return null
  }
}
