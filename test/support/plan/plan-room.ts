import { planTools } from "../../../src/app/plan-tools.ts"
import { concreteSteps } from "../../../src/domain/plan/order.ts"
import { resourcesOf } from "../../../src/domain/plan/plan.ts"
import { readPlan } from "../../../src/domain/plan/reading.ts"
import {
  type PlanLaneParts,
  type PlanWatcher,
  type RunnablePlan,
  runPlan,
} from "../../../src/engine/lanes/plan-lane.ts"
import type { PlanResult } from "../../../src/engine/lanes/plan-result.ts"
import { type GateRoom, type GateRoomOptions, gateRoom } from "./gate-room.ts"
import { type PlanStepText, planText } from "./plan-workspace.ts"

/** A plan as its file says it, read and ordered as the product does. */
export function runnableOf(text: string): RunnablePlan {
  const reading = readPlan(text, planTools)
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
  const ordered = concreteSteps(reading.plan)
  if ("problems" in ordered) throw new Error(JSON.stringify(ordered.problems))
  return {
    plan: reading.plan,
    steps: ordered.steps,
    grant: { ...resourcesOf(reading.plan), exact: [], isUnconfined: true, isUnseen: false },
  }
}

export interface PlanRoom extends GateRoom {
  readonly lane: PlanLaneParts
  /** Runs steps s1, s2, … to the end of the session. */
  run(steps: readonly PlanStepText[], watcher?: PlanWatcher, signal?: AbortSignal): Promise<PlanResult>
}

/** A gate with the plan lane on top of it. */
export function planRoom(options: GateRoomOptions = {}): PlanRoom {
  const room = gateRoom(options)
  const { log, gate, workspace, parts } = room
  const {
    clock,
    faults,
    room: { code },
  } = parts
  const lane = { log, gate, workspace, code, clock, faults, whyRevoked: () => null }
  return {
    ...room,
    lane,
    run: (steps, watcher = {}, signal) =>
      runPlan(lane, runnableOf(planText(steps, "demo")), watcher, signal ?? null),
    [Symbol.dispose]: () => room[Symbol.dispose](),
  }
}
