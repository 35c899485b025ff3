import type { LogRow } from "./checker-log.ts"

/** I1 for sessions: what was begun has exactly one end, once the session itself has one. */
export function sessionViolations(log: readonly LogRow[]): string[] {
  const streams = Map.groupBy(
    log.filter(row => row.stream.startsWith("ses_")),
    row => row.stream,
  )
  return [...streams].flatMap(([id, rows]) => [
    ...endViolations(id, rows),
    ...callViolations(rows),
    ...stepViolations(id, rows),
  ])
}

/** Its first event says that it begins, and nothing but an undoing comes after its end. */
function endViolations(id: string, rows: readonly LogRow[]): string[] {
  const types = rows.map(row => row.type)
  const last = types.filter(type => type !== "session.undone").at(-1) ?? "nothing"
  const found: string[] = []
  if (types[0] !== "session.started") found.push(`I1 ${id} begins with ${types[0]}`)
  if (count(types, "session.started") > 1) found.push(`I1 ${id} begins more than once`)
  if (last !== "session.finished" && last !== "session.rested") found.push(`I1 ${id} ends with ${last}`)
  // Each further request may end a session that had ended before.
  if (count(types, "session.finished") > 1 + count(types, "request.added"))
    found.push(`I1 ${id} ends more than once`)
  return found
}

function callViolations(rows: readonly LogRow[]): string[] {
  const hasEnded = rows.some(row => row.type === "session.finished")
  const ids = (type: string) => rows.filter(row => row.type === type).map(row => String(row.parsed["callId"]))
  const requested = ids("tool_call.requested")
  const started = ids("tool_call.started")
  const settled = ids("tool_call.settled")
  return [...new Set([...requested, ...started, ...settled])].flatMap(id => {
    const [asked, begun, ended] = [count(requested, id), count(started, id), count(settled, id)]
    const isWhole = asked === 1 && begun <= 1 && (ended === 1 || (ended === 0 && !hasEnded))
    return isWhole ? [] : [`I1 ${id} was requested ${asked}, started ${begun} and settled ${ended} times`]
  })
}

function stepViolations(id: string, rows: readonly LogRow[]): string[] {
  if (rows.some(row => row.type === "session.started" && row.parsed["lane"] === "agent"))
    return agentStepViolations(id, rows)
  const hasEnded = rows.some(row => row.type === "session.finished")
  const indexes = (type: string) =>
    rows.filter(row => row.type === type).map(row => String(row.parsed["index"]))
  const [started, finished] = [indexes("step.started"), indexes("step.finished")]
  return [...new Set([...started, ...finished])].flatMap(index => {
    const [begun, ended] = [count(started, index), count(finished, index)]
    const isWhole = begun === 1 && (ended === 1 || (ended === 0 && !hasEnded))
    return isWhole ? [] : [`I1 step ${index} of ${id} started ${begun} and finished ${ended} times`]
  })
}

/** A step that failed may be begun again, and another plan counts its steps anew: but never two ends in a row. */
function agentStepViolations(id: string, rows: readonly LogRow[]): string[] {
  const active = new Set<string>()
  return rows.flatMap(({ type, parsed }) => {
    const index = String(parsed["index"])
    if (type === "step.started") {
      if (active.has(index)) return [`I1 step ${index} of ${id} was begun while it was under way`]
      active.add(index)
    }
    if (type === "step.finished" && !active.delete(index))
      return [`I1 step ${index} of ${id} ended and was not under way`]
    return []
  })
}

function count(all: readonly string[], one: string): number {
  return all.filter(other => other === one).length
}

interface Started {
  readonly callId: string
  readonly approvalId: string | null
  readonly decision: { readonly decision: string }
}

