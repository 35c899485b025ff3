import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { errnoOf, messageOf } from "../base/assert.ts"
import { shownPath } from "../base/path-names.ts"
import { printable, shellQuoted } from "../base/text.ts"
import type { ProcessIdentity } from "../domain/process-identity.ts"
import { topLevelNames } from "../policy/protected-paths.ts"
import { endTagged } from "../sandbox/process/survivors.ts"
import { namedByGit } from "../sandbox/tree/git-named.ts"
import { holdPlaceholders } from "../sandbox/tree/placeholders.ts"
import { sweepTree } from "../sandbox/tree/protected-tree.ts"
import type { AbandonedExecution, Store } from "../store/contract.ts"
import { isProcessAlive } from "../store/process-identity.ts"
import type { StatePlaces } from "./state/state-directory.ts"
import { type SandboxWiring, sandboxSettings } from "./wiring/sandbox.ts"

/**
 * Cleans up after an acode that died: ends its commands, quarantines what they left under protected names, closes their
 * executions and removes placeholders from the workspace. The commands of a session stay open until the session
 * continues, and the search for their processes runs once.
 */
export async function endInterrupted(
  store: Store,
  wiring: () => Promise<SandboxWiring>,
  places: StatePlaces,
  root: string,
  notice: (text: string) => void,
): Promise<void> {
  const isAlive = (owner: ProcessIdentity) => isProcessAlive(owner)
  const confined = store.executions.abandoned(isAlive).filter(({ protectedNames }) => protectedNames !== null)
  const unswept = confined.filter(({ id }) => sweptNames(places, id) === null)
  const made = unswept.length === 0 ? [] : await sweep(unswept, await wiring(), notice)
  for (const id of store.executions.recover(isAlive)) await endTagged(id)
  forgetSwept(places, () => store.executions.abandoned(isAlive))
  const directories = topLevelNames.filter(({ kind }) => kind === "directory").map(({ name }) => name)
  const left = await holdPlaceholders(root, [], [...directories, ...made])
  left.release()
}

/** Returns the names that were quarantined after a command whose acode died; null before the search for them. */
export function sweptNames(places: StatePlaces, executionId: string): readonly string[] | null {
  try {
    return JSON.parse(readFileSync(sweptFile(places, executionId), "utf8"))
  } catch {
    // The file is missing or cut off: a second search finds the same names or none.
    return null
  }
}

/** Quarantines protected names that the command left, and returns the directories that acode made for it. */
async function sweep(
  abandoned: readonly AbandonedExecution[],
  wiring: SandboxWiring,
  notice: (text: string) => void,
): Promise<readonly string[]> {
  const settings = sandboxSettings(wiring)
  const { root, places } = wiring
  for (const { id, protectedNames } of abandoned) {
    if (protectedNames === null) continue
    try {
      // A process that still runs could write again after the search.
      await endTagged(id)
      const { quarantined, quarantine, left = [] } = await sweepTree(settings, root, protectedNames, id)
      noteSwept(places, id, quarantined)
      if (quarantine !== null)
        notice(
          `${cutOff(id)} are in quarantine: ${quarantined.map(shownPath).join(", ")}; ` +
            `if you made any of them yourself since then, ${restoring(join(root, quarantine), root)} restores all of them`,
        )
      if (left.length > 0) notice(`${cutOff(id)} could not be moved away: ${left.map(shownPath).join(", ")}`)
    } catch (error) {
      // The history opens nevertheless, and the next acode searches again.
      notice(`${cutOff(id)} could not be looked for: ${printable(messageOf(error))}`)
    }
  }
  const { directories } = namedByGit({ root, home: settings.home, environment: settings.hostEnvironment }, [])
  return [...directories, ...settings.submodules(root)]
}

function cutOff(id: string): string {
  return `protected names that a command left which was cut off (${id})`
}

/** Replaces nothing that is there, and leaves the mode of the workspace as it is. */
function restoring(quarantine: string, root: string): string {
  return `\`cp -RPn -- ${shellQuoted(`${quarantine}/.`)} ${shellQuoted(root)}\``
}

function noteSwept(places: StatePlaces, id: string, names: readonly string[]): void {
  const file = sweptFile(places, id)
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(`${file}~`, JSON.stringify(names), { mode: 0o600 })
  renameSync(`${file}~`, file)
}

/** Removes the records of commands that have finished: their final event names what was quarantined. */
function forgetSwept(places: StatePlaces, abandoned: () => readonly AbandonedExecution[]): void {
  const directory = dirname(sweptFile(places, "any"))
  try {
    const names = readdirSync(directory)
    const open = new Set(names.length === 0 ? [] : abandoned().map(({ id }) => `${id}.json`))
    for (const name of names) if (!open.has(name)) rmSync(join(directory, name), { force: true })
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // Nothing was swept, or the file cannot be removed: the file of a finished command is never read again.
  }
}

/** Returns the file for an execution. The id is safe in a path: acode made it, and its event was verified. */
function sweptFile({ stateDirectory }: StatePlaces, executionId: string): string {
  return join(stateDirectory, "sandbox", "swept", `${executionId}.json`)
}
