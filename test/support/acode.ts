import { join } from "node:path"
import { tryAdvice } from "./declared/advice-run.ts"
import { noteRun } from "./declared/seen.ts"

export const repositoryRoot = join(import.meta.dirname, "..", "..")

export interface AcodeRun {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface AcodeOptions {
  readonly cwd: string
  /** The whole environment; usually `tempWorkspace().environment` and what the test adds. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  /** A run that hangs is killed and fails the test instead of the suite. */
  readonly timeoutMs?: number
  /** A program and its arguments that start it: a namespace, a limit. */
  readonly through?: readonly string[]
}

/** `bin/acode`, or the file ACODE_TEST_BINARY names (the compiled one). */
export function acodeProgram(): string {
  return process.env["ACODE_TEST_BINARY"] ?? join(repositoryRoot, "bin", "acode")
}

/** Runs the product as people do: a process of its own, to its end. */
export async function runAcode(args: readonly string[], options: AcodeOptions): Promise<AcodeRun> {
  await using running = startAcode(args, options)
  // Awaited here: a bare return would dispose of it, and so kill it, before it has ended.
  return await running.ended
}

export interface RunningAcode extends AsyncDisposable {
  readonly pid: number
  readonly ended: Promise<AcodeRun>
  kill(signal: NodeJS.Signals): void
}

/** The same, while it runs: for signals and crashes. Disposing kills it. */
export function startAcode(args: readonly string[], options: AcodeOptions): RunningAcode {
  const child = Bun.spawn([...(options.through ?? []), acodeProgram(), ...args], {
    cwd: options.cwd,
    env: { ...options.env },
    stdin: options.stdin === undefined ? "ignore" : Buffer.from(options.stdin),
    stdout: "pipe",
    stderr: "pipe",
  })
  const timeoutMs = options.timeoutMs ?? 60_000
  let timedOut = false
  const deadline = setTimeout(() => {
    timedOut = true
    child.kill("SIGKILL")
  }, timeoutMs)
  const finish = async (): Promise<AcodeRun> => {
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    clearTimeout(deadline)
    if (timedOut)
      throw new Error(`acode ${args.join(" ")} still ran after ${timeoutMs} ms\n${stdout}\n${stderr}`)
    const run = { exitCode: child.exitCode, signal: signalName(child.signalCode), stdout, stderr }
    noteRun({ ...options, args, exitCode: run.exitCode, output: `${stdout}\n${stderr}` })
    await tryAdvice(run, args, options)
    return run
  }
  return {
    pid: child.pid,
    ended: finish(),
    kill: signal => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      clearTimeout(deadline)
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

function signalName(signal: NodeJS.Signals | number | null): string | null {
  return signal === null ? null : String(signal)
}
