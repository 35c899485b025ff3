import { canonicalJson, type Json } from "../base/canonical.ts"
import { shellQuoted } from "../base/text.ts"
import type { Decision } from "../domain/effect.ts"
import { ToolCallRequested } from "../domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import { isStopped } from "../domain/failure.ts"
import { redactJson } from "../domain/text/redacted-json.ts"
import type { Certainty } from "../domain/tool-call.ts"
import type { CallContext, DeclaredCall, PreparedCall, ToolResult } from "../tools/contract.ts"
import type { Checkpoints } from "../workspace/checkpoint/contract.ts"
import { askPerson } from "./asking.ts"
import type { CallRequest, Gate, GateParts, SettledCall } from "./contract.ts"
import { contentsChanged, foundBy, type Intent, intend } from "./intent.ts"
import {
  type CallEnding,
  errorOf,
  type FoundChanges,
  failedBy,
  marksOf,
  notDone,
  nothingChanged,
  type Outcome,
  outcomeWithout,
  redacted,
  settledEvent,
  toolOutcome,
} from "./outcome.ts"
import { recordJson } from "./recorded.ts"
import { type Resolution, resolveCall } from "./resolution.ts"
import { certaintyOf, changedTargets } from "./targets.ts"

export function createGate(parts: GateParts): Gate {
  return { call: request => new GatedCall(parts, request).run() }
}

/** A call that may be made: its declared effects, and the decision of policy. */
interface Judged {
  readonly declared: DeclaredCall
  readonly decision: Decision
}

interface Permitted extends Judged {
  readonly prepared: PreparedCall
  readonly approvalId: string | null
}

/** One call while it passes the gate. Events that are not committed yet are carried to its next commit. */
class GatedCall {
  private readonly callId: string
  private readonly beganMs: number
  private pending: readonly NewEvent[]
  private waitMs = 0

  constructor(
    private readonly parts: GateParts,
    private readonly request: CallRequest,
  ) {
    this.callId = parts.ids.next("cal")
    this.beganMs = parts.clock.monotonicMs()
    this.pending = request.before
  }

  async run(): Promise<SettledCall> {
    const resolved = resolveCall(this.request.tool, this.request.arguments, this.request.offered)
    this.pending = [...this.pending, this.requested(resolved)]
    const { obstacle } = this.request
    if (obstacle !== null) return this.end(notDone("failed", "failed", obstacle))
    if (resolved.kind === "problem") return this.end(notDone("failed", "failed", resolved.error))
    const permitted = await this.permit(resolved)
    return "outcome" in permitted ? this.end(permitted) : this.perform(permitted)
  }

  /** Decides and asks. Nothing was changed yet, so a failure here has no effect. */
  private async permit(resolved: Extract<Resolution, { kind: "tool" }>): Promise<CallEnding | Permitted> {
    try {
      const room = { ...this.parts.room, grantedHosts: this.request.grant.hosts }
      const judged = await this.judge(resolved.tool.declare(resolved.arguments, room))
      if (judged.decision.decision === "deny") return denial(judged)
      const prepared = await judged.declared.prepare()
      const mustAsk = this.request.requiresConfirmation || judged.decision.decision === "ask"
      return mustAsk ? await this.ask(judged, prepared) : { ...judged, prepared, approvalId: null }
    } catch (error) {
      return failedBy(error, "notDone")
    }
  }

  private async judge(declared: DeclaredCall): Promise<Judged> {
    const { grant, isGrantedAsWritten } = this.request
    const exact = isGrantedAsWritten ? [...grant.exact, ...declared.effects] : grant.exact
    return { declared, decision: await this.parts.decide(declared.effects, { ...grant, exact }) }
  }

