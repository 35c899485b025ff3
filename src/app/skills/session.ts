import { join } from "node:path"
import { systemIds } from "../../base/clock.ts"
import { counted } from "../../base/text.ts"
import { keep, readKept } from "../../config/kept-file.ts"
import type { Config } from "../../config/schema.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { SessionFinished, SessionStarted } from "../../domain/events/session-events.ts"
import { type PipelinePlan, PipelinePlanned, type SkillSettings } from "../../domain/events/skill-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import { Failure } from "../../domain/failure.ts"
import { ExecutionError, executionExitCode } from "../../domain/skill/execution-error.ts"
import type { OutputPlan } from "../../domain/skill/output-path.ts"
import { type SkillState, skillState, type TaskStep } from "../../domain/skill/skill-state.ts"
import { isSquadName, type SkillContent } from "../../domain/skill/skill-text.ts"
import { openCalls, settleInterrupted } from "../../gate/recovery.ts"
import { driveSharingSession, type SharingSession } from "../../gate/session-log.ts"
import type { CollectedCalls } from "../../models/external-call-log.ts"
import { findSkill, loadSkill, SkillProblem } from "../../skills/find-skills.ts"
import { type RecordedParts, taskFailed } from "../../skills/recorded-claim.ts"
import { heldWorkspace, RecordedWorkspace } from "../../skills/recorded-workspace.ts"
import type { TaskFolder } from "../../skills/task-folder.ts"
import { listTaskRows, type TaskRow } from "../../skills/task-list.ts"
import type { Store, StoredEvent } from "../../store/contract.ts"
import { processIdentity } from "../../store/process-identity.ts"
import { readGitState } from "../../workspace/git.ts"
import { approvalDesk } from "../approval-desk.ts"
import { contentsOf } from "../recorded-contents.ts"
import { laterWritesOf } from "../session-recovery.ts"
import { assertStateOutside } from "../state/state-directory.ts"
import { userName } from "../user-name.ts"
import { wireGate } from "../wiring/gate.ts"
import { decodeYaml, skillPlaces } from "../wiring/skills.ts"
import type { Wiring } from "../wiring/wire.ts"
import { hasWritten, pipelineSessionOf } from "./task-history.ts"

export interface SkillSessionRequest {
  readonly goal: string
  readonly settings: SkillSettings
  /** The number of steps that are expected. */
  readonly stepCount: number
  readonly takeCalls: CollectedCalls["take"]
  /** The user agreed that outputs replace files which their tasks did not write. */
  readonly mayOverwrite: boolean
  /** Set for a pipeline. */
  readonly plan?: PipelinePlan
  readonly onEvent: (event: StoredEvent) => void
  readonly notice: (text: string) => void
  readonly onBusy: () => void
}

/** A session of the skills lane that this process drives. */
export interface SkillSession extends Disposable {
  readonly id: string
  /** Returns the squad and the configured paths of a skill. */
  readonly planOf: RecordedParts["planOf"]
  readonly skill: RecordedParts["skill"]
  readonly log: SharingSession
  readonly workspace: RecordedWorkspace
  /** Records how the session ended, unless nothing of it was recorded. */
  finish(ending: SkillEnding): void
}

export interface SkillEnding {
  readonly state: "COMPLETED" | "FAILED" | "CANCELLED"
  readonly reason: string
  readonly exitCode: number
  readonly code: ErrorCode | null
}

/** Opens a new session; what begins it is recorded with its first step. */
export async function newSkillSession(wiring: Wiring, request: SkillSessionRequest): Promise<SkillSession> {
  return opened(wiring, systemIds.next("ses"), async log => wired(wiring, log, request, null))
}

/**
 * Opens a session of a process that died, once what that process left open is settled. Null when another process
 * drives it or has finished it.
 */
export async function reopenSkillSession(
  wiring: Wiring,
  id: string,
  request: Omit<SkillSessionRequest, "goal" | "settings" | "stepCount" | "takeCalls">,
): Promise<{ readonly session: SkillSession; readonly state: SkillState } | null> {
  const store = await wiring.store()
  try {
    return await opened(wiring, id, async driven => {
      const log = announcing(driven, request.onEvent)
      store.assertGenuine(id)
      if (skillState(store.log.each(id))?.isOver !== false) return null
      await settleOpenCalls(wiring, log, request.onBusy)
      const state = skillState(store.log.each(id))
      if (state === null) return null
      const settings = state.settings ?? { mode: "local-only" as const, server: null }
      const whole = { ...request, goal: "", settings, stepCount: 0, takeCalls: () => ({}) }
      return { session: await wired(wiring, driven, whole, state), state }
    })
  } catch (error) {
    if (error instanceof Failure && error.report.code === "ACODE-ORCH-008") return null
    throw error
  }
}

