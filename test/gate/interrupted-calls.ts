import type { Json } from "../../src/base/canonical.ts"
import { CommandStarted } from "../../src/domain/events/command-events.ts"
import { newEvent } from "../../src/domain/events/definition.ts"
import type { EffectClass } from "../../src/domain/tool-call.ts"
import { openCalls, type Recovered, type RecoveryParts, settleInterrupted } from "../../src/gate/recovery.ts"
import { event } from "../store/support/session-events.ts"
import { startOf } from "../store/support/store-fixture.ts"
import { type GateRoom, type GateRoomOptions, gateRoom } from "../support/plan/gate-room.ts"

/** A room in which the next call ends as if acode had died right after its intent. */
export function dyingRoom(options: GateRoomOptions): GateRoom {
  return gateRoom({
    ...options,
    faults: () => ({
      reach: point => {
        if (point === "gate.intended") throw new Error("died")
      },
    }),
  })
}

export async function beginAndDie(room: GateRoom, tool: string, args: Json): Promise<void> {
  const end = await room.call(tool, args, { isGrantedAsWritten: true }).catch(String)
  if (end !== "Error: died") throw new Error(`it lived: ${JSON.stringify(end)}`)
}

export interface BegunCommand {
  readonly effectClass: EffectClass
  readonly hasCheckpoint: boolean
  readonly hasStarted?: boolean
}

/** The log as a command leaves it whose acode dies: with its intent, and with its start if it came to that. */
export async function beginCommand(
  room: GateRoom,
  { effectClass, hasCheckpoint, hasStarted }: BegunCommand,
): Promise<void> {
  if (hasCheckpoint) await room.checkpoints.takeTree("cal_1", await room.workspace.tree())
  const started = startOf("exe_1", { correlationIds: { toolCallId: "cal_1" } })
  room.log.append([
    event.callRequested("cal_1", { tool: "run_command" }),
    event.callStarted("cal_1", { effectClass, checkpointId: hasCheckpoint ? "cal_1" : null }),
    ...(hasStarted === false ? [] : [newEvent(CommandStarted, started)]),
  ])
}

export function recoveryParts({ workspace, checkpoints, store }: GateRoom): RecoveryParts {
  return { workspace, checkpoints, artifacts: store.artifacts, executions: store.executions }
}

/** Settles the one call that is open. */
export async function recover(room: GateRoom): Promise<Recovered> {
  const [call, ...more] = openCalls(room.events())
  if (call === undefined || more.length > 0) throw new Error("exactly one call is open")
  return settleInterrupted(recoveryParts(room), call)
}
