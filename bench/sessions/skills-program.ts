import { heapStats } from "bun:jsc"
import { AgentExecutor, createDefaultConfig, ExecutionError, openSkillWorkspace } from "../../src/library.ts"

/**
 * `bun skills-program.ts ROOT COUNT execute|claim`: executes the tasks around an instant reply, or only claims them.
 * Prints one line when it is ready, begins with the first line of its standard input, and prints how long each claim
 * took, and how much memory it holds after a tenth of the tasks and after all of them.
 */
const [root = "", count = "1", verb = "execute"] = process.argv.slice(2)
await using workspace = openSkillWorkspace(root)
const reply = { content: "output", inputTokens: 1, outputTokens: 1, stopReason: "end_turn" as const }
const executor = new AgentExecutor({ complete: async () => reply }, workspace, createDefaultConfig())
const claimsMs: number[] = []

async function perform(id: string): Promise<void> {
  const task = await workspace.readTask(id)
  if (verb === "execute") {
    const { status, error } = await executor.execute(task)
    if (status !== "completed") throw error ?? new Error(`${id} failed`)
    return
  }
  const began = performance.now()
  try {
    await workspace.claim(task, undefined)
  } catch (error) {
    if (!(error instanceof ExecutionError && error.code === "TASK_CLAIMED")) throw error
  }
  claimsMs.push(performance.now() - began)
}

/** Returns the size of objects only: the caches of the database and of the allocator grow to their own limits. */
function heldMb(): number {
  Bun.gc(true)
  return heapStats().heapSize / 1e6
}

process.stdout.write("ready\n")
for await (const _ of Bun.stdin.stream()) break
let earlyMb = 0
for (let index = 0; index < Number(count); index++) {
  await perform(`t${index}`)
  if (index === Math.floor(Number(count) / 10)) earlyMb = heldMb()
}
process.stdout.write(`${JSON.stringify({ claimsMs, earlyMb, lateMb: heldMb() })}\n`)
