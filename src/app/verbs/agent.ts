import { systemIds } from "../../base/clock.ts"
import type { ErrorCode } from "../../domain/error-codes.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { SessionResumed } from "../../domain/events/pipeline-events.ts"
import { SessionStarted } from "../../domain/events/session-events.ts"
import { Failure } from "../../domain/failure.ts"
import { fold } from "../../domain/pipeline/fold.ts"
import { skippableSteps } from "../../domain/pipeline/fold-stages.ts"
import type { PipelineState, Rest } from "../../domain/pipeline/state.ts"
import { sessionProblems, type ValidationProblem } from "../../domain/pipeline/validation.ts"
import type { PipelineSettings } from "../../domain/pipeline-settings.ts"
import { driveAgent, type Stopping } from "../../engine/lanes/agent-runner.ts"
import { type DrivenSession, driveSession } from "../../gate/session-log.ts"
import type { Store } from "../../store/contract.ts"
import { isProcessAlive, processIdentity } from "../../store/process-identity.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import { readGitState } from "../../workspace/git.ts"
import { recordedOutputs } from "../own-outputs.ts"
import { readYes } from "../policy-yes.ts"
import { contentsOf } from "../recorded-contents.ts"
import { requestControl } from "../session-control.ts"
import { userName } from "../user-name.ts"
import { type WiredAgent, wireAgent } from "../wiring/agent.ts"
import type { AgentSurface } from "../wiring/agent-surface.ts"
import type { SaidOfModels } from "../wiring/session-models.ts"
import { tidyUp } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"

/** The agent lane: a goal, and a session that works on it until it is done or needs somebody. */
export interface AgentVerbs {
  run(goal: string, settings: PipelineSettings, surface: AgentSurface): Promise<AgentEnd>
  resume(sessionId: string, request: ResumeRequest, surface: AgentSurface): Promise<AgentEnd>
  /** What the events of a session say; null for other lanes. */
  agentState(sessionId: string): Promise<PipelineState | null>
  /** How many steps the present plan of a session has, those that fix something included, and how many are done. */
  stepCounts(session: SessionSummary): Promise<StepCounts>
  /** Whether a process of this machine works on it now. */
  isDriven(sessionId: string): Promise<boolean>
  /** Which rules the events of a session break. */
  sessionProblems(sessionId: string): Promise<readonly ValidationProblem[]>
  /** Tells the process that drives it, or does it itself when nobody drives it. */
  control(sessionId: string, control: "pause" | "cancel", reason: string): Promise<"told" | "done">
}

export interface ResumeRequest {
  /** What changes; everything else stays as it was recorded. */
  readonly change: (settings: PipelineSettings) => PipelineSettings
  readonly skipsFailed: boolean
  /** What changed while an interrupted command ran is restored, and the command runs again. */
  readonly redoesCommand?: boolean
  /** Which of the model and the mode was said now; without it both are as they were recorded. */
  readonly said?: SaidOfModels
}

const nothingSaid: SaidOfModels = { model: false, mode: false }

export interface AgentEnd extends Rest {
  readonly sessionId: string
}

export function agentVerbs(wiring: Wiring): AgentVerbs {
  return {
    run: (goal, settings, surface) => start(wiring, goal, settings, surface),
    resume: (id, request, surface) => resume(wiring, id, request, surface),
    agentState: async id => {
      const store = await wiring.existingStore()
      return store === null ? null : fold(store.log.each(id), contentsOf(store.artifacts))
    },
    stepCounts: async session => stepCounts(await wiring.existingStore(), session),
    isDriven: async id => {
      const found = (await wiring.existingStore())?.sessions.find(id) ?? null
      return found !== null && isDriven(found)
    },
    sessionProblems: async id => {
      const store = await wiring.existingStore()
      if (store === null) return []
      // What was changed is named by the audit.
      const events = store.noteChanged(() => store.log.read(id))
      return events === null ? [] : sessionProblems(events, contentsOf(store.artifacts))
    },
    control: (id, control, reason) => controlSession(wiring, id, control, reason),
  }
}

type StepCounts = Pick<SessionSummary, "stepsDone" | "stepCount">

