import { wireGate } from "../src/app/wire-gate.ts"
import { systemIds } from "../src/base/clock.ts"
import { emptyGrant } from "../src/domain/effect.ts"
import type { Plan } from "../src/domain/plan.ts"
import { runPlan } from "../src/engine/plan-lane.ts"
import { driveSession } from "../src/engine/session-log.ts"
import type { ApprovalDesk, CallRequest } from "../src/gate/contract.ts"
import { processIdentity } from "../src/store/process-identity.ts"
import { durableCommits } from "./floors.ts"
import { interleaved, timingOf } from "./measure.ts"
import { openProduct } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** What the gate adds to what a call does anyway, and whether a long plan stays as fast as it began. */
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
  const gate = await wireGate(wiring, session, nobody)
  return {
    ...{ product, workspace, checkpoints, session, gate, wiring },
    [Symbol.dispose]: () => {
      session.release()
      product[Symbol.dispose]()
    },
  }
}

const nobody: ApprovalDesk = {
  isStaffed: false,
  ask: async () => {
    throw new Error("nobody is asked here")
  },
}

async function overheads(): Promise<Figure[]> {
  using room = await openGate()
  using floor = durableCommits(room.product.workspace.outside)
  room.product.workspace.write("read.txt", "line\n".repeat(100))
  let count = 0
  const next = () => Buffer.from(`content ${++count}\n`)
  const [bareRead, read, bareWrite, write] = await interleaved(200, [
    () => {
      room.workspace.readLines("read.txt", { bytesMax: 65_536 })
      floor.commit()
      floor.commit()
    },
    async () => void (await room.gate.call(callOf("read_file", { path: "read.txt" }))),
    () => {
      room.checkpoints.takeFiles(systemIds.next("cal"), ["bare.txt"])
      room.workspace.write({ path: "bare.txt", content: next() })
      floor.commit()
      floor.commit()
    },
    async () =>
      void (await room.gate.call(
        callOf("write_file", { path: "gated.txt", content: `content ${++count}\n` }),
      )),
  ])
  if (!bareRead || !read || !bareWrite || !write) throw new Error("nothing measured")
  return [
    atMost("gate overhead of a read, over it and two commits", read.p50 - bareRead.p50, 0.3),
    atMost("gate overhead of a write, over it, its pre-image and two commits", write.p50 - bareWrite.p50, 1),
  ]
}

function callOf(tool: string, args: CallRequest["arguments"]): CallRequest {
  return {
    tool,
    arguments: args,
    origin: { planId: null, planHash: null, taskId: null, stepId: null, stepKey: null },
    grant: emptyGrant,
    isGrantedAsWritten: true,
    requiresConfirmation: false,
    signal: null,
    onOutput: null,
    before: [],
    after: () => [],
  }
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
  const task = {
    ...{ id: "plan", title: "", description: "", complexity: 1, dependsOn: [], acceptance: [], steps },
    resources: { read: [], write: [], commands: [], hosts: [] },
  }
  const plan: Plan = {
    ...{
      planId: "bench",
      goal: "",
      intent: "MUTATE",
      tasks: [task],
      evidenceReferenced: [],
      hash: "sha256:0",
    },
  }
  const samples: number[] = []
  let began = 0
  const { session: log, gate, workspace, wiring } = room
  await runPlan(
    { log, gate, workspace, clock: wiring.clock, faults: wiring.faults },
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
