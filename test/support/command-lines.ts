import { join } from "node:path"
import type { AcodeRun } from "./acode.ts"

/** One process that runs many command lines, for tests that try hundreds of them and need no start of their own. */
export interface CommandLines extends AsyncDisposable {
  run(cwd: string, ...argv: readonly string[]): Promise<AcodeRun>
}

export function commandLines(env: Readonly<Record<string, string>>): CommandLines {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "line-program.ts")], {
    env: { ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  })
  const stdout = new ZeroEnded(child.stdout)
  const stderr = new ZeroEnded(child.stderr)
  return {
    run: async (cwd, ...argv) => {
      child.stdin.write(`${JSON.stringify({ argv, cwd })}\n`)
      await child.stdin.flush()
      const [printed, said] = await Promise.all([stdout.next(), stderr.next()])
      const end = printed.lastIndexOf("\u0001")
      const exitCode = Number(printed.slice(end + 1))
      return { exitCode, signal: null, stdout: printed.slice(0, end), stderr: said }
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await child.exited
    },
  }
}

/** The texts of a stream that each end with a zero byte. */
class ZeroEnded {
  private text = ""
  private readonly decoder = new TextDecoder()
  private readonly chunks: AsyncIterator<Uint8Array>

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.chunks = stream[Symbol.asyncIterator]()
  }

  async next(): Promise<string> {
    for (;;) {
      const end = this.text.indexOf("\0")
      if (end !== -1) {
        const found = this.text.slice(0, end)
        this.text = this.text.slice(end + 1)
        return found
      }
      const { done, value } = await this.chunks.next()
      if (done) throw new Error(`the process that runs command lines has ended: ${this.text}`)
      this.text += this.decoder.decode(value, { stream: true })
    }
  }
}