  private async ask(judged: Judged, prepared: PreparedCall): Promise<CallEnding | Permitted> {
    const { parts, request, callId } = this
    const askedMs = parts.clock.monotonicMs()
    const answer = await askPerson(parts, { callId, request, ...judged, prepared }, this.pending)
    this.waitMs = Math.round(parts.clock.monotonicMs() - askedMs)
    this.pending = answer.events
    return answer.kind === "ended" ? answer.ending : { ...judged, ...answer }
  }

  private async perform(call: Permitted): Promise<SettledCall> {
    const { parts, callId } = this
    const refusal = this.request.refuses?.(call.prepared.targets) ?? null
    if (refusal !== null) return this.end(notDone("failed", "failed", refusal))
    const intent = await this.intend(call)
    if ("outcome" in intent) return this.end(intent)
    parts.faults.reach("gate.prepared")
    const isCommand = call.declared.effectClass === "run"
    const announced = [...this.pending, intent.event]
    // The runner commits the intent of a command together with the start of the command.
    if (isCommand) parts.recorder.announce(callId, announced)
    else parts.log.append(announced)
    this.pending = []
    parts.faults.reach("gate.intended")
    const outcome = await this.execute(call, intent, isCommand)
    // A command that never started has committed nothing: its intent is committed with the outcome.
    if (isCommand && !parts.recorder.hasStarted(callId)) this.pending = announced
    return this.settle(outcome)
  }

  private async intend(call: Permitted): Promise<CallEnding | Intent> {
    try {
      return await intend(this.parts, { callId: this.callId, ...call })
    } catch (error) {
      if (isStopped(error)) return notDone("interrupted", "failed", errorOf(error.report))
      // Without its pre-image the call is not made.
      return failedBy(error, "notDone")
    }
  }

  private async execute(call: Permitted, intent: Intent, isCommand: boolean): Promise<Outcome> {
    const { parts } = this
    try {
      const execute = () => call.prepared.execute(this.context(call))
      // Only for commands: every other call ends before a crash could leave doubt about its time.
      using _ = isCommand ? beating(parts.checkpoints) : null
      const result = await this.owned(intent, execute)
      parts.faults.reach("gate.done")
      return toolOutcome(
        result,
        await this.changesOf(intent, result, isCommand),
        certaintyOfResult(result, isCommand),
      )
    } catch (error) {
      // The user does not wait while acode reads what a command left: the next process does that, as after a crash.
      if (isStopped(error)) throw error
      const { certainty, found } = await this.lookAfter(intent, call.prepared)
      return outcomeWithout(failedBy(error, certainty), found)
    }
  }

  /**
   * Runs work as the owner of the session. A process that was suspended for so long that another one took the session
   * over must not continue the call.
   */
  private owned<Result>({ effectClass }: Intent, work: () => Promise<Result>): Promise<Result> {
    const { log } = this.parts
    if (effectClass === "read") return work()
    if (effectClass === "replace") return log.whileOwned(work)
    // A command takes long and records its own start; it must not block the log for other processes meanwhile.
    log.whileOwned(() => undefined)
    return work()
  }

  private async changesOf(
    intent: Intent,
    { changes }: ToolResult,
    isCommand: boolean,
  ): Promise<FoundChanges> {
    return isCommand ? this.treeChanges(intent) : foundBy(this.parts.checkpoints, intent.preImage, changes)
  }

  private async treeChanges({ preImage }: Intent): Promise<FoundChanges> {
    const { checkpoints, room } = this.parts
    return preImage === null ? nothingChanged : contentsChanged(checkpoints, room.workspace, preImage)
  }

  /** Finds out the present state after an error in the middle of a call. */
  private async lookAfter(intent: Intent, { targets }: PreparedCall) {
    const { room, recorder, checkpoints } = this.parts
    const { effectClass } = intent
    if (effectClass === "read") return { certainty: "notDone" as const, found: nothingChanged }
    if (effectClass === "replace")
      return {
        certainty: certaintyOf(room.workspace, targets),
        found: foundBy(checkpoints, intent.preImage, changedTargets(room.workspace, targets)),
      }
    const found = await this.treeChanges(intent)
    if (!recorder.hasStarted(this.callId)) return { certainty: "notDone" as const, found }
    return { certainty: effectClass === "run" ? ("partly" as const) : ("unknown" as const), found }
  }

