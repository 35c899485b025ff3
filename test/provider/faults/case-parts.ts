import type { Json } from "../../../src/base/canonical.ts"
import type { Fault } from "../../support/model-server/contract.ts"
import { whole } from "../../support/model-server/http.ts"
import type { WireEvent } from "../../support/model-server/wire/wire.ts"
import { eventsOf, streamed } from "./bench.ts"
import { type Bench, type FaultCase, fails, faultOf, type Outcome } from "./fault-case.ts"

export const tooLong = fails("contextTooLong")

export function refusing(name: string, status: number, body: Json, wanted: Outcome): FaultCase {
  return { name, fault: faultOf(whole(status, JSON.stringify(body))), wanted: [wanted] }
}

/** An event put behind the first words. */
export function amid(bench: Bench, event: WireEvent): Fault {
  const events = eventsOf(bench)
  return streamed(bench, [...events.slice(0, 3), event, ...events.slice(3)])
}

export function faulty(name: string, fault: FaultCase["fault"], ...wanted: readonly Outcome[]): FaultCase {
  return { name, fault, wanted }
}
