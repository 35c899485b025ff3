import type { EvidenceHistory } from "../../../src/store/evidence/contract.ts"
import { event, type SessionWriter, startSession } from "./session-events.ts"
import { type StoreFixture, storeFixture } from "./store-fixture.ts"

/** A history of calls that a test writes a line at a time. */
export interface EvidenceFixture extends Disposable {
  readonly fixture: StoreFixture
  readonly session: SessionWriter
  readonly evidence: EvidenceHistory
  /** A call that is requested and settled now. */
  call(
    id: string,
    settled?: Parameters<typeof event.callSettled>[1],
    requested?: Parameters<typeof event.callRequested>[1],
  ): void
  /** The time `ms` after the beginning. */
  at(ms: number): string
  /** Sets the clock to that time. */
  goTo(ms: number): void
}

export function evidenceFixture(): EvidenceFixture {
  const fixture = storeFixture()
  const store = fixture.open()
  const session = startSession(store)
  const began = fixture.clock.now()
  return {
    fixture,
    session,
    evidence: store.evidence,
    call: (id, settled = {}, requested = {}) =>
      void session.append(event.callRequested(id, requested), event.callSettled(id, settled)),
    at: ms => new Date(began + ms).toISOString(),
    goTo: ms => fixture.clock.jump(began + ms - fixture.clock.now()),
    [Symbol.dispose]: () => fixture[Symbol.dispose](),
  }
}

export function idsOf(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(row => row.id)
}