/** Records the end of a session whose steps are over, and gives it back. */
export async function finishSkillSession(wiring: Wiring, session: SkillSession): Promise<void> {
  using _ = session
  await finishSteps(wiring, session, null)
}

export async function finishSteps(
  wiring: Wiring,
  session: SkillSession,
  signal: AbortSignal | null,
): Promise<void> {
  const { log } = await wiring.store()
  session.finish(endingOf(skillState(log.each(session.id))?.steps ?? [], signal?.aborted === true))
}

function endingOf(steps: readonly TaskStep[], isStopped: boolean): SkillEnding {
  const done = steps.filter(({ end }) => end?.isSuccess === true).length
  const reason = `${done} of ${counted(steps.length, "task")} completed`
  const exitCode = executionExitCode(steps.map(({ end }) => end?.error ?? null))
  if (isStopped)
    return {
      state: "CANCELLED",
      reason: `interrupted; ${reason}`,
      exitCode: exitCodes.interrupted.code,
      code: taskFailed,
    }
  if (done === steps.length) return { state: "COMPLETED", reason, exitCode: 0, code: null }
  return { state: "FAILED", reason, exitCode, code: taskFailed }
}

async function opened<Opened>(
  wiring: Wiring,
  id: string,
  wire: (driven: SharingSession) => Promise<Opened>,
): Promise<Opened> {
  const store = await wiring.store()
  const parts = { log: store.log, leases: store.leases, owner: processIdentity() }
  const driven = driveSharingSession(parts, id)
  let result: Opened | null = null
  try {
    result = await wire(driven)
    return result
  } finally {
    if (result === null) driven.release()
  }
}

/** Looks what became of the writes that the process was in the middle of. */
async function settleOpenCalls(wiring: Wiring, log: SharingSession, onBusy: () => void): Promise<void> {
  const store = await wiring.store()
  const calls = openCalls(store.log.each(log.sessionId))
  if (calls.length === 0) return
  const { workspace, checkpoints } = await wiring.workspace()
  const { artifacts, executions } = store
  const laterWrites = laterWritesOf(store, log.sessionId)
  const parts = { workspace, checkpoints, artifacts, executions, laterWrites }
  using _ = await heldWorkspace(log, onBusy)
  for (const call of calls) log.append((await settleInterrupted(parts, call)).events)
  wiring.faults.reach("skill.recovered")
}

function announcing(driven: SharingSession, onEvent: (event: StoredEvent) => void): SharingSession {
  return {
    ...driven,
    append: events => {
      const stored = driven.append(events)
      for (const event of stored) onEvent(event)
      return stored
    },
  }
}

async function wired(
  wiring: Wiring,
  driven: SharingSession,
  request: SkillSessionRequest,
  state: SkillState | null,
): Promise<SkillSession> {
  let hasBegun = state !== null
  const log = announcing(driven, event => {
    hasBegun = true
    request.onEvent(event)
  })
  const store = await wiring.store()
  const { values } = await wiring.config()
  const policy = await wiring.policy()
  const redactor = await wiring.redactor([])
  const { clock, faults } = wiring
  const beganMs = clock.monotonicMs()
  const goal = redactor.redactText(request.goal)
  const desk = denyingDesk(store, log.sessionId, clock, request.notice)
  const skill = skillReader(wiring, values)
  const planOf: RecordedParts["planOf"] = (name, content) => outputPlan(values, name, content)
  const workspace = new RecordedWorkspace(
    {
      session: log,
      gate: await wireGate(wiring, log, desk, request.notice),
      folder: await taskFolder(wiring),
      decide: policy.decide,
      artifacts: store.artifacts,
      recordedText: contentsOf(store.artifacts).text,
      redactText: text => redactor.redactText(text),
      skill,
      planOf,
      hasWritten: (taskId, path, sha256) => hasWritten(store, taskId, { path, sha256 }),
      pipelineOf: taskId => pipelineSessionOf(store, taskId, log.sessionId),
      mayOverwrite: request.mayOverwrite,
      begin: () => (hasBegun ? [] : beginning(wiring, { ...request, goal }, policy.policyVersion)),
      hasBegun: () => hasBegun,
      onBusy: request.onBusy,
      clock,
      faults,
    },
    state,
  )
  const finish = (ending: SkillEnding) => {
    if (!hasBegun) return
    if (skillState(store.log.each(log.sessionId))?.steps.some(({ end }) => end === null)) {
      request.notice(`${ending.reason}; ${unfinished}`)
      return
    }
    log.append([
      finishedEvent({ ...ending, reason: redactor.redactText(ending.reason) }, clock.monotonicMs() - beganMs),
    ])
    faults.reach("skill.finished")
  }
  const dispose = () => {
    log.release()
    if (hasBegun) store.anchor()
  }
  return { id: log.sessionId, log, workspace, planOf, skill, finish, [Symbol.dispose]: dispose }
}

