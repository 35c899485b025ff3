import { lstatSync, realpathSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Faults } from "../../base/faults.ts"
import { quotedPath, shownPath } from "../../base/path-names.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import type { Config } from "../../config/schema.ts"
import { toCheckpointSettings } from "../../config/settings.ts"
import { command } from "../../domain/command-validation.ts"
import type { PathOperation } from "../../domain/effect.ts"
import { Failure } from "../../domain/failure.ts"
import type { CommandRunner } from "../../exec/contract.ts"
import { findProgram } from "../../exec/program.ts"
import { classify, decidePath, type PathDecision } from "../../policy/protected-paths.ts"
import { namedByGit } from "../../sandbox/tree/git-named.ts"
import { repositoryAround } from "../../sandbox/tree/git-repository.ts"
import type { PathGuard, RunProgram } from "../../workspace/contract.ts"
import { type OpenWorkspace, openWorkspace } from "../../workspace/workspace.ts"
import type { StatePlaces } from "../state/state-directory.ts"

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
    return { decision: "deny", rule: "git configuration", reason: "git runs or reads files there" }
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

/**
 * Ripgrep at an absolute path that leads nowhere into the workspace, or null. A PATH may name a directory of the
 * workspace first, and what lies there could be anything.
 */
export function findRipgrep(workspaceRoot: string, path: string | undefined): string | null {
  for (const directory of (path ?? "/usr/local/bin:/usr/bin:/bin").split(":")) {
    if (!isAbsolute(directory)) continue
    const found = findProgram(join(directory, "rg"), "/", undefined)
    if (found.kind !== "found") continue
    const leads = [found.path, realpathSync(found.path)]
    // By the name it has on PATH: version managers put one program there under many names and look at which it is.
    if (!leads.some(path => isInside(workspaceRoot, path))) return found.path
  }
  return null
}

function isInside(root: string, path: string): boolean {
  const below = relative(root, path)
  return below === "" || !(below === ".." || below.startsWith("../") || isAbsolute(below))
}

/**
 * Runs a program for the workspace itself: always confined, without network and without a record. Where there is no
 * sandbox it does not run at all, and the caller does without it.
 */
export function programRunner(unrecordedRunner: () => Promise<CommandRunner>): RunProgram {
  let shared: Promise<CommandRunner> | null = null
  return async (argv, { cwd, stdoutBytesMax, timeoutMs }) => {
    shared ??= unrecordedRunner()
    const kept = firstBytes(stdoutBytesMax)
    try {
      const { result } = await (await shared).execute(
        searchCommand(argv, cwd, timeoutMs),
        { sandbox: "bwrap", network: "none", capture: "none", useShell: false },
        {
          signal: kept.isFull,
          onOutput: (stream, chunk) => (stream === "stdout" ? kept.add(chunk) : undefined),
        },
      )
      const truncated = kept.isFull.aborted || result.timedOut
      return { exitCode: result.exitCode, stdout: kept.bytes(), truncated }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // It could not even be started, for example because the pattern is too long for an argument.
      return { exitCode: null, stdout: new Uint8Array(), truncated: false }
    }
  }
}

function searchCommand([program = "", ...args]: readonly string[], cwd: string, timeoutMs: number) {
  return command(program)
    .withArguments(...args)
    .withWorkingDirectory(cwd)
    .withTimeout(timeoutMs)
    .build()
}

/** Keeps the beginning of an output; `isFull` fires with the first byte that has no room. */
function firstBytes(bytesMax: number) {
  const parts: Uint8Array[] = []
  const full = new AbortController()
  let length = 0
  return {
    isFull: full.signal,
    add: (chunk: Uint8Array): void => {
      // A copy of its own: the memory of a chunk belongs to its reader and may be used for the next one.
      const part = new Uint8Array(chunk.subarray(0, bytesMax - length))
      parts.push(part)
      length += part.length
      if (part.length < chunk.length) full.abort()
    },
    bytes: () => Buffer.concat(parts),
  }
}
