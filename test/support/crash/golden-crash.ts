import { check } from "../checker/checker.ts"
import type { LogRow } from "../checker/checker-log.ts"
import { allRows, differences, sessionRows } from "../plan/plan-report.ts"
import { type FileTree, readFileTree } from "../workspace/file-tree.ts"
import { type SavedWorkspace, savedWorkspace } from "../workspace/saved-workspace.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"
import { goldenScript, ledgerFile, writeGoldenSession } from "./golden-session.ts"

/**
 * The golden session runs in three processes, because it rests twice for an answer: from nothing to the question about
 * the plan, from its answer to the question about a change, from there to the end.
 */
export const legs = ["begun", "planned", "changed"] as const
export type Leg = (typeof legs)[number]

/** One point of the session: the n-th that the process of this leg reaches. */
export interface CrashPoint {
  readonly leg: Leg
  readonly point: number
}

export interface GoldenRoom extends Disposable {
  readonly saved: SavedWorkspace
  /** The files after an uninterrupted run. */
  readonly tree: FileTree
  /** The recorded events of that run's session. */
  readonly rows: readonly LogRow[]
  /** Puts everything back to before the leg, with its question answered. */
  restore(leg: Leg): Promise<void>
}

/** Runs the session once without an interruption; how it was before each leg is saved under the leg's name. */
export async function goldenRoom(): Promise<GoldenRoom> {
  const saved = savedWorkspace()
  writeGoldenSession(saved.workspace)
  for (const [index, leg] of legs.entries()) {
    saved.save(leg)
    const { exitCode, stdout, stderr } = await drive(saved, {})
    const expected = index === legs.length - 1 ? 0 : 10
    if (exitCode !== expected) throw new Error(`leg ${leg} exits ${exitCode}: ${stdout}${stderr}`)
  }
  return {
    saved,
    tree: readFileTree(saved.workspace.root),
    rows: sessionRows(saved.workspace),
    restore: answeredLegs(saved),
    [Symbol.dispose]: () => saved[Symbol.dispose](),
  }
}

/** An answer holds for ten minutes only, so it is given anew from time to time. */
const answerUsedMs = 240_000

function answeredLegs(saved: SavedWorkspace): (leg: Leg) => Promise<void> {
  const answeredAt = new Map<Leg, number>()
  return async leg => {
    const name = `${leg}-answered`
    if (performance.now() - (answeredAt.get(leg) ?? Number.NEGATIVE_INFINITY) < answerUsedMs) {
      saved.restore(name)
      return
    }
    saved.restore(leg)
    await answerQuestions(saved)
    saved.save(name)
    answeredAt.set(leg, performance.now())
  }
}

/** Dies at the point; false when the leg is over before it. */
export async function crashGolden(room: GoldenRoom, { leg, point }: CrashPoint): Promise<boolean> {
  const { saved } = room
  await room.restore(leg)
  const { signal } = await drive(saved, { ACODE_FAILPOINT: String(point) })
  return signal === "SIGKILL"
}

/** Answers open questions and continues the session, or starts it when there is none. */
async function drive(saved: SavedWorkspace, env: Readonly<Record<string, string>>) {
  const { workspace } = saved
  await answerQuestions(saved)
  return saved.acode(nextCommand(workspace), env)
}

/** Dies at a point of the resume; where a command was cut off, of the one that restores what it changed. */
export async function crashAgain(saved: SavedWorkspace, point: number): Promise<void> {
  if (isInCommand(saved.workspace)) await drive(saved, {})
  await drive(saved, { ACODE_FAILPOINT: String(point) })
}

function isInCommand(workspace: TempWorkspace): boolean {
  const rows = sessionRows(workspace)
  const settled = new Set(
    rows.filter(({ type }) => type === "tool_call.settled").map(({ parsed }) => parsed["callId"]),
  )
  return rows.some(
    ({ type, parsed }) =>
      type === "tool_call.started" && parsed["effectClass"] === "run" && !settled.has(parsed["callId"]),
  )
}

