import type { StoredEvent } from "./contract.ts"

/** Keeps a table in step with the log. Called inside the transaction of the append, for every event in order. */
export interface Projector {
  apply(event: StoredEvent): void
}
