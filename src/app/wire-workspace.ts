import { lstatSync } from "node:fs"
import { join } from "node:path"
import { errnoOf } from "../base/assert.ts"
import type { Clock } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import { quotedPath, shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import type { CommandRunner } from "../exec/contract.ts"
import { classify, decidePath, type PathDecision } from "../policy/protected-paths.ts"
import { namedByGit } from "../sandbox/git-named.ts"
import { repositoryAround } from "../sandbox/git-repository.ts"
import type { PathGuard, PathOperation } from "../workspace/contract.ts"
import { type OpenWorkspace, openWorkspace } from "../workspace/workspace.ts"
import type { Config } from "./config-schema.ts"
import { toCheckpointSettings } from "./config-settings.ts"
import type { AppEnvironment } from "./environment.ts"
import type { StatePlaces } from "./state-directory.ts"
import { findRipgrep, programRunner } from "./wire-ripgrep.ts"

export interface WorkspaceWiring {
  /** The workspace root, absolute and without links. */
  readonly directory: string
  readonly places: StatePlaces
  readonly config: Config
  readonly environment: AppEnvironment
  readonly clock: Clock
  readonly faults: Faults
  /** `dev:ino` of files that are no part of the tree because acode itself writes to them. */
  readonly ownOutputs: ReadonlySet<string>
  /** Aborted when a person stops acode. */
  readonly stopping: () => AbortSignal | null
  /** Removes so many bytes of older checkpoints. */
  readonly makeRoom?: (bytes: number) => void
  /** For searches, which are recorded as what the tool did and not as commands. */
  readonly unrecordedRunner: () => Promise<CommandRunner>
}

/** The user's files behind the protected paths of the policy room. Whoever opens it disposes of its workspace. */
export function wireWorkspace(wiring: WorkspaceWiring): OpenWorkspace {
  const { directory, environment, places } = wiring
  const { limits, ignoredEntriesMax } = toCheckpointSettings(wiring.config)
  const ripgrep = findRipgrep(directory, environment.host["PATH"])
  const classOf = (path: string) => classOfEntry(directory, path)
  return openWorkspace({
    directory,
    checkpointDirectory: places.checkpointsDirectory,
    checkpointLimits: {
      ...limits,
      ...(wiring.makeRoom === undefined ? {} : { makeRoom: wiring.makeRoom }),
    },
    ignoredEntriesMax,
    guard: protectedGuard(directory, environment),
    isHidden: path => classOf(path) === "hidden",
    isProtected: path => classOf(path) !== "open",
    ownOutputs: wiring.ownOutputs,
    stopping: wiring.stopping,
    ripgrep: ripgrep === null ? null : { program: ripgrep, run: programRunner(wiring.unrecordedRunner) },
    clock: wiring.clock,
    faults: wiring.faults,
  })
}

/**
 * What is protected is protected whoever asks and whatever was approved: the last line behind policy, asked again on
 * where a path really leads. What policy only asks about passes here.
 */
function protectedGuard(directory: string, environment: AppEnvironment): PathGuard {
  return (path, operation) => {
    const named = decidePath(path, operation)
    const { decision, rule, reason } =
      named.decision === "deny" ? named : (forGit(directory, path, operation, environment) ?? named)
    if (decision !== "deny") return
    // Only to list: whoever lists insists on a directory, while a name that is read could be swapped for a file.
    if (operation === "list" && isOpenDirectory(directory, path)) return
    throw new Failure({
      kind: "confinement",
      code: "ACODE-SEC-003",
      message: `${quotedPath(path)} is protected (${rule ?? "by its name"}): ${reason ?? "it is not to be touched"}`,
      where: shownPath(path),
      hint: "no approval lifts this; a person changes it with their own tools, or with `acode exec --writable PATH -- PROGRAM`",
    })
  }
}

/** What only a look tells: that a configuration names the path, or that git would take a directory for a repository. */
function forGit(
  root: string,
  path: string,
  operation: PathOperation,
  { home, host }: AppEnvironment,
): PathDecision | null {
  if (operation !== "write" && operation !== "delete") return null
  const { paths } = namedByGit({ root, home, environment: host }, [])
  if (paths.some(named => path === named || path.startsWith(`${named}/`)))
    return { decision: "deny", rule: "git configuration", reason: "git runs or reads what is there" }
  const layout = repositoryAround(root, path)
  if (layout === null) return null
  return { decision: "deny", rule: "git", reason: `git takes ${quotedPath(layout)} for a repository` }
}

function classOfEntry(directory: string, path: string): ReturnType<typeof classify> {
  const found = classify(path)
  return found !== "open" && isOpenDirectory(directory, path) ? "open" : found
}

/** Names of files (`token`, `*.key`) do not protect a directory: `src/token/` is source code like any other. */
function isOpenDirectory(directory: string, path: string): boolean {
  if (classify(path, "directory") !== "open") return false
  try {
    return lstatSync(join(directory, path), { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // It cannot be looked at, so nothing says that it is a directory.
    return false
  }
}