/** Returns the command that a person types next who knows that no other program wrote in the workspace. */
export function nextCommand(workspace: TempWorkspace): readonly string[] {
  const script = ["--script", goldenScript(workspace)]
  const rows = sessionRows(workspace)
  if (rows.length === 0) return ["run", "everything", ...script]
  const last = rows.at(-1)
  const isAsked = last?.type === "session.rested" && String(last.parsed["reason"]).includes("--redo-command")
  return ["resume", ...(isAsked ? ["--redo-command"] : []), ...script]
}

async function answerQuestions(saved: SavedWorkspace): Promise<void> {
  for (const id of openQuestions(saved.workspace)) {
    const { exitCode, stderr } = await saved.acode(["approve", id])
    if (exitCode !== 0) throw new Error(`approve ${id}: ${stderr}`)
  }
}

function openQuestions(workspace: TempWorkspace): readonly string[] {
  const rows = allRows(workspace)
  const ids = (type: string) =>
    rows.filter(row => row.type === type).map(row => String(row.parsed["approvalId"]))
  const answered = new Set(ids("approval.answered"))
  return ids("approval.requested").filter(id => !answered.has(id))
}

/** More often than the session rests, after any crash. */
const drivesMax = 8

/** Continues until the session has ended, then compares everything with the uninterrupted run. */
export async function goldenViolations(room: GoldenRoom): Promise<string[]> {
  const { saved, tree } = room
  const { workspace } = saved
  const told: string[] = []
  for (let drives = 0; drives < drivesMax && !isFinished(workspace); drives++) {
    const { exitCode, signal, stderr } = await drive(saved, {})
    told.push(`${signal ?? exitCode}${stderr === "" ? "" : ` ${stderr}`}`)
  }
  const exit = told.at(-1) ?? "0"
  const audit = await saved.acode(["audit", "verify"])
  return [
    ...(exit === "0" ? [] : [`it ended with ${told.join(", then ")}`]),
    ...endViolations(workspace),
    ...differences("the files are to be as without a crash", tree, readFileTree(workspace.root)),
    ...ledgerViolations(workspace),
    ...callViolations(workspace),
    ...(await check(workspace)),
    ...(audit.exitCode === 0 ? [] : [`audit verify exits ${audit.exitCode}: ${audit.stderr}`]),
  ]
}

function isFinished(workspace: TempWorkspace): boolean {
  return sessionRows(workspace).some(({ type }) => type === "session.finished")
}

function endViolations(workspace: TempWorkspace): string[] {
  const rows = sessionRows(workspace)
  const sessions = new Set(rows.map(({ stream }) => stream))
  const ends = rows.filter(({ type }) => type === "session.finished").map(({ parsed }) => parsed)
  const [end] = ends
  return [
    ...(sessions.size === 1 ? [] : [`${sessions.size} sessions for one request`]),
    ...(end?.["state"] === "COMPLETED" && end["exitCode"] === 0
      ? []
      : [`the session ended as ${end?.["state"]} with ${end?.["exitCode"]}`]),
  ]
}

/** I2: no command took effect twice. */
function ledgerViolations({ root }: TempWorkspace): string[] {
  const lines = (readFileTree(root).get(ledgerFile)?.content ?? "").split("\n").filter(Boolean)
  return lines
    .filter((line, index) => lines.indexOf(line) !== index)
    .map(line => `I2 the command "${line}" took effect twice`)
}

/** I2: of all calls a model asked for under one id, at most one took place. */
function callViolations(workspace: TempWorkspace): string[] {
  const rows = sessionRows(workspace)
  const asked = new Map<string, string>()
  for (const { type, parsed } of rows) {
    if (type !== "tool_call.requested") continue
    const { modelCallId, stepId } = parsed["origin"] as {
      readonly modelCallId: string | null
      readonly stepId: string | null
    }
    if (modelCallId !== null) asked.set(String(parsed["callId"]), `${stepId}/${modelCallId}`)
  }
  const done = rows
    .filter(({ type, parsed }) => type === "tool_call.settled" && parsed["certainty"] === "done")
    .flatMap(({ parsed }) => asked.get(String(parsed["callId"])) ?? [])
  return done
    .filter((call, index) => done.indexOf(call) !== index)
    .map(call => `I2 the call ${call} took place twice`)
}
