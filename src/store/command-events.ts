import type { z } from "zod"
import { CommandFinished, CommandStarted } from "../domain/command-events.ts"
import type { StoredEvent } from "./contract.ts"
import { fieldsOf } from "./event-fields.ts"

export type StartedFields = z.infer<typeof CommandStarted.data>
export type FinishedFields = z.infer<typeof CommandFinished.data>

export function startedFields(event: Pick<StoredEvent, "type" | "data">): StartedFields | null {
  return fieldsOf(CommandStarted, event)
}

export function finishedFields(event: Pick<StoredEvent, "type" | "data">): FinishedFields | null {
  return fieldsOf(CommandFinished, event)
}
