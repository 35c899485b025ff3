import { existsSync } from "node:fs"
import { type Clock, systemIds } from "../../base/clock.ts"
import { printable } from "../../base/text.ts"
import type { Config } from "../../config/schema.ts"
import { toProjectCommands } from "../../config/sections/verification.ts"
import { type ApprovalSettings, toApprovalSettings } from "../../config/settings.ts"
import type { NewEvent } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState } from "../../domain/pipeline/state.ts"
import type { PipelineSettings } from "../../domain/pipeline-settings.ts"
import type { AgentParts, RecordedAnswer } from "../../engine/agent-parts.ts"
import { type Project, projectOf } from "../../engine/checks/project.ts"
import { openLiveSession } from "../../engine/live-session.ts"
import { toolDescriptions } from "../../engine/stages/model-schemas.ts"
import { createStages } from "../../engine/stages/stages.ts"
import type { ApprovalDesk, Gate } from "../../gate/contract.ts"
import type { DrivenSession } from "../../gate/session-log.ts"
import { externalCallLog } from "../../models/external-call-log.ts"
import type { SelectedModels } from "../../models/provider.ts"
import { collect } from "../../provider/reply.ts"
import type { ExternalCallLog } from "../../provider/transport/contract.ts"
import { timerWait } from "../../provider/wait.ts"
import { endTagged } from "../../sandbox/process/survivors.ts"
import type { Store } from "../../store/contract.ts"
import { checksAt } from "../../tools/code/project-checks.ts"
import { textChanges } from "../../workspace/change/changes.ts"
import type { Workspace } from "../../workspace/contract.ts"
import { approvalDesk } from "../approval-desk.ts"
import { citationProblem, planTools } from "../plan-tools.ts"
import { opensNetworkOf } from "../policy-yes.ts"
import { contentsOf } from "../recorded-contents.ts"
import { controlsFrom } from "../session-control.ts"
import { laterWritesOf } from "../session-recovery.ts"
import { userName } from "../user-name.ts"
import type { AgentSurface } from "./agent-surface.ts"
import { checkDeps, codeTools } from "./code-tools.ts"
import { wireGate } from "./gate.ts"
import { type WiredProvider, wireProvider } from "./provider.ts"
import { usableSkills } from "./skills.ts"
import { sweepOrphans } from "./upkeep.ts"
import type { Wiring } from "./wire.ts"

export interface WiredAgent extends AsyncDisposable {
  readonly parts: AgentParts
  /** Appends the first events of this process: the session starts or continues. */
  begin(events: readonly NewEvent[]): void
}

export interface AgentSession {
  readonly driven: DrivenSession
  readonly settings: PipelineSettings
  readonly isResumed: boolean
  /** The state that follows from its events, where a caller has folded them already. */
  readonly known?: PipelineState
}

/** Constructs everything that one driven session needs. */
export async function wireAgent(
  wiring: Wiring,
  { driven, settings, isResumed, known }: AgentSession,
  surface: AgentSurface,
): Promise<WiredAgent> {
  const store = await wiring.store()
  const { values } = await wiring.config()
  const { workspace, checkpoints } = await wiring.workspace()
  const redactor = await wiring.redactor([])
  const { policyVersion } = await wiring.policy()
  const { clock, faults } = wiring
  const session = openLiveSession(driven, store.log, contentsOf(store.artifacts), surface.onEvent, known)
  const { sessionId } = driven
  const desk = deskFor(store, surface, { sessionId, clock, ...toApprovalSettings(values) })
  checkContextGlobs(workspace, settings, known?.settings, surface.notice)
  const calls = externalCallLog(clock)
  const model = await wireProvider({
    choice: surface.model,
    selected: selectedModels(wiring, settings, values, calls),
    isResumed,
    root: wiring.root.path,
    redactText: text => redactor.redactText(text),
  })
  // As part of the tree it would make each verification stale, and requests of a replay differ from the recorded ones.
  if (model.recordingFile !== null) wiring.ownOutputs.add(model.recordingFile)
  const parts: AgentParts = {
    session,
    workspace,
    checkpoints,
    ...storeParts(store, sessionId),
    desk,
    policyVersion,
    redactor,
    clock,
    faults,
    gate: gateWhenNeeded(() => wireGate(wiring, session, desk, surface.notice)),
    ask: askWith(wiring, model, surface),
    externalCalls: calls.take,
    stages: createStages({
      planTools: { ...planTools, citationProblem: cited => citationProblem(store.evidence, cited) },
      toolDescriptions,
    }),
    acceptsPlan: plan => acceptanceOf(plan, wiring, surface),
    isConfined: () => wiring.hasSandbox(),
    ...codeParts(wiring, values),
    changes: textChanges,
    skills: await usableSkills(wiring),
    project: projectOf(toProjectCommands(values), workspace, checksIn(wiring, workspace, values)),
    endExecution: async id => void (await endTagged(id)),
    jitter: Math.random,
    wait: timerWait,
    ids: systemIds,
  }
  return {
    parts,
    begin: events => void session.append(events),
    [Symbol.asyncDispose]: async () => model[Symbol.dispose](),
  }
}