/** I10: whatever policy asked about was granted before it was begun, and no answer was used twice. */
export function approvalViolations(log: readonly LogRow[]): string[] {
  const answers = new Map<string, string>()
  const used = new Set<string>()
  return log.flatMap(row => {
    if (row.type === "approval.answered") {
      const id = String(row.parsed["approvalId"])
      if (!answers.has(id)) answers.set(id, String(row.parsed["answer"]))
    }
    // An answer may have been used in a lost part of the history: the question has to be answered again.
    if (row.type === "history.accepted") answers.clear()
    if (row.type !== "tool_call.started") return []
    const { callId, approvalId, decision } = row.parsed as unknown as Started
    if (approvalId === null)
      return decision.decision === "ask" ? [`I10 ${callId} was begun without a question`] : []
    const found: string[] = []
    if (answers.get(approvalId) !== "granted")
      found.push(`I10 ${callId} was begun on ${approvalId}, which says ${answers.get(approvalId)}`)
    if (used.has(approvalId)) found.push(`I10 ${approvalId} was used again by ${callId}`)
    used.add(approvalId)
    return found
  })
}

interface Approved {
  readonly approvalId: string
  readonly planHash: string
  readonly expiresAt: string
}

interface Proposed {
  readonly version: number
  readonly planHash: string
  readonly plan: unknown
}

/** I10 for whole plans: what ran was approved before it ran, as the events say and whatever the tables say. */
export function planViolations(log: readonly LogRow[]): string[] {
  const granted = new Set<string>()
  const approvals = new Map<string, Approved>()
  const proposed = new Map<string, Map<string, Proposed>>()
  const approvedHashes = new Map<string, Set<string>>()
  return log.flatMap(row => {
    const { type, stream, parsed } = row
    if (type === "approval.answered" && parsed["answer"] === "granted")
      granted.add(String(parsed["approvalId"]))
    if (type === "history.accepted") approvals.clear()
    if (type === "plan.revoked") approvals.delete(String(parsed["approvalId"]))
    if (type === "session.started" && parsed["lane"] === "plan") return runViolations(row, approvals)
    if (type === "plan.proposed") {
      const plan = parsed as unknown as Proposed
      proposed.set(stream, (proposed.get(stream) ?? new Map()).set(plan.planHash, plan))
    }
    if (type !== "plan.approved") return []
    const approved = parsed as unknown as Approved
    if (stream.startsWith("apr_")) {
      approvals.set(approved.approvalId, approved)
      return []
    }
    const known = approvedHashes.get(stream) ?? new Set<string>()
    approvedHashes.set(stream, known)
    const found: string[] = []
    if (!proposed.get(stream)?.has(approved.planHash))
      found.push(`I10 ${stream} approves a plan that was not proposed`)
    // Another plan that asks for no more keeps what was granted once.
    const isReading = onlyReads(proposed.get(stream)?.get(approved.planHash))
    if (!granted.has(approved.approvalId) && known.size === 0 && !isReading)
      found.push(`I10 ${stream} approves a plan that was not granted`)
    if (!isReading) known.add(approved.planHash)
    return found
  })
}

/** A plan that lists nothing but reading needs no person. */
function onlyReads(proposed: Proposed | undefined): boolean {
  const text = JSON.stringify(proposed?.plan ?? null)
  const names = [...text.matchAll(/"(?:action|tool)":"(\w+)"/g)].map(([, name = ""]) => name)
  const isListed = /"(?:write|commands|hosts)":\[[^\]]/.test(text)
  return /"intent":"(?:READ|QUERY|EXPLAIN)"/.test(text) && !isListed && names.every(name => reading.has(name))
}

const reading = new Set([
  ...["READ_FILE", "ANALYZE_CODE", "read_file", "file_read", "list_directory", "search_code", "file_search"],
  ...["glob", "file_glob", "symbols_in_file", "references_to_symbol_name", "use_skill"],
  "references_from_file_to_symbol_name",
])

/** A record of a session that ran under no approval is one that a test made by hand. */
function runViolations({ stream, at, parsed }: LogRow, approvals: ReadonlyMap<string, Approved>): string[] {
  const id = parsed["approvalId"]
  if (typeof id !== "string") return []
  const approved = approvals.get(id)
  if (approved === undefined) return [`I10 ${stream} ran under ${id}, which approves no plan`]
  if (approved.planHash !== parsed["planHash"]) return [`I10 ${stream} ran another plan than ${id} approves`]
  return approved.expiresAt > at ? [] : [`I10 ${stream} ran when ${id} was over`]
}
