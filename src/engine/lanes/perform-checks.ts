import { canonicalJson, type Json } from "../../base/canonical.ts"
import { newEvent } from "../../domain/events/definition.ts"
import { CheckFinished } from "../../domain/events/pipeline-events.ts"
import type { Action } from "../../domain/pipeline/action.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import { verifyingCommands } from "../../domain/plan/plan.ts"
import type { AgentParts } from "../agent-parts.ts"
import { runCheck } from "../checks/run-check.ts"
import { judgedChecks } from "../stages/verifier.ts"
import { progressed } from "./perform-stages.ts"
import { cancelIfStopped, grantOf, restIfUnanswered } from "./perform-steps.ts"

/** Makes checks one after the other; each is recorded at once, so that a crash repeats only the last one. */
export async function runChecks(
  parts: AgentParts,
  checks: readonly PlannedCheck[],
  signal: AbortSignal,
): Promise<void> {
  for (const check of checks) {
    if (signal.aborted || parts.control() !== null) return
    const result = await runCheck(
      {
        state: parts.session.state,
        workspace: parts.workspace,
        project: parts.project,
        runCommand: argv =>
          callFor(parts, { tool: "run_command", arguments: { argv: [...argv] }, argv }, check, signal),
        runChecker: (path, { checker, argv }) =>
          callFor(parts, { tool: "lsp_check", arguments: { path, checker }, argv }, check, signal),
      },
      check,
    )
    if (signal.aborted || parts.session.state.rest !== null || parts.session.state.finished !== null) return
    const { stage, verification } = parts.session.state
    const done = (verification?.checks.length ?? 0) + 1
    parts.session.append([
      newEvent(CheckFinished, result),
      ...progressed("verifier", done, stage?.checks.length ?? 0, "checks"),
    ])
    parts.faults.reach("agent.checked")
  }
}

interface CheckCall {
  readonly tool: "run_command" | "lsp_check"
  readonly arguments: Json
  /** The command that the call runs. */
  readonly argv: readonly string[]
}

/**
 * Runs a command through the gate like every other one: recorded, decided and confined. Commands that the question
 * about the plan showed are granted; commands that the project suggested later need approval.
 */
async function callFor(
  parts: AgentParts,
  { tool, arguments: args, argv }: CheckCall,
  { id, taskId }: PlannedCheck,
  signal: AbortSignal,
) {
  const { gate, session } = parts
  const plan = session.state.plans.at(-1)?.plan ?? null
  const grant = grantOf(session.state, null)
  const settled = await gate.call({
    tool,
    arguments: args,
    obstacle: null,
    origin: {
      planId: plan?.planId ?? null,
      planHash: plan?.hash ?? null,
      taskId,
      stepId: null,
      stepKey: null,
      modelCallId: null,
    },
    grant: isSeen(session.state, argv) ? { ...grant, commands: [...grant.commands, argv] } : grant,
    isGrantedAsWritten: false,
    offered: null,
    isForModel: false,
    requiresConfirmation: false,
    askedAs: `check ${taskId ?? ""}/${id}`,
    signal,
    onOutput: null,
    before: [],
    after: restIfUnanswered,
  })
  await cancelIfStopped(parts, settled, signal)
  return settled
}

function isSeen({ plans }: PipelineState, argv: readonly string[]): boolean {
  const approved = plans.findLast(({ isApproved }) => isApproved)
  const wanted = canonicalJson(argv)
  return approved !== undefined && verifyingCommands(approved).some(seen => canonicalJson(seen) === wanted)
}

export async function judge(
  parts: AgentParts,
  { turn, checks }: Extract<Action, { kind: "judge" }>,
): Promise<void> {
  const treeDigest = (await parts.workspace.tree()).digest
  const seen = { treeDigest, argv: null, exitCode: null, outputHash: null, executionId: null }
  parts.session.append(
    judgedChecks(turn?.output ?? null, checks).map(({ check: { id, kind, taskId }, verdict, reason }) =>
      newEvent(CheckFinished, { criterionId: id, taskId, kind, verdict, reason, ...seen }),
    ),
  )
}
