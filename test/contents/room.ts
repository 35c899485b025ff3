import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"

const MiB = 1024 * 1024

/** A gate with the limits of the product: those of the other tests are too small for real files. */
export function contentRoom(): GateRoom {
  return gateRoom({
    limits: { editBytesMax: 64 * MiB, viewBytesMax: 64 * 1024 },
    checkpointLimits: { fileBytesMax: 64 * MiB, totalBytesMax: 2048 * MiB },
  })
}
