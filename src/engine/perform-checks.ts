import { newEvent } from "../domain/event-definition.ts"
import type { Action } from "../domain/pipeline/action.ts"
import { CheckFinished } from "../domain/pipeline/pipeline-events.ts"
import type { PlannedCheck } from "../domain/pipeline/state.ts"
import type { AgentParts } from "./agent-parts.ts"
import { runCheck } from "./checks/run-check.ts"
import { progressed } from "./perform-stages.ts"
import { grantOf } from "./perform-steps.ts"
import { judgedChecks } from "./stages/verifier.ts"

/** Checks one after the other; each is recorded as soon as it is known, so that a crash repeats only the last. */
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
        runCommand: argv => runCommand(parts, argv, check, signal),
      },
      check,
    )
    if (signal.aborted) return
    const { stage, verification } = parts.session.state
    const done = (verification?.checks.length ?? 0) + 1
    parts.session.append([
      newEvent(CheckFinished, result),
      ...progressed("verifier", done, stage?.checks.length ?? 0, "checks"),
    ])
    parts.faults.reach("agent.checked")
  }
}

/** Through the gate like every other command: recorded, decided on and confined. */
async function runCommand(
  { gate, session }: AgentParts,
  argv: readonly string[],
  { taskId }: PlannedCheck,
  signal: AbortSignal,
) {
  const plan = session.state.plans.at(-1)?.plan ?? null
  const settled = await gate.call({
    tool: "run_command",
    arguments: { argv: [...argv] },
    obstacle: null,
    origin: {
      planId: plan?.planId ?? null,
      planHash: plan?.hash ?? null,
      taskId,
      stepId: null,
      stepKey: null,
      modelCallId: null,
    },
    grant: { ...grantOf(session.state), commands: [...grantOf(session.state).commands, argv] },
    isGrantedAsWritten: false,
    offered: null,
    isForModel: false,
    requiresConfirmation: false,
    signal,
    onOutput: null,
    before: [],
    after: () => [],
  })
  return settled
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
