import { canonicalJson, type Json } from "../../base/canonical.ts"
import { toIso } from "../../base/clock.ts"
import { reachText } from "../../domain/effect.ts"
import { ApprovalAnswered, ApprovalRequested } from "../../domain/events/call-events.ts"
import { dataOf, type NewEvent, newEvent } from "../../domain/events/definition.ts"
import { PlanProposed } from "../../domain/events/pipeline-events.ts"
import { PlanApproved, SessionRested } from "../../domain/events/session-events.ts"
import { exitCodes } from "../../domain/exit-codes.ts"
import type { Action } from "../../domain/pipeline/action.ts"
import { isUnverified } from "../../domain/pipeline/completion.ts"
import { isSameDoneStep } from "../../domain/pipeline/fold-stages.ts"
import { onlyReads } from "../../domain/pipeline/planner-reply.ts"
import type { PlanVersion, StepState } from "../../domain/pipeline/state.ts"
import { planLines } from "../../domain/plan/listing.ts"
import { orderedSteps } from "../../domain/plan/order.ts"
import {
  type Criterion,
  type Plan,
  type PlanStep,
  type Proposal,
  planHash,
  reachOfPlan,
  resourcesOf,
  verifyingCommands,
} from "../../domain/plan/plan.ts"
import { readPlan } from "../../domain/plan/reading.ts"
import type { WholeQuestion } from "../../gate/contract.ts"
import { recordJson, recordQuestion } from "../../gate/recorded.ts"
import type { AgentParts, RecordedAnswer } from "../agent-parts.ts"
import { projectCommands } from "../checks/project.ts"
import { callsForAction } from "../stages/edit-tools.ts"
import { planChange } from "../stages/plan-change.ts"
import { plansOfRequest } from "../stages/plan-progress.ts"

/** The lifetime of an answer about a plan or a review: as long as its session. */
const answerLastsMs = 365 * 24 * 3600 * 1000

export function proposePlan(
  parts: AgentParts,
  { turn, version }: Extract<Action, { kind: "proposePlan" }>,
): void {
  const { session, artifacts } = parts
  const { plans } = session.state
  const granted = plans.findLast(({ isApproved }) => isApproved) ?? null
  const plan = planIn(turn.output)
  const checks = plan === null ? [] : projectCommands(plan, parts.project).map(argv => [...argv])
  const proposed = newEvent(PlanProposed, {
    version,
    explanation: plan === null ? "" : planChange(plansOfRequest(session.state).at(-1)?.plan ?? null, plan),
    planHash: planHash(turn.output),
    plan: recordJson(turn.output, artifacts),
    checks,
  })
  const { steps, settings } = session.state
  if (plan !== null && onlyReads(plan) && !settings.approvePlan) {
    const approvalId = parts.ids.next("apr")
    const given = { plan, approver: `acode: it only reads (${plan.intent})`, approvalId }
    session.append([proposed, approved(parts, { ...given, isUnconfined: false, isUnseen: true })])
    return
  }
  if (plan === null || granted === null || !asksForNoMore({ plan, checks }, { ...granted, steps })) {
    session.append([proposed])
    return
  }
  // An approval stays valid while a new version asks for no more; recorded in one commit, so that no question is
  // asked.
  const kept = `version ${granted.version}, which requested at least as much`
  const { isUnconfined, isUnseen } = granted
  const approvalId = parts.ids.next("apr")
  session.append([proposed, approved(parts, { plan, approver: kept, approvalId, isUnconfined, isUnseen })])
}

export async function askAboutPlan(
  parts: AgentParts,
  version: PlanVersion,
  signal: AbortSignal,
): Promise<void> {
  const { plan } = version
  const isConfined = await parts.isConfined()
  const shown = planQuestion(version, isConfined)
  const reason = parts.acceptsPlan(plan) === "notItsNetwork" ? networkNotNamed : shown.reason
  const request = questionOf(parts, "plan", { ...shown, reason }, plan.hash)
  const asked = newEvent(ApprovalRequested, { ...request, isConfined })
  const flag = grantedByFlag(parts, plan, request.approvalId)
  parts.session.append([asked, ...(flag ?? [])])
  if (flag === null) await put(parts, request, signal)
}

