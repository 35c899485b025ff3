import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { Faults } from "../../base/faults.ts"
import { tryLock } from "../../base/libc.ts"
import { listEntries, systemPath } from "../../base/path-bytes.ts"
import { Failure } from "../../domain/failure.ts"
import { onPath } from "../failures.ts"
import { chunksOf, syncDirectory, unlikelyName, writeAll } from "../files/durable.ts"
import { bootTimeNs, clockOffsetNs } from "./attributes.ts"
import type { Conflict } from "./contract.ts"
import type { Operation } from "./plan.ts"
import { type OpenDirectory, openPlace } from "./upper.ts"

/** The clocks that prove when an entry was changed. */
export interface LayerClock {
  /** Returns the wall time minus the time since the boot. */
  offsetNs(): bigint
  bootNs(): bigint
}

export const systemLayerClock: LayerClock = { offsetNs: clockOffsetNs, bootNs: bootTimeNs }

/** The facts about the start of a transaction, in the file `begun`. */
interface Begun {
  readonly lowerIno: string
  readonly sinceNs: string
  readonly offsetNs: string
  readonly bootNs: string
}

/**
 * The files of one transaction. Which of them exist says how far it came:
 * `begun` → `journal` (the merge may have begun) → `settled` (it is done); `back` (it is being taken back) → `undone`;
 * `held` (a conflict waits for a person).
 */
export type AreaMark = "journal" | "settled" | "back" | "undone" | "held"

export class Area implements Disposable {
  private constructor(
    readonly id: string,
    readonly path: string,
    private lock: number | null,
    private readonly begun: Begun,
    private readonly faults: Faults,
  ) {}

  /** Makes the directories of a transaction. The mode of its layer's root is that of the workspace. */
  static create(directory: string, id: string, root: OpenDirectory, clock: LayerClock, faults: Faults): Area {
    const path = join(directory, id)
    mkdirSync(path, { mode: 0o700 })
    faults.reach("transaction.made")
    const stat = lstatSync(`${root.at}/.`, { bigint: true })
    for (const name of ["upper", "work", "removed", "heldBack"]) mkdirSync(join(path, name), { mode: 0o700 })
    chmodExactly(join(path, "upper"), Number(stat.mode & 0o7777n))
    faults.reach("transaction.layers-made")
    const begun: Begun = {
      lowerIno: String(stat.ino),
      offsetNs: String(clock.offsetNs()),
      bootNs: String(clock.bootNs()),
      sinceNs: String(nextTickNs(directory)),
    }
    writeFileSync(join(path, "begun"), JSON.stringify(begun), { mode: 0o600, flag: "wx" })
    faults.reach("transaction.begun")
    const area = Area.open(directory, id, faults)
    if (typeof area === "string") throw new Error("the transaction that was just made is in use")
    return area
  }

  /** Opens a transaction, unless a process has it open. */
  static open(directory: string, id: string, faults: Faults): Area | "inUse" | "neverBegun" {
    const path = join(directory, id)
    const text = readOrNull(join(path, "begun"))
    const begun = text === null ? null : parsedBegun(text)
    if (begun === null) return "neverBegun"
    const lock = openSync(join(path, "begun"), constants.O_RDONLY | constants.O_NOFOLLOW)
    if (tryLock(lock, "exclusive")) return new Area(id, path, lock, begun, faults)
    closeSync(lock)
    return "inUse"
  }

  get sinceNs(): bigint {
    return BigInt(this.begun.sinceNs)
  }

  /** Reports whether `root` is the directory that the layers were made for. */
  isAbove(root: OpenDirectory): boolean {
    return String(lstatSync(`${root.at}/.`, { bigint: true }).ino) === this.begun.lowerIno
  }

  /** Reports whether the wall clock was set back since the start. A clock that is only slowed down changes less. */
  hasClockMoved(clock: LayerClock): boolean {
    const elapsedNs = clock.bootNs() - BigInt(this.begun.bootNs)
    return BigInt(this.begun.offsetNs) - clock.offsetNs() > elapsedNs / 1000n + 1_000_000n
  }

  at(name: "upper" | "work" | "removed" | "heldBack"): string {
    return join(this.path, name)
  }

  has(mark: AreaMark): boolean {
    return lstatSync(join(this.path, mark), { throwIfNoEntry: false }) !== undefined
  }

  /** Writes the steps of a merge, durable on return. */
  writeJournal(operations: readonly Operation[]): void {
    this.writeDurably("journal", fd => {
      const hasher = new Bun.CryptoHasher("sha256")
      const lines: string[] = []
      const flush = () => {
        const bytes = Buffer.from(lines.splice(0).join(""))
        hasher.update(bytes)
        writeAll(fd, bytes)
      }
      for (const operation of operations) {
        lines.push(`${JSON.stringify(operation)}\n`)
        if (lines.length === linesAtOnce) flush()
      }
      flush()
      writeAll(
        fd,
        Buffer.from(`${JSON.stringify({ end: operations.length, sha256: hasher.digest("hex") })}\n`),
      )
    })
  }

