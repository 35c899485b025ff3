import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { Failure } from "../domain/failure.ts"
import { tryLock } from "./libc.ts"
import { startTimeOf } from "./process-handle.ts"
import { stampOf } from "./tree-rules.ts"

/**
 * Empty directories that stand in the workspace for protected directories that do not exist, so that a mount has a
 * place. Only directories: git does not see an empty one, while an empty file would show up as untracked and could
 * be committed. They are written down before they are made, so that the next acode removes what a killed one left.
 */
export interface Placeholders {
  release(): Promise<void>
}

export interface PlaceholderPlace {
  readonly root: string
  /** Where the records are kept; it exists. */
  readonly directory: string
  readonly bootId: string
}

/** Makes the missing ones of `names`. What another live acode made is shared and stays until the last one leaves. */
export async function holdPlaceholders(
  place: PlaceholderPlace,
  names: readonly string[],
): Promise<Placeholders> {
  const id = `${process.pid}-${++made}`
  const held = await locked(place, () => {
    const live = sweep(place)
    const wanted = names.filter(
      name => isMissing(place, name) || live.some(record => holds(place, record, name)),
    )
    if (wanted.length === 0) return false
    writeAround(place, id, wanted, () => {
      for (const name of wanted) if (isMissing(place, name)) mkdirSync(join(place.root, name))
    })
    return true
  })
  return { release: async () => (held ? await locked(place, () => give(place, id)) : undefined) }
}

/** Whether a directory directly below the root is a placeholder of a live acode. */
export function isPlaceholder(place: PlaceholderPlace, name: string): boolean {
  return (
    !name.includes("/") &&
    records(place).some(({ record }) => isAlive(place, record) && record.names.includes(name))
  )
}

interface PlaceholderRecord {
  readonly bootId: string
  readonly pid: number
  readonly startTime: string
  readonly names: readonly string[]
  /** Empty until they are made: a crash in between leaves names whose directories are ours if they are empty. */
  readonly inodes: Readonly<Record<string, number>>
}

let made = 0

function owner(place: PlaceholderPlace) {
  return { bootId: place.bootId, pid: process.pid, startTime: startTimeOf(process.pid) ?? "" }
}

function give(place: PlaceholderPlace, id: string): void {
  const mine = read(join(place.directory, `${id}.json`))
  rmSync(join(place.directory, `${id}.json`), { force: true })
  const live = sweep(place)
  if (mine !== null) removeDirectories(place, mine, live)
}

/** Removes what dead ones left and returns the records of the living. */
function sweep(place: PlaceholderPlace): readonly PlaceholderRecord[] {
  const all = records(place)
  const live = all.filter(({ record }) => isAlive(place, record)).map(({ record }) => record)
  for (const { path, record } of all) {
    if (isAlive(place, record)) continue
    removeDirectories(place, record, live)
    rmSync(path, { force: true })
  }
  return live
}

function removeDirectories(
  place: PlaceholderPlace,
  record: PlaceholderRecord,
  live: readonly PlaceholderRecord[],
): void {
  for (const name of record.names) {
    const found = stampOf(join(place.root, name))
    const inode = record.inodes[name]
    const isOurs = found?.kind === "directory" && (inode === undefined || inode === found.inode)
    if (isOurs && !live.some(other => holds(place, other, name))) tryRemove(join(place.root, name))
  }
}

function tryRemove(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // Not empty: somebody put something there in the meantime, and then it is theirs.
  }
}

function isMissing(place: PlaceholderPlace, name: string): boolean {
  return stampOf(join(place.root, name)) === null
}

function holds(place: PlaceholderPlace, record: PlaceholderRecord, name: string): boolean {
  return record.names.includes(name) && record.inodes[name] === stampOf(join(place.root, name))?.inode
}

function isAlive(place: PlaceholderPlace, record: PlaceholderRecord): boolean {
  return record.bootId === place.bootId && startTimeOf(record.pid) === record.startTime
}

function inodesOf(place: PlaceholderPlace, names: readonly string[]): Record<string, number> {
  return Object.fromEntries(names.map(name => [name, stampOf(join(place.root, name))?.inode ?? 0]))
}

/** Two lines: who will make which names, before; which inodes they got, after. A kill may cut off the second. */
function writeAround(place: PlaceholderPlace, id: string, names: readonly string[], make: () => void): void {
  const fd = openSync(join(place.directory, `${id}.json`), "w", 0o600)
  try {
    writeSync(fd, `${JSON.stringify({ ...owner(place), names })}\n`)
    make()
    writeSync(fd, JSON.stringify(inodesOf(place, names)))
  } finally {
    closeSync(fd)
  }
}

function records(place: PlaceholderPlace): readonly { path: string; record: PlaceholderRecord }[] {
  return readdirSync(place.directory)
    .filter(name => name.endsWith(".json"))
    .flatMap(name => {
      const path = join(place.directory, name)
      const record = read(path)
      return record === null ? [] : [{ path, record }]
    })
}

function read(path: string): PlaceholderRecord | null {
  try {
    const [first = "", second = ""] = readFileSync(path, "utf8").split("\n")
    return { ...(JSON.parse(first) as Omit<PlaceholderRecord, "inodes">), inodes: inodesIn(second) }
  } catch {
    // Being written or removed by its owner, or cut off before anything was made.
    return null
  }
}

function inodesIn(line: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, number>>
  } catch {
    // Cut off by a kill: the names alone have to do.
    return {}
  }
}

async function locked<Result>(place: PlaceholderPlace, work: () => Result): Promise<Result> {
  const fd = openSync(join(place.directory, "lock"), "a", 0o600)
  try {
    for (let waitedMs = 0; !tryLock(fd); waitedMs++) {
      if (waitedMs >= lockWithinMs) throw lockFailure(place)
      await Bun.sleep(1)
    }
    return work()
  } finally {
    closeSync(fd)
  }
}

function lockFailure(place: PlaceholderPlace): Failure {
  return new Failure({
    kind: "unavailable",
    code: "ACODE-EXE-010",
    message: "another acode has been preparing a sandbox in this workspace for too long",
    where: place.directory,
    hint: "end the acode that hangs, then try again",
  })
}

const lockWithinMs = 5_000
