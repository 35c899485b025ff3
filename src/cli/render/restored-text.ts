import { shownPath } from "../../base/path-names.ts"
import { shellQuoted } from "../../base/text.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { Output } from "../output.ts"

export function explained({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${shownPath(path)} (${reason})`
}

/** Paths that stay as they are, each with what speaks against replacing it. */
export function leftAlone(
  paths: readonly string[],
  doubts: readonly { readonly path: string; readonly reason: string }[],
): readonly string[] {
  const reasons = new Map(doubts.map(({ path, reason }) => [path, reason]))
  return paths.map(path => explained({ path, reason: reasons.get(path) ?? "it is being changed" }))
}

/** One line each; the paths are as they are shown. */
export function tellPaths(output: Output, groups: Readonly<Record<string, readonly string[]>>): void {
  for (const [name, paths] of Object.entries(groups))
    for (const path of paths) output.line(`${name}: ${path}`)
}

/** A path as it is typed after a command: a name that begins like a flag is not taken for one. */
export function typedPath(path: string): string {
  const shown = shownPath(path)
  return shellQuoted(shown.startsWith("-") ? `./${shown}` : shown)
}

/** How to get back what was replaced. */
export function keptLine(keptId: string): string {
  return `what was there before is kept: \`acode checkpoint restore ${keptId}\``
}

export function interruptedLine(count: number): string {
  return `interrupted: ${count} ${count === 1 ? "path is" : "paths are"} back, the rest is not`
}

/** What a person has to decide about counts more than what could not be done. */
export function restoredExitCode(done: {
  readonly foreign: readonly string[]
  readonly blocked: readonly unknown[]
}): number {
  if (done.foreign.length > 0) return exitCodes.undecided.code
  return done.blocked.length > 0 ? exitCodes.general.code : 0
}
