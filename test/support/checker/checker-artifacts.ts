import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { LogRow } from "./checker-log.ts"

/** I6: every artifact an event names is there, and its content is what its name says. */
export function artifactViolations(directory: string, log: readonly LogRow[]): string[] {
  return [...new Set(log.flatMap(refsIn))].flatMap(ref => {
    const hash = ref.slice("sha256:".length)
    const path = join(directory, hash.slice(0, 2), hash.slice(2))
    if (!existsSync(path)) return [`I6 the artifact ${ref} is missing`]
    const actual = new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex")
    return actual === hash ? [] : [`I6 the artifact ${ref} has another content`]
  })
}

/** A finished command names nothing by hash but artifacts; in other events only what says so is one. */
function refsIn(row: LogRow): readonly string[] {
  if (row.type === "command.finished") return row.data.match(/sha256:[0-9a-f]{64}/g) ?? []
  return row.type === "history.pruned" ? [] : recordedIn(row.parsed)
}

function recordedIn(value: unknown): readonly string[] {
  if (value === null || typeof value !== "object") return []
  const { kind, ref } = value as { kind?: unknown; ref?: unknown }
  // Text in an event comes from a model or a command, and may look like anything.
  if (kind === "inline") return []
  if (kind === "artifact" && typeof ref === "string") return [ref]
  return Object.values(value).flatMap(recordedIn)
}