/** The table counts every end of a step; plans that were made again and steps that fix something need the events. */
function stepCounts(store: Store | null, { id, lane, stepsDone, stepCount }: SessionSummary): StepCounts {
  if (store === null || lane !== "agent") return { stepsDone, stepCount }
  const contents = { ...contentsOf(store.artifacts), text: () => "" }
  const steps = store.noteChanged(() => fold(store.log.each(id), contents)?.steps ?? [])
  if (steps === null) return { stepsDone, stepCount }
  return { stepsDone: steps.filter(({ status }) => status === "done").length, stepCount: steps.length }
}

async function start(
  wiring: Wiring,
  goal: string,
  settings: PipelineSettings,
  surface: AgentSurface,
): Promise<AgentEnd> {
  if (goal.trim() === "")
    throw refused("usage", "ACODE-CLI-003", "the goal is empty", "say what is to be done")
  wiring.stopping = surface.stopping.drain
  const { lookForModels } = await import("../wiring/session-models.ts")
  const asked = { settings, before: null, said: { model: true, mode: true } }
  // Who waits for the workspace wants to know what the server has then.
  using early = surface.waits ? null : await lookForModels(wiring, asked, surface)
  const store = await wiring.store()
  const session = await take(store, systemIds.next("ses"), surface)
  try {
    const { workspace } = await wiring.workspace()
    wiring.mode = settings.mode
    const { policyVersion } = await wiring.policy()
    using models = early ?? (await lookForModels(wiring, asked, surface))
    const chosen = await models.choose()
    await using agent = await wireAgent(
      wiring,
      { driven: session, settings: chosen, isResumed: false },
      surface,
    )
    agent.begin([
      newEvent(SessionStarted, {
        lane: "agent",
        goal: (await wiring.redactor([])).redactText(goal),
        ...{ planId: null, planHash: null, approvalId: null, plan: null, stepCount: 0, policyVersion },
        agent: chosen,
        treeDigest: (await workspace.tree()).digest,
        outputs: [...wiring.ownOutputs],
        ...readGitState(wiring.root.path),
        owner: processIdentity(),
        ...models.takeCalls(),
      }),
    ])
    return { sessionId: session.sessionId, ...(await driven(wiring, agent, surface)) }
  } finally {
    session.release()
    store.anchor()
  }
}

async function resume(
  wiring: Wiring,
  sessionId: string,
  { change, skipsFailed, redoesCommand = false, said = nothingSaid }: ResumeRequest,
  surface: AgentSurface,
): Promise<AgentEnd> {
  wiring.stopping = surface.stopping.drain
  const store = await wiring.store()
  const session = await take(store, sessionId, surface)
  try {
    store.assertGenuine(sessionId)
    const state = fold(store.log.each(sessionId), contentsOf(store.artifacts))
    checkResumable(sessionId, state, { skipsFailed, redoesCommand })
    // Only to tell what the call did: once the output is deleted, any other file may be given its number.
    if (state.openCalls.length > 0)
      for (const output of recordedOutputs(store.log.each(sessionId))) wiring.ownOutputs.add(output)
    const { lookForModels } = await import("../wiring/session-models.ts")
    const changed = { settings: change(state.settings), before: state.settings, said }
    using models = await lookForModels(wiring, changed, surface)
    const settings = await models.choose()
    wiring.mode = settings.mode
    // Dangerous scopes were acknowledged when they were recorded.
    if (settings.yes !== null) wiring.yes ??= readYes(settings.yes, true)
    await using agent = await wireAgent(
      wiring,
      { driven: session, settings, isResumed: true, known: state },
      surface,
    )
    const owner = processIdentity()
    const how = { settings, skipsFailed, ...(redoesCommand ? { redoesCommand } : {}) }
    const resumed = { ...how, by: userName(), owner, ...models.takeCalls() }
    agent.begin([newEvent(SessionResumed, resumed)])
    return { sessionId, ...(await driven(wiring, agent, surface)) }
  } finally {
    session.release()
    store.anchor()
  }
}

