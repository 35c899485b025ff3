import { codeTools } from "../src/app/wiring/code-tools.ts"
import { wireGate } from "../src/app/wiring/gate.ts"
import { systemIds } from "../src/base/clock.ts"
import { emptyGrant } from "../src/domain/effect.ts"
import type { NewEvent } from "../src/domain/events/definition.ts"
import type { Plan } from "../src/domain/plan/plan.ts"
import { runPlan } from "../src/engine/lanes/plan-lane.ts"
import type { ApprovalDesk, CallRequest, SessionLog } from "../src/gate/contract.ts"
import { driveSession } from "../src/gate/session-log.ts"
import { processIdentity } from "../src/store/process-identity.ts"
import { interleaved, timingOf } from "./measure.ts"
import { openProduct } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** Measures the overhead of the gate for a call, and whether a long plan stays as fast as at its start. */
export async function gateFigures(): Promise<Figure[]> {
  return [...(await overheads()), await growth()]
}

async function openGate() {
  const product = openProduct()
  const { wiring } = product
  const store = await wiring.store()
  const { workspace, checkpoints } = await wiring.workspace()
  const session = driveSession(
    { log: store.log, leases: store.leases, owner: processIdentity() },
    systemIds.next("ses"),
  )
  const commits: (readonly NewEvent[])[] = []
  const log: SessionLog = {
    sessionId: session.sessionId,
    append: events => {
      if (commits.length < 2) commits.push(events)
      return session.append(events)
    },
    whileOwned: work => session.whileOwned(work),
  }
  const gate = await wireGate(wiring, log, nobody, () => undefined)
  return {
    product,
    workspace,
    checkpoints,
    session,
    gate,
    wiring,
    commits,
    [Symbol.dispose]: () => {
      session.release()
      product[Symbol.dispose]()
    },
  }
}

const nobody: ApprovalDesk = {
  isStaffed: false,
  whenNobody: "deny",
  answeredBefore: () => null,
  ask: async () => {
    throw new Error("this plan asks no questions")
  },
}

/** The gate against what is left without it: the operation, and the very commits it makes. */
async function overheads(): Promise<Figure[]> {
  const [bareRead, read] = await measured(
    ({ gate }) => gate.call(callOf("read_file", { path: "file.txt" })),
    ({ workspace }) => void workspace.readLines("file.txt", { bytesMax: 65_536 }),
  )
  const [bareWrite, write] = await measured(
    ({ gate }, count) => gate.call(callOf("write_file", { path: "file.txt", content: `gated ${count}\n` })),
    async ({ workspace, checkpoints }, count) => {
      await checkpoints.takeFiles(systemIds.next("cal"), ["file.txt"])
      workspace.write({ path: "file.txt", content: Buffer.from(`bare ${count}\n`) })
    },
  )
  return [
    atMost("gate overhead of a read, over it and its two commits", read - bareRead, 0.3),
    atMost("gate overhead of a write, over it, its pre-image and its two commits", write - bareWrite, 1),
  ]
}

const runs = 200

async function measured(
  gated: (room: Room, count: number) => Promise<unknown>,
  bare: (room: Room, count: number) => Promise<void> | void,
): Promise<[bare: number, gated: number]> {
  using room = await openGate()
  room.product.workspace.write("file.txt", "line\n".repeat(100))
  await gated(room, 0)
  let count = 0
  const again = Array.from({ length: 2 * runs }, () => withOtherId(room.commits))
  const [floor, whole] = await interleaved(runs, [
    async () => {
      await bare(room, ++count)
      for (const events of again.pop() ?? []) room.session.append(events)
    },
    async () => void (await gated(room, ++count)),
  ])
  if (floor === undefined || whole === undefined) throw new Error("nothing measured")
  return [floor.p50, whole.p50]
}

type Room = Awaited<ReturnType<typeof openGate>>

/** The same events of another call: no call can be recorded twice. */
function withOtherId(commits: readonly (readonly NewEvent[])[]): readonly (readonly NewEvent[])[] {
  const text = JSON.stringify(commits)
  const [id = ""] = /cal_[0-9a-f-]+/.exec(text) ?? []
  return JSON.parse(text.replaceAll(id, systemIds.next("cal")))
}

function callOf(tool: string, args: CallRequest["arguments"]): CallRequest {
  return {
    tool,
    arguments: args,
    origin: { planId: null, planHash: null, taskId: null, stepId: null, stepKey: null, modelCallId: null },
    grant: emptyGrant,
    isGrantedAsWritten: true,
    offered: null,
    obstacle: null,
    isForModel: false,
    requiresConfirmation: false,
    askedAs: null,
    signal: null,
    onOutput: null,
    before: [],
    after: () => [],
  }
}

/** Returns a plan of one task. */
function planOf(steps: Plan["tasks"][number]["steps"]) {
  const task = {
    id: "plan",
    title: "",
    description: "",
    complexity: 1,
    dependsOn: [],
    acceptance: [],
    steps,
    resources: { read: [], write: [], commands: [], hosts: [] },
  }
  const plan: Plan = {
    planId: "bench",
    goal: "",
    intent: "MUTATE",
    tasks: [task],
    evidenceReferenced: [],
    hash: "sha256:0",
  }
  return { plan, task }
}

const stepCount = 1_000

async function growth(): Promise<Figure> {
  using room = await openGate()
  const steps = Array.from({ length: stepCount }, (_, index) => ({
    kind: "concrete" as const,
    id: `s${index}`,
    title: "",
    description: "",
    dependsOn: [],
    tool: "file_write",
    arguments: { path: `out/${index % 50}.txt`, contents: `step ${index}\n` },
    precondition: "none" as const,
    requiresConfirmation: false,
  }))
  const { plan, task } = planOf(steps)
  const samples: number[] = []
  let began = 0
  const { session: log, gate, workspace, wiring } = room
  await runPlan(
    {
      log,
      gate,
      workspace,
      code: codeTools(wiring).code,
      whyRevoked: () => null,
      clock: wiring.clock,
      faults: wiring.faults,
    },
    { plan, steps: steps.map((step, index) => ({ task, step, index })), grant: emptyGrant },
    {
      onStepStart: () => {
        began = performance.now()
      },
      onStepComplete: () => void samples.push(performance.now() - began),
      onStepFailed: (_step, result) => {
        throw new Error(result.error_message ?? "a step failed")
      },
    },
    null,
  )
  // The first ones warm the machine up, which is not what growth means.
  const start = timingOf(samples.slice(100, 300)).p50
  const end = timingOf(samples.slice(-200)).p50
  return timesFloor(`step ${stepCount} of a plan against its first ones`, end, start, 1.2)
}
