import { lstatSync, readdirSync } from "node:fs"
import { pathFromBytes, systemPath } from "./path-bytes.ts"

/** The names in a directory in the order of their code units, exact also where they are not UTF-8. */
export function readNames(directory: string): string[] {
  const names = readdirSync(systemPath(directory))
  const exact = names.some(hasReplacement) ? rawNames(directory) : names
  return exact.sort(byCodeUnit)
}

/** As `Dirent`, but for the parts of it that nobody needs. */
export interface NamedEntry {
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

/** The entries of a directory with their kinds, in the same order. */
export function readEntries(directory: string): NamedEntry[] {
  return listEntries(directory).sort((a, b) => byCodeUnit(a.name, b.name))
}

/** The same in no order. */
export function listEntries(directory: string): NamedEntry[] {
  const entries: NamedEntry[] = readdirSync(systemPath(directory), { withFileTypes: true })
  return entries.some(entry => hasReplacement(entry.name)) ? rawEntries(directory) : entries
}

function hasReplacement(name: string): boolean {
  return name.includes("\ufffd")
}

function rawNames(directory: string): string[] {
  return readdirSync(systemPath(directory), { encoding: "buffer" }).map(pathFromBytes)
}

function rawEntries(directory: string): NamedEntry[] {
  return rawNames(directory).flatMap(name => {
    const stat = lstatSync(systemPath(`${directory}/${name}`), { throwIfNoEntry: false })
    if (stat === undefined) return []
    return [
      {
        name,
        isFile: () => stat.isFile(),
        isDirectory: () => stat.isDirectory(),
        isSymbolicLink: () => stat.isSymbolicLink(),
      },
    ]
  })
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