  private end(ending: CallEnding): SettledCall {
    return this.settle(outcomeWithout(ending, nothingChanged))
  }

  /**
   * Records the outcome before any caller sees it, in one commit with the end of its command and the events of the
   * lane.
   */
  private settle(outcome: Outcome): SettledCall {
    const { parts, request, callId, waitMs } = this
    const tookMs = Math.round(parts.clock.monotonicMs() - this.beganMs)
    const settled: SettledCall = {
      ...redacted(outcome, parts.redactor),
      callId,
      durationMs: Math.max(0, tookMs - waitMs),
      waitMs,
    }
    const command = parts.recorder.takeOutcome(callId)
    parts.log.append([
      ...this.pending,
      ...(command === null ? [] : [command]),
      settledEvent(
        settled,
        parts.artifacts,
        request.isForModel,
        settled.changes.length === 0 ? null : marksOf(parts.room.workspace, settled.changes),
      ),
      ...request.after(settled),
    ])
    parts.faults.reach("gate.settled")
    return settled
  }

  private context({ decision }: Judged): CallContext {
    const { request, callId, parts } = this
    const { taskId, stepId } = request.origin
    return {
      signal: request.signal,
      consented: decision.consented ?? [],
      correlationIds: { sessionId: parts.log.sessionId, taskId, stepId, toolCallId: callId },
      onOutput: request.onOutput,
    }
  }

  private requested(resolved: Resolution): NewEvent {
    const { parts, request, callId } = this
    return newEvent(ToolCallRequested, {
      callId,
      tool: request.tool,
      canonicalTool: resolved.kind === "tool" ? resolved.tool.name : resolved.canonical,
      arguments: recordJson(redactJson(request.arguments, parts.redactor), parts.artifacts),
      argsDigest: parts.fingerprint(canonicalJson(request.arguments)),
      origin: request.origin,
    })
  }
}

/** Records a heartbeat each second, so that after a crash later edits are not attributed to the command. */
function beating(checkpoints: Checkpoints): Disposable {
  checkpoints.beat()
  const timer = setInterval(() => checkpoints.beat(), beatMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const beatMs = 1000

function denial({ decision, declared }: Judged): CallEnding {
  return notDone("denied", "violation", {
    code: decision.rule.startsWith("protected:") ? "ACODE-SEC-003" : "ACODE-EXEC-004",
    message: `not allowed: ${declared.operation}: ${decision.reason} (${decision.rule})`,
    where: null,
    hint: `\`acode policy check ${policyQuestion(declared)}\` says which rule decides`,
  })
}

/** Returns the command line by which the user can see the same decision. */
function policyQuestion({ effects }: DeclaredCall): string {
  const [first] = effects
  if (first?.kind === "execute" && "argv" in first.run)
    return `-- ${first.run.argv.map(shellQuoted).join(" ")}`
  if (first === undefined || first.kind === "execute" || first.kind === "connect") return "--help"
  const operation = first.kind === "createDirectory" ? "write" : first.kind
  return `--path ${shellQuoted(first.path)} --op ${operation}`
}

/**
 * A command that ran has had its effects, whatever its exit code; a file tool that returns an error changed nothing.
 */
function certaintyOfResult({ error, executionId, value }: ToolResult, isCommand: boolean): Certainty {
  if (error === null) return "done"
  if (!isCommand || executionId === null) return "notDone"
  const ending = typeof value === "object" && value !== null && "ending" in value ? value["ending"] : null
  return endings.get(ending) ?? "done"
}

const endings: ReadonlyMap<Json, Certainty> = new Map([
  ["notStarted", "notDone"],
  ["interrupted", "unknown"],
])
