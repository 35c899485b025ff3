import { cpSync, existsSync, lstatSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { noFaults } from "../../base/faults.ts"
import { withDirectoryLock } from "../../config/lock.ts"
import { Failure } from "../../domain/failure.ts"
import { guarded, openDatabase } from "../../store/database/database.ts"
import { hasKeyFor, makePrivateDirectory } from "../../store/log/keys.ts"
import { workspaceIdIn } from "../../store/log/log-identity.ts"
import { openStore, type StoreOptions } from "../../store/open-store.ts"
import { hasOldState, partsOfState, type StatePlaces } from "./state-directory.ts"

/** The state of an older acode in `.agent`. The database is moved last: the state is where the database is. */
const parts = ["artifacts", "checkpoints", "quarantine", "workspace.db"] as const

/**
 * Moves the state of an older acode from `.agent` to the state directory. Files in `.agent` may come from the
 * repository: they are moved only when a key of this user signed them and all signatures are valid. State of another
 * user is neither moved nor used.
 */
export async function moveOldState(places: StatePlaces, options: StoreOptions): Promise<void> {
  guarded(places.workspacesDirectory, () => makePrivateDirectory(places.workspacesDirectory))
  await withDirectoryLock(places.workspacesDirectory, () => {
    if (!hasOldState(places)) return
    const aside = join(places.workspacesDirectory, `.moving-${crypto.randomUUID()}`)
    makePrivateDirectory(aside)
    try {
      copyDatabase(places.agentDirectory, aside)
      if (!isSignedByThisUser(aside, places.keysDirectory)) return
      for (const part of parts) if (part !== "workspace.db") copyTree(places.agentDirectory, aside, part)
      assertUnchanged(aside, options)
      makePrivateDirectory(places.stateDirectory)
      for (const part of parts) putInPlace(join(aside, part), join(places.stateDirectory, part))
      removeOld(places.agentDirectory)
    } finally {
      rmSync(aside, { recursive: true, force: true })
    }
  })
}

function copyDatabase(from: string, to: string): void {
  for (const name of ["workspace.db", "workspace.db-wal"]) {
    const stat = lstatSync(join(from, name), { throwIfNoEntry: false })
    if (stat?.isFile() === true) cpSync(join(from, name), join(to, name), { dereference: false })
  }
}

/** Copies a tree without its links, which could lead out of the state. Only quarantined links are kept. */
function copyTree(from: string, to: string, part: string): void {
  const source = join(from, part)
  if (lstatSync(source, { throwIfNoEntry: false })?.isDirectory() !== true) return
  cpSync(source, join(to, part), {
    recursive: true,
    dereference: false,
    verbatimSymlinks: true,
    filter: path => {
      const stat = lstatSync(path)
      return stat.isFile() || stat.isDirectory() || (part === "quarantine" && stat.isSymbolicLink())
    },
  })
}

function isSignedByThisUser(directory: string, keysDirectory: string): boolean {
  const { databasePath } = partsOfState(directory)
  try {
    using connection = openDatabase({
      path: databasePath,
      readOnly: false,
      busyTimeoutMs: 1000,
      faults: noFaults,
    })
    const id = workspaceIdIn(connection)
    return id !== null && hasKeyFor(keysDirectory, id)
  } catch (error) {
    // Not a database, or one with another schema: acode did not write it.
    if (error instanceof Failure) return false
    throw error
  }
}

function assertUnchanged(directory: string, options: StoreOptions): void {
  using store = openStore({
    ...options,
    ...partsOfState(directory),
    stateDirectory: directory,
    readOnly: false,
  })
  const [problem] = store.verify().problems
  if (problem === undefined) return
  throw new Failure({
    kind: "integrity",
    code: "ACODE-SEC-004",
    message: `the history in .agent was changed by another program and is not migrated: ${problem.what}`,
    where: ".agent/workspace.db",
    hint: "find out who could write there; move .agent/workspace.db away to start a new history",
  })
}

function putInPlace(from: string, to: string): void {
  if (!existsSync(from)) return
  rmSync(to, { recursive: true, force: true })
  renameSync(from, to)
}

/** The `.gitignore` that an older acode wrote beside its state. */
const oldGitignore = "*\n!.gitignore\n!config.yml\n"

/** Removes the old state, and the directory when it is empty. Files that people wrote stay. */
function removeOld(agentDirectory: string): void {
  for (const name of [...parts, "workspace.db-wal", "workspace.db-shm", "sandbox"])
    rmSync(join(agentDirectory, name), { recursive: true, force: true })
  const gitignore = join(agentDirectory, ".gitignore")
  if (lstatSync(gitignore, { throwIfNoEntry: false })?.isFile() === true)
    if (readFileSync(gitignore, "utf8") === oldGitignore) rmSync(gitignore)
  try {
    rmdirSync(agentDirectory)
  } catch (error) {
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error
  }
}
