import { rmSync } from "node:fs"
import { join } from "node:path"
import { systemIds } from "../../src/base/clock.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import { TaskReopened } from "../../src/domain/events/skill-events.ts"
import { taskText } from "../../src/domain/skill/task-text.ts"
import {
  AgentExecutor,
  createDefaultConfig,
  MockClaudeClient,
  openSkillWorkspace,
} from "../../src/library.ts"
import { processIdentity } from "../../src/store/process-identity.ts"
import { exampleTask } from "../../test/domain/skill/task-fixture.ts"
import type { TempWorkspace } from "../../test/support/workspace/temp-workspace.ts"
import { interleaved, timingOf } from "../measure.ts"
import { builtProgram, openProduct, type Product } from "../product.ts"
import { atMost, type Figure } from "../report.ts"

const skill = "---\nname: plain\ndescription: Does it.\n---\nDo it.\n"
const listedCount = 10_000
const runners = 8
const contested = 40
const longCount = 1_000

/** Executing, listing and claiming tasks of the skills lane. */
export async function skillFigures(): Promise<Figure[]> {
  return [await execution(), ...(await listing()), await contest(), await growth()]
}

function withTasks(count: number): Product {
  const product = openProduct()
  const { workspace } = product
  workspace.write(".agents/skills/plain/SKILL.md", skill)
  for (let index = 0; index < count; index++) {
    const output = { path: `out/t${index}.md`, format: "markdown" }
    workspace.write(`tasks/t${index}.md`, taskText(exampleTask({ id: `t${index}`, to: "plain", output })))
  }
  return product
}

const executions = 60

/** An execution against the commits, leases, copies and writes that it consists of. */
async function execution(): Promise<Figure> {
  // A third as many again to get warm.
  using product = withTasks(2 * executions)
  const { workspace: temp, wiring } = product
  await using tasks = openSkillWorkspace(temp.root, { variables: temp.environment })
  const executor = new AgentExecutor(new MockClaudeClient(), tasks, createDefaultConfig())
  const store = await wiring.store()
  const { workspace, checkpoints } = await wiring.workspace()
  const stream = systemIds.next("ctl")
  const lease = store.leases.acquire(stream, processIdentity())
  if (lease === null) throw new Error("the stream of the floor is taken")
  const event = newEvent(TaskReopened, { taskId: "t", path: "p", fromStatus: "failed", by: "b", reason: "r" })
  let seq = 0
  let next = 0
  const write = async (path: string) => {
    await checkpoints.takeFiles(systemIds.next("cal"), [path])
    workspace.write({ path, content: Buffer.from(`floor ${seq}\n`) })
  }
  const [floor, whole] = await interleaved(executions, [
    async () => {
      for (let commit = 0; commit < 8; commit++) store.log.append(stream, seq++, lease.epoch, [event], lease)
      for (let hold = 0; hold < 2; hold++) {
        const held = store.leases.acquire("floor", processIdentity())
        if (held !== null) store.leases.release(held)
      }
      for (const path of ["floor/a.md", "floor/b.md", "floor/a.md"]) await write(path)
    },
    async () => {
      const { status, error } = await executor.execute(await tasks.readTask(`t${next++}`))
      if (status !== "completed") throw error ?? new Error("a task failed")
    },
  ])
  if (floor === undefined || whole === undefined) throw new Error("nothing was measured")
  return atMost(
    "executing a task around an instant reply, over its 8 commits, 2 leases and 3 writes",
    whole.p50 - floor.p50,
    5,
  )
}

async function listing(): Promise<Figure[]> {
  using product = withTasks(listedCount)
  const { workspace } = product
  const list = async () => {
    const { root: cwd, environment: env } = workspace
    const child = Bun.spawn([builtProgram, "agent", "list"], {
      cwd,
      env: { ...env },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    })
    if ((await child.exited) !== 0) throw new Error(`agent list exits ${child.exitCode}`)
  }
  const [first, then] = await interleaved(7, [
    async () => {
      rmSync(workspace.state("tasks.json"), { force: true })
      await list()
    },
    list,
  ])
  if (first === undefined || then === undefined) throw new Error("nothing was measured")
  return [
    atMost("agent list of 10,000 tasks, first", first.p50, 600),
    atMost("agent list of 10,000 tasks, then", then.p50, 100),
  ]
}

interface Reported {
  readonly claimsMs: readonly number[]
  readonly earlyMb: number
  readonly lateMb: number
}

/** Starts processes, lets all of them begin at the same moment, and returns what each of them prints. */
async function run(
  { root, environment }: TempWorkspace,
  processes: number,
  verb: "execute" | "claim",
  tasks: number,
): Promise<readonly Reported[]> {
  const program = join(import.meta.dirname, "skills-program.ts")
  const children = Array.from({ length: processes }, () =>
    Bun.spawn([process.execPath, program, root, String(tasks), verb], {
      cwd: root,
      env: { ...environment },
      stdin: "pipe",
    }),
  )
  const outputs = children.map(({ stdout }) => stdout.pipeThrough(new TextDecoderStream()).getReader())
  await Promise.all(outputs.map(output => output.read()))
  for (const { stdin } of children) {
    stdin.write("go\n")
    stdin.end()
  }
  return Promise.all(
    outputs.map(async output => {
      let text = ""
      for (;;) {
        const { done, value } = await output.read()
        if (done) return JSON.parse(text)
        text += value
      }
    }),
  )
}

/** Every process claims every task, in the same order: one of them gets it, and the others are refused. */
async function contest(): Promise<Figure> {
  using product = withTasks(contested)
  const told = await run(product.workspace, runners, "claim", contested)
  // The first claim of a process opens its store.
  const claims = told.flatMap(({ claimsMs }) => claimsMs.slice(1))
  return atMost(`p99 of ${claims.length} claims by ${runners} processes at once`, timingOf(claims).p99, 50)
}

async function growth(): Promise<Figure> {
  using product = withTasks(longCount)
  const [told] = await run(product.workspace, 1, "execute", longCount)
  if (told === undefined) throw new Error("nothing was measured")
  return atMost(`heap that ${longCount} tasks add to that of a tenth`, told.lateMb - told.earlyMb, 5, "MB")
}
