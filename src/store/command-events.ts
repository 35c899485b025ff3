import type { z } from "zod"
import { CommandFinished, CommandStarted } from "../domain/events.ts"
import type { StoredEvent } from "./contract.ts"

export type StartedFields = z.infer<typeof CommandStarted.data>
export type FinishedFields = z.infer<typeof CommandFinished.data>

/** What the event says, or null when it is of another type. It was validated by the append and is not again here. */
export function startedFields(event: Pick<StoredEvent, "type" | "data">): StartedFields | null {
  // The type of an event decides the shape of its data; nothing gets into the log that was not parsed with it.
  return event.type === CommandStarted.type ? (event.data as unknown as StartedFields) : null
}

export function finishedFields(event: Pick<StoredEvent, "type" | "data">): FinishedFields | null {
  // As above.
  return event.type === CommandFinished.type ? (event.data as unknown as FinishedFields) : null
}
