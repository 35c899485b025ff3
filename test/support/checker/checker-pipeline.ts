import type { LogRow } from "./checker-log.ts"

/**
 * I3 and I4 for sessions of the agent lane, spelled a second time: a check that shares the product's table proves
 * nothing.
 */
export function pipelineViolations(log: readonly LogRow[]): string[] {
  const streams = Map.groupBy(
    log.filter(row => row.stream.startsWith("ses_")),
    row => row.stream,
  )
  return [...streams]
    .filter(([, rows]) => rows[0]?.parsed["lane"] === "agent")
    .flatMap(([id, rows]) => [
      ...edgeViolations(id, rows),
      ...byRequest(rows).flatMap(each => completionViolations(id, each)),
    ])
}

/** Returns the events of each request of a session: nothing that was done for one proves anything about another. */
function byRequest(rows: readonly LogRow[]): readonly (readonly LogRow[])[] {
  const begins = [0, ...rows.flatMap(({ type }, index) => (type === "request.added" ? [index] : []))]
  return begins.map((from, at) => rows.slice(from, begins[at + 1]))
}

const edges: ReadonlySet<string> = new Set([
  ...["planner executor", "planner planner", "executor verifier", "executor executor"],
  ...["verifier reviewer", "verifier executor", "reviewer planner", "reviewer executor", "reviewer complete"],
  ...["planner complete", "executor complete"],
])

/** I3: only moves that exist, each from the stage that was entered last, and each target entered next. */
function edgeViolations(id: string, rows: readonly LogRow[]): string[] {
  let at = "nothing"
  let expected: string | null = "planner"
  return rows.flatMap(({ type, seq, parsed }) => {
    if (type === "stage.entered") {
      const stage = String(parsed["stage"])
      const isExpected = stage === expected || stage === at
      at = stage
      expected = null
      return isExpected ? [] : [`I3 ${id} enters the ${stage} at ${seq}`]
    }
    if (type === "request.added") expected = "planner"
    if (type !== "stage.transitioned") return []
    const [from, to] = [String(parsed["from"]), String(parsed["to"])]
    expected = to
    if (!edges.has(`${from} ${to}`)) return [`I3 ${id} moves from ${from} to ${to} at ${seq}`]
    return from === at ? [] : [`I3 ${id} moves from ${from} at ${seq}, but it is in the ${at}`]
  })
}

/** I4: done means that every stage succeeded, and that all of the last verification passed after the last change. */
function completionViolations(id: string, rows: readonly LogRow[]): string[] {
  const end = rows.find(({ type }) => type === "session.finished")
  if (end === undefined || end.parsed["state"] !== "COMPLETED") return []
  const { exitCode, unverified, answer } = end.parsed
  const last = rows.findLast(({ type }) => type === "stage.transitioned")?.parsed["from"]
  if (last === "planner" || last === "executor") {
    if (rows.some(isChange)) return [`I4 ${id} ends with an answer and changed files`]
    const isHonest = unverified === true && exitCode === (answer === undefined ? 41 : 0)
    return isHonest ? [] : [`I4 ${id} claims more than an answer`]
  }
  const found = ["planner", "executor", "verifier", "reviewer"]
    .filter(stage => !rows.some(row => isSuccess(row, stage)))
    .map(stage => `I4 ${id} is done without a ${stage} that succeeded`)
  if (exitCode !== 0 && exitCode !== 41) found.push(`I4 ${id} is done and exits ${exitCode}`)
  const isGranted = JSON.stringify(rows.map(({ parsed }) => parsed)).includes('"skipVerify":true')
  if (exitCode === 0 && unverified === true && !isGranted && answer === undefined)
    found.push(`I4 ${id} exits 0, and nothing was verified or answered`)
  if (unverified === true) return found
  const verifier = rows.findLast(
    ({ type, parsed }) => type === "stage.entered" && parsed["stage"] === "verifier",
  )
  const made = rows.filter(({ type, seq }) => type === "check.finished" && seq > (verifier?.seq ?? 0))
  const checks = [
    ...Map.groupBy(made, ({ parsed }) => `${parsed["taskId"]} ${parsed["criterionId"]}`).values(),
  ]
    .flatMap(each => each.slice(-1))
    .toSorted((one, other) => one.seq - other.seq)
  const change = rows.findLast(isChange)
  if (!checks.some(({ parsed }) => parsed["kind"] !== "judgement"))
    found.push(`I4 ${id} is done and no program checked anything`)
  if (checks.some(({ parsed }) => parsed["verdict"] !== "passed"))
    found.push(`I4 ${id} is done with a failure`)
  if ((checks.at(-1)?.seq ?? 0) < (change?.seq ?? 0))
    found.push(`I4 ${id} changed files after its verification`)
  if (checks.some(({ parsed }) => parsed["treeDigest"] !== end.parsed["treeDigest"]))
    found.push(`I4 ${id} is done with another tree than it verified`)
  return found
}

function isSuccess({ type, parsed }: LogRow, stage: string): boolean {
  return type === "stage.finished" && parsed["stage"] === stage && parsed["status"] === "success"
}

function isChange({ type, parsed }: LogRow): boolean {
  if (type !== "tool_call.settled") return false
  const { value = [], count = 0 } = parsed["changes"] as {
    readonly value?: unknown[]
    readonly count?: number
  }
  return value.length > 0 || count > 0
}
