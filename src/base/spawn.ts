import { closeSync } from "node:fs"
import { openPipe } from "./libc.ts"

export interface SpawnRequest {
  /** The program must be a path: the caller decides how to find it on PATH. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** A descriptor to read from, or no input. */
  readonly stdin: number | "null"
  readonly stdout: "pipe" | "null"
  readonly stderr: "pipe" | "null"
  /** Descriptors 3, 4, …: a descriptor of acode to pass on, or a new two-way pipe whose other end acode keeps. */
  readonly extra: readonly (number | "pipe")[]
}

export interface Exit {
  readonly exitCode: number | null
  /** `SIGKILL`, for example. A signal without a name, such as a real-time signal, has its number: `SIG34`. */
  readonly signal: string | null
}

export interface Spawned {
  readonly pid: number
  /** A caller that takes a reader must cancel it when done: a reader that waits for a byte keeps acode running. */
  readonly stdout: ReadableStream<Uint8Array> | null
  readonly stderr: ReadableStream<Uint8Array> | null
  /** The ends of the `extra` pipes that acode keeps, in order; null where a descriptor was passed on. */
  readonly extra: readonly (number | null)[]
  readonly exited: Promise<Exit>
  /** CPU time of the child and of the processes it waited for; known once it has exited. */
  cpuMs(): number | null
  /** Peak memory as the kernel accounts it, which starts at the size of acode itself (see exec/supervision). */
  maxRssBytes(): number | null
  /**
   * Closes the ends of the pipes that acode keeps, once the streams are read or their readers cancelled. A grandchild
   * that still holds the other ends does not matter any more. A second call does nothing.
   */
  close(): void
}

const running = new Set<number>()
/** The processes started here that have not ended yet. Any other child of acode is an orphan that it adopted. */
export const ownChildren: ReadonlySet<number> = running

/**
 * Starts a process in a session of its own. Throws the system's error (ENOENT, EACCES, …) if it cannot start. Output
 * goes through real pipes: with the socket pairs a runtime would use, `echo x > /dev/stderr` fails in the child with
 * ENXIO.
 */
export function spawn(request: SpawnRequest): Spawned {
  const [out, err] = openPipes(request.stdout === "pipe", request.stderr === "pipe")
  const stdio = [
    request.stdin === "null" ? "ignore" : request.stdin,
    out?.write ?? "ignore",
    err?.write ?? "ignore",
    ...request.extra,
  ]
  let child: ReturnType<typeof Bun.spawn>
  try {
    // Bun types stdio as a triple although it takes any number of entries.
    child = Bun.spawn({
      cmd: [...request.argv],
      env: { ...request.env },
      cwd: request.cwd,
      stdio: stdio as ["ignore", "ignore", "ignore"],
      detached: true,
    })
  } catch (error) {
    for (const end of [out?.read, err?.read]) if (end !== undefined) closeSync(end)
    throw error
  } finally {
    for (const end of [out?.write, err?.write]) if (end !== undefined) closeSync(end)
  }
  const ours = request.extra.map((entry, index) => {
    const end: unknown = child.stdio[index + 3]
    return entry === "pipe" && typeof end === "number" ? end : null
  })
  return handleOf(child, out?.read ?? null, err?.read ?? null, ours)
}

function handleOf(
  child: ReturnType<typeof Bun.spawn>,
  out: number | null,
  err: number | null,
  extra: readonly (number | null)[],
): Spawned {
  const stdout = out === null ? null : Bun.file(out).stream()
  const stderr = err === null ? null : Bun.file(err).stream()
  const open = new Set([out, err, ...extra].filter(end => end !== null))
  running.add(child.pid)
  return {
    pid: child.pid,
    stdout,
    stderr,
    extra,
    exited: child.exited.then(() => {
      running.delete(child.pid)
      return exitOf(child)
    }),
    cpuMs: () => {
      const usage = child.resourceUsage()
      return usage === undefined ? null : Number(usage.cpuTime.total) / 1000
    },
    maxRssBytes: () => child.resourceUsage()?.maxRSS ?? null,
    close: () => {
      // A stream without a reader would later read from the next file that gets the number of its descriptor.
      for (const stream of [stdout, stderr]) if (stream !== null && !stream.locked) void stream.cancel()
      for (const end of open) closeSync(end)
      open.clear()
    },
  }
}

function exitOf({ exitCode, signalCode }: ReturnType<typeof Bun.spawn>): Exit {
  if (signalCode === null) return { exitCode, signal: null }
  const name = String(signalCode)
  return { exitCode: null, signal: name.startsWith("SIG") ? name : `SIG${name}` }
}

type Pipe = ReturnType<typeof openPipe>

/** Opens both pipes or none: a descriptor that stays open after the second fails would leak. */
function openPipes(wantsOut: boolean, wantsErr: boolean): [Pipe | null, Pipe | null] {
  const out = wantsOut ? openPipe() : null
  try {
    return [out, wantsErr ? openPipe() : null]
  } catch (error) {
    if (out !== null) for (const end of [out.read, out.write]) closeSync(end)
    throw error
  }
}