  /** Reads the steps of a merge. Throws ACODE-SEC-004 for a journal that is not as it was written. */
  journal(): readonly Operation[] {
    const text = Buffer.concat(chunksAt(join(this.path, "journal"))).toString()
    const end = text.lastIndexOf("\n", text.length - 2) + 1
    const body = text.slice(0, end)
    const lines = body.split("\n").slice(0, -1)
    const sha256 = new Bun.CryptoHasher("sha256").update(body).digest("hex")
    if (text.slice(end) !== `${JSON.stringify({ end: lines.length, sha256 })}\n`) throw this.damaged()
    // as: the hash proves that `writeJournal` wrote these lines.
    return lines.map(line => JSON.parse(line) as Operation)
  }

  /** Reads the conflicts that a mark was written with. */
  conflicts(mark: "held" | "settled" | "undone"): readonly Conflict[] {
    // as: `mark` wrote the file in one piece.
    return (JSON.parse(readFileSync(join(this.path, mark), "utf8")) as { conflicts: Conflict[] }).conflicts
  }

  mark(mark: Exclude<AreaMark, "journal">, facts: object): void {
    this.writeDurably(mark, fd => writeAll(fd, Buffer.from(JSON.stringify(facts))))
  }

  private writeDurably(name: AreaMark, write: (fd: number) => void): void {
    const temporary = join(this.path, `${name}.new`)
    onPath(this.id, () => {
      const fd = openSync(temporary, "w", 0o600)
      try {
        write(fd)
        fsyncSync(fd)
      } finally {
        closeSync(fd)
      }
    })
    this.faults.reach(`transaction.${name}-written`)
    renameSync(temporary, join(this.path, name))
    this.faults.reach(`transaction.${name}-named`)
    syncDirectory(this.path)
  }

  /** Removes the layers and everything about the transaction. */
  remove(): void {
    removeArea(this.path, this.faults)
  }

  private damaged(): Failure {
    return new Failure({
      kind: "general",
      code: "ACODE-SEC-004",
      message: `the journal of ${this.id} is not as acode wrote it`,
      where: this.id,
      hint: "the workspace was left as it is; `acode doctor` prints where acode keeps its state",
    })
  }

  [Symbol.dispose](): void {
    if (this.lock === null) return
    closeSync(this.lock)
    this.lock = null
  }
}

const linesAtOnce = 1000

function chunksAt(path: string): readonly Uint8Array[] {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return [...chunksOf(fd)]
  } finally {
    closeSync(fd)
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null
    throw error
  }
}

/** Returns null for a file that a process was writing when it died: the transaction was never begun. */
function parsedBegun(text: string): Begun | null {
  try {
    // as: acode wrote the file, and a torn one is not valid JSON.
    return JSON.parse(text) as Begun
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Sets a mode whatever the mask of this process removes from new directories. */
function chmodExactly(path: string, mode: number): void {
  using directory = openPlace(path)
  chmodSync(directory.at, mode)
}

/**
 * Returns a time of the file system that is later than every change so far: changes within one tick of its clock have
 * the same time.
 */
function nextTickNs(directory: string): bigint {
  const probe = join(directory, "probe")
  writeFileSync(probe, "", { mode: 0o600 })
  const first = touched(probe)
  for (let tries = 0; tries < triesMax; tries++) {
    const now = touched(probe)
    if (now !== first) return now
  }
  throw new Failure({
    kind: "general",
    code: "ACODE-FS-010",
    message: "the file system keeps times too coarsely to notice changes by other processes",
    where: directory,
    hint: "use a local file system, or choose --sandbox none",
  })
}

const triesMax = 2_000_000

function touched(path: string): bigint {
  utimesSync(path, 0, 0)
  return lstatSync(path, { bigint: true }).ctimeNs
}

/**
 * Removes a transaction's directory whatever a command left in it: closed directories, and directories nested so deeply
 * that no path reaches them. `begun` goes first, so that what is left after a crash counts as never begun.
 */
export function removeArea(path: string, faults: Faults): void {
  for (const name of ["held", "journal", "begun"]) rmSync(join(path, name), { force: true })
  faults.reach("transaction.forgotten")
  // Directories move to the top before they are emptied, so that every path stays short.
  for (;;) {
    const directories = listEntries(path).filter(entry => {
      if (entry.isDirectory()) return true
      unlinkSync(systemPath(`${path}/${entry.name}`))
      return false
    })
    if (directories.length === 0) break
    for (const { name } of directories) {
      const directory = `${path}/${name}`
      chmodSync(systemPath(directory), 0o700)
      for (const entry of listEntries(directory)) {
        const from = systemPath(`${directory}/${entry.name}`)
        if (!entry.isDirectory()) unlinkSync(from)
        else {
          // A directory that its owner may not write in cannot be moved.
          chmodSync(from, 0o700)
          renameSync(from, `${path}/${unlikelyName()}`)
        }
      }
      rmdirSync(systemPath(directory))
    }
  }
  rmdirSync(path)
  faults.reach("transaction.removed")
}

/** Returns the names of the transactions in a directory. */
export function areaIds(directory: string): readonly string[] {
  return listEntries(directory)
    .filter(entry => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}
