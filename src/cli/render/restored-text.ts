import { shownPath } from "../../base/path-names.ts"
import { shellQuoted } from "../../base/text.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { Output } from "../output.ts"

export function explained({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${shownPath(path)} (${reason})`
}

/** Returns the paths that stay as they are, each with the reason. */
export function leftAlone(
  paths: readonly string[],
  doubts: readonly { readonly path: string; readonly reason: string }[],
): readonly string[] {
  const reasons = new Map(doubts.map(({ path, reason }) => [path, reason]))
  return paths.map(path => explained({ path, reason: reasons.get(path) ?? "it is being changed" }))
}

/** Prints one line for each path, which the caller has escaped. */
export function printPaths(output: Output, groups: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, paths] of Object.entries(groups))
    for (const path of paths) output.line(`${name}: ${path}`)
}

/** Returns a path as a command argument: a name that begins like a flag gets a leading `./`. */
export function typedPath(path: string): string {
  const shown = shownPath(path)
  return shellQuoted(shown.startsWith("-") ? `./${shown}` : shown)
}

/** Returns the line that says how to restore the replaced files. */
export function keptLine(keptId: string): string {
  return `what was there before is kept: \`acode checkpoint restore ${keptId}\``
}

export function interruptedLine(count: number): string {
  return `interrupted: ${count} ${count === 1 ? "path is" : "paths are"} back, the rest is not`
}

/** Returns the exit code; paths that need a decision take precedence over paths that could not be restored. */
export function restoredExitCode(done: {
  readonly foreign: readonly string[]
  readonly blocked: readonly unknown[]
}): number {
  if (done.foreign.length > 0) return exitCodes.undecided.code
  return done.blocked.length > 0 ? exitCodes.general.code : 0
}
