import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Protocol } from "../src/domain/model-choice.ts"
import type { ReplyText } from "../test/support/agent-workspace.ts"
import { eventually } from "../test/support/eventually.ts"
import type { TempWorkspace } from "../test/support/temp-workspace.ts"

export interface BenchServer extends AsyncDisposable {
  readonly endpoint: string
  /** One for each request to the model, in their order. */
  readonly asked: readonly AskedRequest[]
}

export interface AskedRequest {
  /** Since the epoch. */
  readonly atMs: number
  readonly bytes: number
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
  const asked: AskedRequest[] = []
  let endpoint: string | null = null
  const reading = readLines(child.stdout, line => {
    const said = JSON.parse(line)
    if ("endpoint" in said) endpoint = said.endpoint
    else asked.push(said)
  })
  const found = await eventually("the server says where it is", () => endpoint)
  configure(workspace, protocol, found)
  return {
    endpoint: found,
    asked,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await child.exited
      await reading
    },
  }
}

function configure(workspace: TempWorkspace, provider: Protocol, endpoint: string): void {
  const directory = join(workspace.configHome, "acode")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const model = { provider, endpoint }
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", model }))
}

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ""
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  }
}