/** Returns the answer of `--yes` about a plan, which no person saw; null if it does not apply. */
function grantedByFlag(parts: AgentParts, plan: Plan, approvalId: string): readonly NewEvent[] | null {
  if (parts.acceptsPlan(plan) !== "yes" || parts.session.state.settings.approvePlan) return null
  const answer = { answer: "granted", by: "--yes=plan", reason: null } as const
  const given = { plan, approver: answer.by, approvalId, isUnconfined: false, isUnseen: true }
  return [answered(parts, approvalId, answer, "flag"), approved(parts, given)]
}

const networkNotNamed =
  "--yes=plan does not grant the network that this plan requests; use --yes=plan,network"

export async function askAboutReview(parts: AgentParts, summary: string, signal: AbortSignal): Promise<void> {
  const digest = (await parts.workspace.tree()).digest
  const shown = {
    operation: "accept the work",
    reach: reachText([], []),
    files: [],
    reason: "a person accepts the review",
    preview: summary,
  }
  const request = questionOf(parts, "review", shown, digest)
  parts.session.append([newEvent(ApprovalRequested, request)])
  await put(parts, request, signal)
}

/** Waits for the answer to a recorded question, from before a rest or a crash. */
export async function awaitAnswer(parts: AgentParts, approvalId: string, signal: AbortSignal): Promise<void> {
  const given = parts.answerTo(approvalId)
  if (given !== null) return take(parts, approvalId, given)
  const version = parts.session.state.plans.at(-1)
  const isPlan = version?.question?.approvalId === approvalId
  // The flags of a resume may answer what no terminal could answer before.
  const flag = isPlan ? grantedByFlag(parts, version.plan, approvalId) : null
  if (flag !== null) {
    parts.session.append(flag)
    return
  }
  await put(parts, questionIn(parts, approvalId), signal)
}

function questionIn({ session }: AgentParts, approvalId: string): Question {
  for (const event of session.events) {
    const question = dataOf(ApprovalRequested, event)
    if (question?.approvalId === approvalId) return question
  }
  throw new Error(`the question ${approvalId} is open in the state and not in the log`)
}

type Question = NewEvent<typeof ApprovalRequested>["data"]

async function put(parts: AgentParts, request: Question, signal: AbortSignal): Promise<void> {
  if (!parts.desk.isStaffed) return restFor(parts, request, "waiting for an answer")
  const reply = await parts.desk.ask(request, signal, wholeOf(parts, request))
  // The question itself does not expire: it can be answered later.
  if (reply.isExpired === true) return restFor(parts, request, reply.reason ?? "no answer in time")
  // Interrupted before an answer: the question stays open.
  if (signal.aborted && reply.by === "nobody") return
  take(parts, request.approvalId, reply)
}

/** Returns the complete subject of a question: the plan of the state, which is what runs, or the recorded review. */
function wholeOf({ session }: AgentParts, { approvalId, isConfined }: Question): WholeQuestion | null {
  const version = session.state.plans.at(-1)
  return version?.question?.approvalId === approvalId ? planQuestion(version, isConfined ?? true) : null
}

function planQuestion({ version, plan, checks }: PlanVersion, isConfined: boolean): WholeQuestion {
  return {
    operation: `run plan version ${version}: ${plan.goal}`,
    reach: reachOfPlan({ plan, checks }, isConfined),
    files: [...resourcesOf(plan).write],
    reason: "a person must approve a plan before acode carries it out",
    preview: planLines(plan, checks).join("\n"),
  }
}

function restFor({ session }: AgentParts, { approvalId }: Question, why: string): void {
  const reason = `${why}: \`acode approve ${approvalId}\`, then \`acode resume\``
  const unverified = isUnverified(session.state)
  session.append([
    newEvent(SessionRested, {
      state: "AWAITING_APPROVAL",
      reason,
      exitCode: exitCodes.needsAnswer.code,
      unverified,
    }),
  ])
}

/** Copies an answer from its separate stream into the session, so that the fold sees it. */
function take(parts: AgentParts, approvalId: string, given: RecordedAnswer): void {
  const plan = parts.session.state.plans.at(-1)
  const isPlan = plan?.question?.approvalId === approvalId && given.answer === "granted"
  const isUnconfined = isPlan && questionIn(parts, approvalId).isConfined === false
  parts.session.append([
    answered(parts, approvalId, given, "command"),
    ...(isPlan
      ? [approved(parts, { plan: plan.plan, approver: given.by, approvalId, isUnconfined, isUnseen: false })]
      : []),
  ])
}

