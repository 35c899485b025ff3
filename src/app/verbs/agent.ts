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
import { addedRequest } from "../../engine/lanes/added-request.ts"
import { driveAgent, type Stopping } from "../../engine/lanes/agent-runner.ts"
import { type DrivenSession, driveSession } from "../../gate/session-log.ts"
import { repliesFlag } from "../../models/recorded.ts"
import type { Store } from "../../store/contract.ts"
import { processIdentity } from "../../store/process-identity.ts"
import type { SessionSummary } from "../../store/session/contract.ts"
import { readGitState } from "../../workspace/git.ts"
import { recordedOutputs } from "../own-outputs.ts"
import { readYes } from "../policy-yes.ts"
import { contentsOf } from "../recorded-contents.ts"
import { isDriven, requestControl } from "../session-control.ts"
import { userName } from "../user-name.ts"
import { type WiredAgent, wireAgent } from "../wiring/agent.ts"
import type { AgentSurface } from "../wiring/agent-surface.ts"
import type { ModelOverrides } from "../wiring/session-models.ts"
import { tidyUp } from "../wiring/upkeep.ts"
import type { Wiring } from "../wiring/wire.ts"

/** The agent lane: a goal, and a session that works on it until it is done or needs a person. */
export interface AgentVerbs {
  run(goal: string, settings: PipelineSettings, surface: AgentSurface): Promise<AgentEnd>
  resume(sessionId: string, request: ResumeRequest, surface: AgentSurface): Promise<AgentEnd>
  /** Returns the state that follows from the events of a session; null for other lanes. */
  agentState(sessionId: string): Promise<PipelineState | null>
  /** Returns how many steps the current plan of a session has, fixing steps included, and how many are done. */
  stepCounts(session: SessionSummary): Promise<StepCounts>
  /** Returns whether a process of this machine works on the session now. */
  isDriven(sessionId: string): Promise<boolean>
  /** Returns the rules that the events of a session break. */
  sessionProblems(sessionId: string): Promise<readonly ValidationProblem[]>
  /** Asks the process that drives the session to pause or cancel it, or cancels it here when no process does. */
  control(sessionId: string, control: "pause" | "cancel", reason: string): Promise<"told" | "done">
}

export interface ResumeRequest {
  /** Changes the recorded settings; everything else stays as it was recorded. */
  readonly change: (settings: PipelineSettings) => PipelineSettings
  readonly skipsFailed: boolean
  /** True to restore what changed while an interrupted command ran, and to run the command again. */
  readonly redoesCommand?: boolean
  /** Another request, for a session that rests or is finished. */
  readonly adds?: string
  /** Flags that replace the recorded model or mode. */
  readonly said?: ModelOverrides
}

const nothingSaid: ModelOverrides = { model: false, mode: false }

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
      // The audit names the changed records.
      const events = store.noteChanged(() => store.log.read(id))
      return events === null ? [] : sessionProblems(events, contentsOf(store.artifacts))
    },
    control: (id, control, reason) => controlSession(wiring, id, control, reason),
  }
}

type StepCounts = Pick<SessionSummary, "stepsDone" | "stepCount">

/** Counts steps from the events: the table counts every finished step, also those of earlier plans. */
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
  // A session that waits for the workspace asks the server afterwards, when its models may have changed.
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
        planId: null,
        planHash: null,
        approvalId: null,
        plan: null,
        stepCount: 0,
        policyVersion,
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
  { change, skipsFailed, redoesCommand = false, adds, said = nothingSaid }: ResumeRequest,
  surface: AgentSurface,
): Promise<AgentEnd> {
  wiring.stopping = surface.stopping.drain
  const store = await wiring.store()
  const session = await take(store, sessionId, surface)
  try {
    store.assertGenuine(sessionId)
    const state = fold(store.log.each(sessionId), contentsOf(store.artifacts))
    checkResumable(sessionId, state, { skipsFailed, redoesCommand, adds: adds ?? null })
    // Only to find what the call changed: once the output is deleted, another file may be given its inode number.
    if (state.openCalls.length > 0)
      for (const output of recordedOutputs(store.log.each(sessionId))) wiring.ownOutputs.add(output)
    const { lookForModels } = await import("../wiring/session-models.ts")
    const changed = { settings: change(state.settings), before: state.settings, said }
    using models = await lookForModels(wiring, changed, surface)
    const settings = await models.choose()
    wiring.mode = settings.mode
    // The person acknowledged dangerous scopes when they were recorded.
    if (settings.yes !== null) wiring.yes ??= readYes(settings.yes, true)
    await using agent = await wireAgent(
      wiring,
      { driven: session, settings, isResumed: true, known: state },
      surface,
    )
    const owner = processIdentity()
    const how = { settings, skipsFailed, ...(redoesCommand ? { redoesCommand } : {}) }
    const resumed = { ...how, by: userName(), owner, ...models.takeCalls() }
    const redactor = await wiring.redactor([])
    const added = adds === undefined ? null : { text: redactor.redactText(adds), by: resumed.by }
    agent.begin([
      newEvent(SessionResumed, resumed),
      ...(added === null ? [] : addedRequest(state, added, wiring.clock.now())),
    ])
    return { sessionId, ...(await driven(wiring, agent, surface)) }
  } finally {
    session.release()
    store.anchor()
  }
}

