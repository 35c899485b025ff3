import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/base/canonical.ts"
import type { Protocol } from "../../src/domain/model-choice.ts"
import type { ReplyText } from "../../test/support/agent/agent-workspace.ts"
import type { TempWorkspace } from "../../test/support/workspace/temp-workspace.ts"

export interface BenchServer extends AsyncDisposable {
  readonly endpoint: string
  /** Ends it. One for each request to the model, in their order. */
  finish(): Promise<readonly AskedRequest[]>
}

export interface AskedRequest {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly body: Json
}

/** A model server that answers at once, in another process, and configured as the one of this workspace. */
export async function benchServer(
  workspace: TempWorkspace,
  protocol: Protocol,
  replies: readonly ReplyText[],
): Promise<BenchServer> {
  const script = join(workspace.outside, "server-script.json")
  writeFileSync(script, JSON.stringify({ replies }))
  const program = join(import.meta.dir, "model-server-program.ts")
  const child = Bun.spawn([process.execPath, program, protocol, script], { stdin: "pipe", stdout: "pipe" })
  const lines = linesOf(child.stdout)
  const endpoint: string = JSON.parse((await lines.next()).value ?? '"the server did not start"')
  configure(workspace, protocol, endpoint)
  const finish = async () => {
    child.stdin.end()
    const asked: AskedRequest[] = JSON.parse((await lines.next()).value ?? "[]")
    await child.exited
    return asked
  }
  return {
    endpoint,
    finish,
    [Symbol.asyncDispose]: async () => void (await finish()),
  }
}

function configure(workspace: TempWorkspace, provider: Protocol, endpoint: string): void {
  const directory = join(workspace.configHome, "acode")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const model = { provider, endpoint }
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", model }))
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  for await (const chunk of stream) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n")
    begun.push(first)
    for (const next of more) {
      yield begun.join("")
      begun = [next]
    }
  }
}