/** Returns whether the caller accepts plans without a question, and accepts this one. */
function acceptanceOf(
  plan: Parameters<AgentParts["acceptsPlan"]>[0],
  wiring: Wiring,
  { acceptsPlans }: AgentSurface,
): ReturnType<AgentParts["acceptsPlan"]> {
  if (!acceptsPlans) return "no"
  return opensNetworkOf(wiring.yes, plan) ? "yes" : "notItsNetwork"
}

/** Returns what a session reads from the store and leaves in it, beside its events. */
function storeParts(store: Store, sessionId: string) {
  return {
    artifacts: store.artifacts,
    executions: store.executions,
    fingerprint: store.fingerprint,
    laterWrites: laterWritesOf(store, sessionId),
    answerTo: (id: string) => answerIn(store, id),
    control: controlsFrom(store, sessionId),
  }
}

/** Returns the checkers that fit a path of the workspace. */
function checksIn(wiring: Wiring, workspace: Workspace, config: Config): Project["checksOf"] {
  return path => {
    const { relative, kind } = workspace.locate(path)
    return checksAt(workspace, checkDeps(wiring, config), relative, kind === "directory")
  }
}

/** Returns access to the code index. No request waits for a missing index: the first tool that asks it builds it. */
function codeParts(
  wiring: Wiring,
  { code: { enabled } }: Config,
): Pick<AgentParts, "code" | "codeOutline" | "hasCodeIndex"> {
  return {
    code: codeTools(wiring).code,
    hasCodeIndex: () => enabled && existsSync(wiring.places.codeIndexPath),
    codeOutline: async tokensMax => {
      const { outlineWithin } = await import("./code-questions.ts")
      return outlineWithin(wiring, tokensMax)
    },
  }
}

/** Returns a gate that the first call constructs: it needs the probed sandbox, which a model request does not. */
function gateWhenNeeded(wire: () => Promise<Gate>): Gate {
  let wired: Promise<Gate> | null = null
  return {
    call: async request => {
      wired ??= wire()
      return (await wired).call(request)
    },
  }
}

/** Removes files that dead processes left half written after the first reply, so that this delays no request. */
function askWith(wiring: Wiring, { provider }: WiredProvider, { onText }: AgentSurface): AgentParts["ask"] {
  let isFirst = true
  return async (request, signal) => {
    const reply = collect(provider.ask(request, signal), signal, onText)
    probeAhead(wiring)
    await reply
    if (isFirst) await sweepOrphans(wiring)
    isFirst = false
    return reply
  }
}

/** Starts probing the sandbox, which runs programs, while the model answers. */
function probeAhead(wiring: Wiring): void {
  // An error is reported when the sandbox is needed.
  wiring.hasSandbox().catch(() => undefined)
}

function selectedModels(
  { request }: Wiring,
  { selection, mode }: PipelineSettings,
  config: Config,
  externalCalls: ExternalCallLog,
): SelectedModels | null {
  if (selection === null) return null
  return { selection, mode, config, environment: request.environment, externalCalls }
}

function deskFor(
  { approvals }: Store,
  { isInteractive, prompt, notice }: AgentSurface,
  settings: ApprovalSettings & { readonly sessionId: string; readonly clock: Clock },
): ApprovalDesk {
  const { nonInteractive: whenNobody, timeoutMs, sessionId, clock } = settings
  return approvalDesk({
    sessionId,
    approvals,
    isInteractive,
    prompt,
    notice,
    by: userName(),
    clock,
    whenNobody,
    timeoutMs,
  })
}

function answerIn({ approvals }: Store, approvalId: string): RecordedAnswer | null {
  const found = approvals.find(approvalId)
  if (found === null || !isAnswer(found.state)) return null
  return { answer: found.state, by: found.answeredBy ?? "somebody", reason: found.answerReason }
}

const answers = ["granted", "refused", "skipped", "stopped"] as const

function isAnswer(state: string): state is (typeof answers)[number] {
  return answers.some(answer => answer === state)
}

/**
 * Checks `--context-files` before the session starts. A glob that can never match here is an error; one that matches
 * nothing yet may be intended and gets a notice, which is not repeated when the session continues.
 */
function checkContextGlobs(
  workspace: Pick<Workspace, "glob">,
  { contextFiles: globs }: PipelineSettings,
  before: PipelineSettings | undefined,
  notice: (text: string) => void,
): void {
  for (const pattern of globs)
    if (!before?.contextFiles.includes(pattern) && isEmpty(workspace, pattern))
      notice(`--context-files ${printable(pattern)} matches no file of the workspace`)
}

function isEmpty(workspace: Pick<Workspace, "glob">, pattern: string): boolean {
  try {
    return workspace.glob({ pattern, path: ".", matchesMax: 1 }).paths.length === 0
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      {
        kind: "usage",
        code: "ACODE-CLI-002",
        message: `--context-files: ${error.report.message}`,
        where: `--context-files ${printable(pattern)}`,
        hint: "write a pattern of names below the workspace, such as 'src/**/*.ts'",
      },
      { cause: error },
    )
  }
}
