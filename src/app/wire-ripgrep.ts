import { realpathSync } from "node:fs"
import { isAbsolute, join, relative } from "node:path"
import { command } from "../domain/command-builder.ts"
import { Failure } from "../domain/failure.ts"
import type { CommandRunner } from "../exec/contract.ts"
import { findProgram } from "../exec/program.ts"
import type { RunProgram } from "../workspace/contract.ts"

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