interface ResumedHow {
  readonly skipsFailed: boolean
  readonly redoesCommand: boolean
  readonly adds: string | null
}

/** Refuses a session that cannot be resumed, or not with these flags. */
function checkResumable(
  sessionId: string,
  state: PipelineState | null,
  { skipsFailed, redoesCommand, adds }: ResumedHow,
): asserts state is PipelineState {
  if (state === null)
    throw refused(
      "usage",
      "ACODE-CLI-004",
      "it is not a session of the agent lane",
      "a plan run is never resumed",
    )
  const flag = repliesFlag(state.settings.selection)
  const replies = flag === null ? "" : ` ${flag}`
  const more = `acode resume ${sessionId} "MORE"`
  if (adds !== null && adds.trim() === "")
    throw refused("usage", "ACODE-CLI-003", "the request is empty", "say what is to be done")
  if (state.finished !== null && (adds === null || state.finished.state !== "COMPLETED"))
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      `the session has ended: ${state.finished.reason}`,
      state.finished.state === "COMPLETED"
        ? `add a request to it: \`${more}${replies}\`; or start another one`
        : "start another one",
    )
  if (adds !== null && (state.openCalls.length > 0 || state.unknownCall !== null))
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      "a call of the session is undecided, so that it cannot take another request yet",
      `decide about it first: \`acode resume ${sessionId}${replies}\``,
    )
  if (skipsFailed && skippableSteps(state).length === 0)
    throw refused(
      "usage",
      "ACODE-CLI-003",
      "no step of the session has failed or is stuck, so there is none to skip",
      `\`acode status ${sessionId}\` shows what it waits for`,
    )
  if (redoesCommand && !state.openCalls.some(({ effectClass }) => effectClass === "run"))
    throw refused(
      "usage",
      "ACODE-CLI-003",
      "no command of the session was interrupted that could be run again",
      `\`acode status ${sessionId}\` shows what it waits for`,
    )
}

async function driven(wiring: Wiring, agent: WiredAgent, surface: AgentSurface): Promise<Rest> {
  const rest = await driveAgent(agent.parts, surface.stopping)
  if (!surface.stopping.drain.aborted) await tidyUp(wiring, surface.notice)
  return rest
}

type Waiting = Pick<AgentSurface, "waits" | "onWaiting"> & { readonly stopping: Stopping | null }

/** Takes the leases of session and workspace: a session has one driving process, a workspace one session. */
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
/** The codes for a workspace that another process holds, also while that process writes a file. */
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
      "`acode session show` shows how; `acode session undo` reverts its changes",
      sessionId,
    )
  const origin = { by: userName(), reason }
  if (found !== null && isDriven(found)) {
    requestControl(store, sessionId, control, origin)
    return "told"
  }
  if (control === "pause")
    throw refused(
      "usage",
      "ACODE-ORCH-006",
      "no process works on the session",
      "`acode resume` continues it",
      sessionId,
    )
  const session = await take(store, sessionId, { waits: false, stopping: null })
  try {
    const { endCancelled } = await import("./cancelled-session.ts")
    await endCancelled(wiring, store, session, origin)
    return "done"
  } finally {
    session.release()
    store.anchor()
  }
}

function refused(kind: "usage", code: ErrorCode, message: string, hint: string, where?: string): Failure {
  return new Failure({ kind, code, message, hint, ...(where === undefined ? {} : { where }) })
}
