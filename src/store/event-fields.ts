import type { z } from "zod"
import type { EventDefinition } from "../domain/event-definition.ts"
import type { StoredEvent } from "./contract.ts"

/** What the event says, or null when it is of another type. It was validated by the append and is not again here. */
export function fieldsOf<Definition extends EventDefinition>(
  definition: Definition,
  event: Pick<StoredEvent, "type" | "data">,
): z.infer<Definition["data"]> | null {
  // The type of an event decides the shape of its data; nothing gets into the log that was not parsed with it.
  return event.type === definition.type ? (event.data as z.infer<Definition["data"]>) : null
}