function questionOf(
  { redactor, artifacts, ids, session }: AgentParts,
  kind: "plan" | "review",
  whole: WholeQuestion,
  subjectHash: string,
): Question {
  return {
    approvalId: ids.next("apr"),
    sessionId: session.sessionId,
    callId: null,
    stepId: null,
    kind,
    category: "TERMINAL_COMMAND",
    level: 3,
    ...recordQuestion(whole, whole.preview, redactor, artifacts),
    rule: kind === "plan" ? "plan.gate" : "review.gate",
    subjectHash,
    expiresAt: null,
    options: ["approve", "deny", "stop"],
  }
}

function answered(
  { clock }: AgentParts,
  approvalId: string,
  { answer, by, reason }: RecordedAnswer,
  via: "command" | "flag",
): NewEvent {
  const expiresAt = toIso(clock.now() + answerLastsMs)
  return newEvent(ApprovalAnswered, { approvalId, answer, by, via, reason, expiresAt })
}

interface GivenApproval {
  readonly plan: Plan
  readonly approver: string
  readonly approvalId: string
  readonly isUnconfined: boolean
  readonly isUnseen: boolean
}

function approved({ clock }: AgentParts, { plan, ...given }: GivenApproval): NewEvent {
  return newEvent(PlanApproved, {
    ...given,
    ...{ planId: plan.planId, planHash: plan.hash },
    stepCount: plan.tasks.reduce((sum, { steps }) => sum + steps.length, 0),
    expiresAt: toIso(clock.now() + answerLastsMs),
  })
}

/** Returns the recorded plan. It was valid when the turn was recorded; redaction may have changed it since. */
function planIn(output: Json): Plan | null {
  const reading = readPlan(JSON.stringify(output), { check: () => [] })
  return "plan" in reading ? reading.plan : null
}

/** An approved plan, with the state of its steps. */
interface Granted extends Pick<PlanVersion, "plan" | "checks"> {
  readonly steps: readonly StepState[]
}

/**
 * Returns whether the old plan had everything that the new plan may write, run or reach, so that the approver has
 * seen it. A concrete call is granted once: another plan comes only after every step of the old one was begun, so
 * each call that is not done already needs approval.
 */
function asksForNoMore(now: Proposal, before: Granted): boolean {
  const [asked, granted] = [resourcesOf(now.plan), resourcesOf(before.plan)]
  return (
    isWithin(asked.write, granted.write) &&
    isWithin(asked.commands, granted.commands) &&
    isWithin(asked.hosts, granted.hosts) &&
    isWithin(verifyingCommands(now), [...verifyingCommands(before), ...granted.commands]) &&
    expectations(now.plan).every(each => isExpectedAsBefore(each, expectations(before.plan))) &&
    isWithin(openCalls(now.plan), openCalls(before.plan)) &&
    callsAhead(now.plan, before.steps).length === 0
  )
}

type Expectation = Extract<Criterion, { kind: "command" }>

function expectations({ tasks }: Plan): readonly Expectation[] {
  return tasks
    .flatMap(({ acceptance }) => acceptance)
    .flatMap(each => (each.kind === "command" ? [each] : []))
}

/** Returns whether a command expects the same exit code: with another one it proves something else. */
function isExpectedAsBefore({ command, expect_exit }: Expectation, before: readonly Expectation[]): boolean {
  const same = before.filter(other => canonicalJson(other.command) === canonicalJson(command))
  return same.length === 0 || same.some(other => other.expect_exit === expect_exit)
}

/**
 * Returns the tools that a model may choose, each alone and with every host that its task may reach: the hosts of a
 * task with concrete calls are not those of one in which the model chooses. A plan of concrete calls leaves it none.
 */
function openCalls({ tasks }: Plan): readonly Json[] {
  return tasks.flatMap(({ steps, resources }) =>
    steps.flatMap(step =>
      step.kind === "open"
        ? callsForAction(step.action).flatMap(tool => [[tool], ...resources.hosts.map(host => [tool, host])])
        : [],
    ),
  )
}

/** Returns the steps of the new plan whose calls would be made; a step that is done and unchanged is not repeated. */
function callsAhead(plan: Plan, before: readonly StepState[]): readonly PlanStep[] {
  return orderedSteps(plan)
    .filter(
      ({ task, step }) => step.kind === "concrete" && !before.some(old => isSameDoneStep(old, task, step)),
    )
    .map(({ step }) => step)
}

function isWithin(asked: readonly Json[], granted: readonly Json[]): boolean {
  const known = new Set(granted.map(canonicalJson))
  return asked.every(each => known.has(canonicalJson(each)))
}