const unfinished = "a task could not be ended: the next `acode agent run --pending` finishes it"

/** Returns a desk without a person: every question of policy is answered with a denial. */
function denyingDesk(
  { approvals }: Pick<Store, "approvals">,
  sessionId: string,
  clock: Wiring["clock"],
  notice: (text: string) => void,
) {
  return approvalDesk({
    approvals,
    isInteractive: false,
    whenNobody: "deny",
    timeoutMs: null,
    clock,
    sessionId,
    notice,
    by: userName(),
    prompt: async () => null,
  })
}

function beginning(
  { root }: Wiring,
  { goal, stepCount, settings, takeCalls, plan }: SkillSessionRequest,
  policyVersion: string,
): readonly NewEvent[] {
  const started = newEvent(SessionStarted, {
    ...nothingOfOtherLanes,
    goal,
    stepCount,
    policyVersion,
    skill: settings,
    ...readGitState(root.path),
    owner: processIdentity(),
    ...takeCalls(),
  })
  return [started, ...(plan === undefined ? [] : [newEvent(PipelinePlanned, plan)])]
}

function finishedEvent({ state, reason, exitCode, code }: SkillEnding, wallMs: number): NewEvent {
  return newEvent(SessionFinished, {
    state,
    reason,
    exitCode,
    unverified: true,
    ...(code === null ? {} : { code }),
    treeDigest: null,
    wallMs: Math.round(wallMs),
    toolMs: 0,
    waitMs: 0,
  })
}

const nothingOfOtherLanes = {
  lane: "skill" as const,
  planId: null,
  planHash: null,
  approvalId: null,
  plan: null,
  agent: null,
  treeDigest: null,
  outputs: [],
}

export async function taskFolder(wiring: Wiring): Promise<TaskFolder> {
  const { values } = await wiring.config()
  const { workspace } = await wiring.workspace()
  const { workspace: folder } = values.skills
  return { prefix: folder === "." ? "" : `${folder}/`, workspace }
}

/** Returns the tasks of the workspace; what is known of their files is kept in its state directory. */
export async function listedRows(wiring: Wiring): Promise<readonly TaskRow[]> {
  const folder = await taskFolder(wiring)
  const path = join(wiring.places.stateDirectory, "tasks.json")
  if (isStateInside(wiring)) return listTaskRows(folder, { read: () => null, write: () => undefined })
  return listTaskRows(folder, { read: () => readKept(path, keptBytesMax), write: text => keep(path, text) })
}

/** More than 100,000 tasks take. */
const keptBytesMax = 64 * 1024 * 1024

/** Returns true when the state lies in the workspace, where a repository could bring it along. */
function isStateInside({ places, root }: Wiring): boolean {
  try {
    assertStateOutside(places, root.path)
    return false
  } catch (error) {
    if (error instanceof Failure) return true
    throw error
  }
}

function skillReader({ root, request }: Wiring, values: Config): RecordedParts["skill"] {
  const places = skillPlaces(root.path, request.environment, values)
  return (name, taskId) => skillFor(places, name, taskId)
}

/** Throws ExecutionError SKILL_NOT_FOUND. */
export function skillFor(
  places: Parameters<typeof findSkill>[0],
  name: string,
  taskId: string,
): SkillContent {
  const found = findSkill(places, name)
  if (found === null) throw new ExecutionError(`no such skill: ${name}`, "SKILL_NOT_FOUND", taskId)
  try {
    return loadSkill(found, decodeYaml)
  } catch (error) {
    if (!(error instanceof SkillProblem)) throw error
    throw new ExecutionError(`the skill ${name} cannot be used: ${error.message}`, "SKILL_NOT_FOUND", taskId)
  }
}

/** The configuration says of which squad a skill is, else the skill does. */
function outputPlan({ skills }: Config, skill: string, content: SkillContent | null): OutputPlan {
  const configured = skills.squads.find(({ skills: names }) => names.includes(skill))
  const own = content?.metadata["squad"] ?? ""
  return {
    squad: configured?.name ?? (isSquadName(own) ? own : null),
    foundation: skills.foundation,
    context: skills.context,
  }
}
