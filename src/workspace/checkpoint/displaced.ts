import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { sha256Hex } from "../../base/canonical.ts"
import { pathBytes, systemPath } from "../../base/path-bytes.ts"
import { parentOf } from "../../base/path-names.ts"
import { allotted, syncDirectory } from "../files/durable.ts"
import type { Pinned } from "../files/pin.ts"
import type { NameIn } from "../files/rename.ts"
import { ensurePrivateDirectory } from "./contents.ts"

/**
 * The directory to which a restore moves what it replaces: the inode itself, so that the bytes that are removed are the
 * bytes that are compared, and what a program that has the file open still writes is not lost. It has one directory for
 * each kept checkpoint, which exists from before the first change until it is empty.
 */
export class DisplacedFiles {
  constructor(private readonly directory: string) {}

  /** Returns the checkpoints that still have displaced files. */
  ids(): string[] {
    try {
      return readdirSync(this.directory).sort()
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return []
      throw error
    }
  }

  open(id: string): DisplacedArea {
    ensurePrivateDirectory(this.directory)
    ensurePrivateDirectory(join(this.directory, id))
    return new DisplacedArea(join(this.directory, id), id)
  }

  /** Returns the path of the displaced file of a path, if it still exists. */
  find(id: string, path: string, root: string): string | Buffer | null {
    const name = nameOfDisplaced(id, path)
    const isThere = (at: string | Buffer) => lstatSync(at, { throwIfNoEntry: false }) !== undefined
    const here = join(this.directory, id, name)
    if (isThere(here)) return here
    if (!isThere(join(this.directory, id, beside))) return null
    const there = systemPath(`${root}/${parentOf(path)}/${besideName(name)}`)
    return isThere(there) ? there : null
  }

  /** Reports whether a file of a directory can be moved here without being copied. */
  isOnMountOf(directory: Pinned): boolean {
    const here = dirname(this.directory)
    if (lstatSync(here, { throwIfNoEntry: false }) === undefined) return false
    const fd = openSync(here, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    try {
      return mountOf(fd) === mountOf(directory.fd)
    } finally {
      closeSync(fd)
    }
  }

  /**
   * Returns the bytes that the displaced files of a checkpoint occupy here; those left beside their paths are not
   * counted.
   */
  allotted(id: string): number {
    const directory = join(this.directory, id)
    if (lstatSync(directory, { throwIfNoEntry: false }) === undefined) return 0
    return readdirSync(directory).reduce((sum, name) => sum + allotted(join(directory, name)), 0)
  }

  remove(id: string): void {
    rmSync(join(this.directory, id), { recursive: true, force: true })
  }
}

/** The open directory of one checkpoint, while its paths are restored. */
export class DisplacedArea implements Disposable {
  readonly fd: number
  readonly at: string
  /** True when a process died while it restored. */
  readonly isInterrupted: boolean
  private readonly mount: string
  private isAnyBeside = false

  constructor(
    private readonly path: string,
    private readonly id: string,
  ) {
    this.fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    this.at = `/proc/self/fd/${this.fd}`
    this.mount = mountOf(this.fd)
    this.isInterrupted = lstatSync(join(path, working), { throwIfNoEntry: false }) !== undefined
    writeFileSync(join(path, working), "", { mode: 0o600 })
    syncDirectory(path)
  }

  /** Returns the name for the file displaced from a path. On another mount it is beside the path. */
  nameFor(path: string, parent: Pinned | null): NameIn {
    const name = nameOfDisplaced(this.id, path)
    return parent === null || mountOf(parent.fd) === this.mount
      ? { directory: this, name }
      : { directory: parent, name: besideName(name) }
  }

  /** Records that a displaced file stays where it is, so that the next restore checks it. */
  retain({ directory }: NameIn): void {
    if (directory !== this) this.isAnyBeside = true
  }

  [Symbol.dispose](): void {
    closeSync(this.fd)
    if (this.isAnyBeside) writeFileSync(join(this.path, beside), "", { mode: 0o600 })
    else rmSync(join(this.path, beside), { force: true })
    rmSync(join(this.path, working), { force: true })
    try {
      rmdirSync(this.path)
    } catch (error) {
      // The directory is not empty, which is its purpose.
      if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error
    }
  }
}

/** Marker that exists while a restore runs. */
const working = "working"
/** Marker that keeps the directory while displaced files are elsewhere. */
const beside = "beside"

function besideName(name: string): string {
  return `.acode-${name}.kept~`
}

/** Returns the same name each time, so that files left by a crash are found again. */
function nameOfDisplaced(id: string, path: string): string {
  return sha256Hex(Buffer.concat([Buffer.from(`${id}\0`), pathBytes(path)])).slice(0, 32)
}

/**
 * Identifies the mount that a descriptor was opened through. The device is not enough: the kernel renames nothing from
 * one mount to another, also where both show the same file system, as those of a container do.
 */
function mountOf(fd: number): string {
  const { dev } = fstatSync(fd)
  return `${dev}:${/^mnt_id:\s*(\d+)$/m.exec(descriptorFacts(fd))?.[1] ?? ""}`
}

function descriptorFacts(fd: number): string {
  try {
    return readFileSync(`/proc/self/fdinfo/${fd}`, "latin1")
  } catch {
    // A system that does not list its descriptors: the device has to do.
    return ""
  }
}
