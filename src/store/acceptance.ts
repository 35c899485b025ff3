import { existsSync, renameSync } from "node:fs"
import { HistoryAccepted } from "../domain/command-events.ts"
import { newEvent } from "../domain/event-definition.ts"
import { Failure } from "../domain/failure.ts"
import { type AnchorParts, acceptancePrefix, anchorPath, othersAnchoredAt, startAnchors } from "./anchors.ts"
import type { AcceptedHistory } from "./contract.ts"
import type { LogWriter } from "./event-log.ts"
import { anchorFindings, type VerifyParts } from "./verify.ts"

export interface AcceptanceParts extends AnchorParts, VerifyParts {
  readonly log: LogWriter
}

/**
 * Records that a person accepts a history that does not match what was anchored of it, and begins its anchors anew. The
 * old ones are kept beside them. Events and tables that do not verify are not accepted by it, and stay findings.
 */
export function acceptHistory(
  parts: AcceptanceParts,
  given: { readonly by: string; readonly reason: string; readonly setAside: string | null },
): AcceptedHistory {
  const findings = anchorFindings(parts)
    .map(({ what }) => what)
    .slice(0, findingsMax)
  if (findings.length === 0 && given.setAside === null) throw nothingToAccept(parts.connection.path)
  const { log, connection } = parts
  const prepared = log.prepare([newEvent(HistoryAccepted, { ...given, findings: [...findings] })])
  const [event] = connection.transaction("accept", () =>
    log.write(`${acceptancePrefix}${Bun.randomUUIDv7()}`, 0, 1, prepared),
  )
  if (event === undefined) throw new Error("an acceptance is one event")
  // Behind the event: a crash in between leaves the findings, and they can be accepted again.
  const { anchorsDirectory, place, identity } = parts
  const ids = [identity.workspaceId, ...othersAnchoredAt(anchorsDirectory, place, identity.workspaceId)]
  for (const id of ids) keepAside(anchorPath(anchorsDirectory, id))
  startAnchors(parts)
  return { ...given, findings, position: event.position, at: event.at }
}

const findingsMax = 20

/** Nothing of it is removed: it says what was there. */
function keepAside(path: string): void {
  if (!existsSync(path)) return
  let count = 1
  while (existsSync(`${path}.accepted-${count}`)) count += 1
  renameSync(path, `${path}.accepted-${count}`)
}

function nothingToAccept(path: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: "the history matches its anchors, so there is nothing to accept",
    where: path,
    hint: "`acode audit verify` names what else does not match; events that were changed cannot be accepted",
  })
}
