import { lstatSync, realpathSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import type { Clock } from "../../base/clock.ts"
import type { Faults } from "../../base/faults.ts"
import { lazily } from "../../base/lazy.ts"
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
import { confiningChoice } from "./sandbox.ts"

export interface WorkspaceWiring {
  /** The workspace root, absolute and without links. */
  readonly directory: string
  readonly places: StatePlaces
  readonly config: Config
  readonly environment: AppEnvironment
  readonly clock: Clock
  readonly faults: Faults
  /** `dev:ino` of files that the tree excludes because acode itself writes to them. */
  readonly ownOutputs: ReadonlySet<string>
  /** Aborted when a person stops acode. */
  readonly stopping: () => AbortSignal | null
  /** Removes older checkpoints to free at least this many bytes. */
  readonly makeRoom?: (bytes: number) => void
  /** Runs searches, which are recorded as tool calls and not as commands. */
  readonly unrecordedRunner: () => Promise<CommandRunner>
}

/** Opens the user's files behind the guard of protected paths. The caller disposes of the workspace. */
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
    ripgrep:
      ripgrep === null
        ? null
        : { program: ripgrep, run: programRunner(wiring.unrecordedRunner, wiring.directory) },
    clock: wiring.clock,
    faults: wiring.faults,
  })
}

/**
 * Returns a guard that refuses protected paths to every caller, whatever was approved: the last check after policy,
 * repeated on the real path. Paths that policy only asks about pass.
 */
function protectedGuard(directory: string, environment: AppEnvironment): PathGuard {
  return (path, operation) => {
    const named = decidePath(path, operation)
    const { decision, rule, reason } =
      named.decision === "deny" ? named : (forGit(directory, path, operation, environment) ?? named)
    if (decision !== "deny") return
    // Only for listing, which fails on anything but a directory; a name that is read could be swapped for a file.
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

/**
 * Returns the rule for paths that a git configuration names, and for directories that git would treat as a repository.
 */
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

/** Returns whether a directory is open although its name is that of a protected file: `src/token/` is source code. */
function isOpenDirectory(directory: string, path: string): boolean {
  if (classify(path, "directory") !== "open") return false
  try {
    return lstatSync(join(directory, path), { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    if (errnoOf(error) === null) throw error
    // It cannot be inspected, so it does not count as a directory.
    return false
  }
}

/**
 * Returns the absolute path of ripgrep outside the workspace, or null. A PATH may begin with a directory of the
 * workspace, where any program could have this name.
 */
export function findRipgrep(workspaceRoot: string, path: string | undefined): string | null {
  for (const directory of (path ?? "/usr/local/bin:/usr/bin:/bin").split(":")) {
    if (!isAbsolute(directory)) continue
    const found = findProgram(join(directory, "rg"), "/", undefined)
    if (found.kind !== "found") continue
    const leads = [found.path, realpathSync(found.path)]
    // The path as found, not the real path: version managers install one program under many names and read its name.
    if (!leads.some(path => isInside(workspaceRoot, path))) return found.path
  }
  return null
}

function isInside(root: string, path: string): boolean {
  const below = relative(root, path)
  return below === "" || !(below === ".." || below.startsWith("../") || isAbsolute(below))
}

/**
 * Returns a function that runs a program for acode itself: always confined, without network and without a record.
 * Without a sandbox the program does not run, and the caller works without its result.
 */
export function programRunner(
  unrecordedRunner: () => Promise<CommandRunner>,
  workspaceRoot: string,
): RunProgram {
  let shared: Promise<CommandRunner> | null = null
  const sandbox = lazily(() => confiningChoice(workspaceRoot))
  return async (argv, { cwd, stdoutBytesMax, timeoutMs }) => {
    shared ??= unrecordedRunner()
    const kept = firstBytes(stdoutBytesMax)
    try {
      const { result } = await (await shared).execute(
        searchCommand(argv, cwd, timeoutMs),
        { sandbox: await sandbox(), network: "none", capture: "none", useShell: false },
        {
          signal: kept.isFull,
          onOutput: (stream, chunk) => (stream === "stdout" ? kept.add(chunk) : undefined),
        },
      )
      const truncated = kept.isFull.aborted || result.timedOut
      return { exitCode: result.exitCode, stdout: kept.bytes(), truncated }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // It could not be started, for example because the pattern is too long for an argument.
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

/** Keeps the first bytes of an output; `isFull` is aborted by the first byte beyond the limit. */
function firstBytes(bytesMax: number) {
  const parts: Uint8Array[] = []
  const full = new AbortController()
  let length = 0
  return {
    isFull: full.signal,
    add: (chunk: Uint8Array): void => {
      // Copied, because the reader may reuse the memory of a chunk for the next one.
      const part = new Uint8Array(chunk.subarray(0, bytesMax - length))
      parts.push(part)
      length += part.length
      if (part.length < chunk.length) full.abort()
    },
    bytes: () => Buffer.concat(parts),
  }
}
