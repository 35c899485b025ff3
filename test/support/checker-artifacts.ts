import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { LogRow } from "./checker-log.ts"

/** I6: every artifact an event names is there, and its content is what its name says. */
export function artifactViolations(directory: string, log: readonly LogRow[]): string[] {
  const finished = log.filter(row => row.type === "command.finished")
  const refs = finished.flatMap(row => row.data.match(/sha256:[0-9a-f]{64}/g) ?? [])
  return [...new Set(refs)].flatMap(ref => {
    const hash = ref.slice("sha256:".length)
    const path = join(directory, hash.slice(0, 2), hash.slice(2))
    if (!existsSync(path)) return [`I6 the artifact ${ref} is missing`]
    const actual = new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")
    return actual === hash ? [] : [`I6 the artifact ${ref} has another content`]
  })
}