/** Refuses what cannot go on, or not in the way that was asked for. */
function checkResumable(
  sessionId: string,
  state: PipelineState | null,
  { skipsFailed, redoesCommand }: { readonly skipsFailed: boolean; readonly redoesCommand: boolean },
): asserts state is PipelineState {
  if (state === null)
    throw refused(
      "usage",
      "ACODE-CLI-004",
      "it is not a session of the agent lane",
      "a plan run is never resumed",
    )
  if (state.finished !== null)
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      `the session has ended: ${state.finished.reason}`,
      "start another one",
    )
  if (skipsFailed && skippableSteps(state).length === 0)
    throw refused(
      "usage",
      "ACODE-CLI-003",
      "no step of the session has failed or is stuck, so there is none to skip",
      `\`acode status ${sessionId}\` tells what it waits for`,
    )
  if (redoesCommand && !state.openCalls.some(({ effectClass }) => effectClass === "run"))
    throw refused(
      "usage",
      "ACODE-CLI-003",
      "no command of the session was interrupted that could be run again",
      `\`acode status ${sessionId}\` tells what it waits for`,
    )
}

async function driven(wiring: Wiring, agent: WiredAgent, surface: AgentSurface): Promise<Rest> {
  const rest = await driveAgent(agent.parts, surface.stopping)
  if (!surface.stopping.drain.aborted) await tidyUp(wiring, surface.notice)
  return rest
}

type Waiting = Pick<AgentSurface, "waits" | "onWaiting"> & { readonly stopping: Stopping | null }

/** Two processes never drive one session, nor two sessions one workspace. */
async function take(
  store: Store,
  sessionId: string,
  { waits, stopping, onWaiting }: Waiting,
): Promise<DrivenSession> {
  const parts = { log: store.log, leases: store.leases, owner: processIdentity() }
  for (;;) {
    try {
      return driveSession(parts, sessionId)
    } catch (error) {
      if (!(error instanceof Failure) || !heldCodes.includes(error.report.code)) throw error
      if (!waits) throw error.report.code === workspaceHeld ? held(store, error) : error
      if (stopping?.drain.aborted) throw new Failure({ ...error.report, kind: "interrupted" })
      onWaiting?.(drivenIn(store))
      await Bun.sleep(waitMs)
    }
  }
}

const waitMs = 200
const workspaceHeld = "ACODE-ORCH-008"
/** Also while its owner writes a file. */
const heldCodes: readonly string[] = [workspaceHeld, "ACODE-DB-002"]

function held(store: Store, error: Failure): Failure {
  const running = drivenIn(store)
  if (running === null) return error
  const message = `session ${running.id} works in this workspace (process ${running.owner.pid})`
  return new Failure({ ...error.report, message, hint: "wait for it, or start with --wait" })
}

function drivenIn(store: Store): SessionSummary | null {
  return store.sessions.list({ limit: 20 }).find(isDriven) ?? null
}

async function controlSession(
  wiring: Wiring,
  sessionId: string,
  control: "pause" | "cancel",
  reason: string,
): Promise<"told" | "done"> {
  const store = await wiring.store()
  store.assertGenuine(sessionId)
  const found = store.sessions.find(sessionId)
  if (found?.endedAt != null)
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      `the session has ended: ${found.reason ?? found.state}`,
      "`acode session show` tells how; `acode session undo` puts back what it did",
      sessionId,
    )
  const told = { by: userName(), reason }
  if (found !== null && isDriven(found)) {
    requestControl(store, sessionId, control, told)
    return "told"
  }
  if (control === "pause")
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      "nobody works on the session",
      "`acode resume` goes on with it",
      sessionId,
    )
  const session = await take(store, sessionId, { waits: false, stopping: null })
  try {
    const { endCancelled } = await import("./cancelled-session.ts")
    await endCancelled(wiring, store, session, told)
    return "done"
  } finally {
    session.release()
    store.anchor()
  }
}

function isDriven({ exitCode, owner }: SessionSummary): boolean {
  return exitCode === null && isProcessAlive(owner)
}

function refused(kind: "usage", code: ErrorCode, message: string, hint: string, where?: string): Failure {
  return new Failure({ kind, code, message, hint, ...(where === undefined ? {} : { where }) })
}
