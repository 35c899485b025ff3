import { lstatSync, readdirSync, statSync } from "node:fs"
import { isAbsolute, normalize, relative } from "node:path"
import type { Clock } from "../base/clock.ts"
import type { Protection } from "./contract.ts"
import type { Mount } from "./mounts.ts"
import { byDepth, isWithin } from "./paths.ts"
import { packageCaches, type Toolchain, toolchains } from "./toolchain-table.ts"

export interface ToolchainQuery {
  readonly home: string
  /** The environment acode itself was started with: what a command adds to its own must not open anything. */
  readonly environment: Readonly<Record<string, string>>
  readonly protection: Protection
  /** Directories that are shown anyway. */
  readonly shown: readonly string[]
  /** Directories that must not come into view with a parent of theirs: HOME, the state of acode. */
  readonly kept: readonly string[]
}

/** Installed programs outside the system directories, read-only, with what holds credentials in them masked. */
export function findToolchains(query: ToolchainQuery): readonly Mount[] {
  const roots = rootsOf(query)
  const shown = roots
    .filter(root => !roots.some(other => other !== root && isWithin(root, other)))
    .map((path): Mount => ({ kind: "readOnly", path }))
  return [...shown, ...shown.flatMap(({ path }) => credentialsIn(query, path))]
}

export type FindToolchains = (query: ToolchainQuery) => readonly Mount[]

/** The same, remembered for a moment: commands often follow each other, and nobody installs programs in between. */
export function rememberToolchains(clock: Clock, momentMs: number): FindToolchains {
  let known: {
    readonly shown: string
    readonly foundAtMs: number
    readonly mounts: readonly Mount[]
  } | null = null
  return query => {
    const shown = query.shown.join("\0")
    const foundAtMs = clock.monotonicMs()
    if (known?.shown !== shown || foundAtMs - known.foundAtMs >= momentMs)
      known = { shown, foundAtMs, mounts: findToolchains(query) }
    return known.mounts
  }
}

function rootsOf(query: ToolchainQuery): readonly string[] {
  const listed = (query.environment["PATH"] ?? "").split(":").filter(isAbsolute)
  const searchPath = [...new Set(listed.map(stripped))]
  const chosen = new Set<string>()
  const add = (path: string) => {
    if (isBindable(query, path)) chosen.add(path)
  }
  for (const toolchain of toolchains) {
    const places = placesOf(query, toolchain)
    const named = toolchain.variable !== undefined && query.environment[toolchain.variable] !== undefined
    const used = places.filter(place => named || searchPath.some(path => isWithin(path, place)))
    used.forEach(add)
    if (used.length > 0)
      for (const need of toolchain.needs ?? []) for (const place of placesNamed(query, need)) add(place)
  }
  for (const path of searchPath) if (![...chosen].some(root => isWithin(path, root))) add(path)
  for (const cache of packageCaches) add(`${query.home}/${cache}`)
  return [...chosen].sort(byDepth)
}

/** Where the table says it is, or where its variable says. */
function placesOf(query: ToolchainQuery, toolchain: Toolchain): readonly string[] {
  const value = toolchain.variable === undefined ? undefined : query.environment[toolchain.variable]
  // GOPATH may be a list; every other variable is one path.
  const moved = (value ?? "").split(":").filter(isAbsolute).map(stripped)
  return [`${query.home}/${toolchain.directory}`, ...moved]
}

function placesNamed(query: ToolchainQuery, directory: string): readonly string[] {
  const row = toolchains.find(toolchain => toolchain.directory === directory)
  return row === undefined ? [`${query.home}/${directory}`] : placesOf(query, row)
}

/** A directory that exists, is not in view yet, and would not bring HOME or the state of acode into view. */
function isBindable(query: ToolchainQuery, path: string): boolean {
  if (query.shown.some(directory => isWithin(path, directory))) return false
  if (query.kept.some(directory => isWithin(directory, path))) return false
  if (isWithin(path, query.home) && query.protection.classify(relative(query.home, path)) === "hidden")
    return false
  return isDirectory(path)
}

function credentialsIn(query: ToolchainQuery, root: string): readonly Mount[] {
  const row = toolchains.find(toolchain => placesOf(query, toolchain).includes(root))
  return namesIn(root).flatMap((name): readonly Mount[] => {
    const path = `${root}/${name}`
    const fromHome = isWithin(root, query.home) ? relative(query.home, path) : name
    if (row?.hide?.includes(name) !== true && query.protection.classify(fromHome) !== "hidden") return []
    const kind = lstatSync(path, { throwIfNoEntry: false })
    if (kind === undefined || kind.isSymbolicLink()) return []
    return [kind.isDirectory() ? { kind: "scratch", path, mode: 0 } : { kind: "hiddenFile", path }]
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Not ours to list, and then the command cannot either.
    return []
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    // A part of the way may not be entered, and then the command cannot go there either.
    return false
  }
}

function stripped(path: string): string {
  const normal = normalize(path)
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal
}
