import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openService } from "../../src/app/local-service.ts"
import { readYes } from "../../src/app/policy-yes.ts"
import type { AppService } from "../../src/app/service.ts"
import type { AgentEnd } from "../../src/app/verbs/agent.ts"
import type { AgentSurface } from "../../src/app/wiring/agent-surface.ts"
import { readEnvironment } from "../../src/config/environment.ts"
import type { Effect } from "../../src/domain/effect.ts"
import type { PipelineSettings } from "../../src/domain/pipeline-settings.ts"
import type { CategoryDefaults } from "../../src/policy/decision.ts"
import { decideOn } from "../policy/policy-kit.ts"
import { settingsOf, surfaceOf } from "../support/agent/agent-room.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import {
  type Action,
  acceptsPlans,
  actions,
  type Circumstances,
  expected,
  expectedOfStep,
  type Policy,
  planned,
  policies,
  scopes,
} from "../support/plan/approval-table.ts"
import { runnableOf } from "../support/plan/plan-room.ts"
import { type PlanStepText, planText } from "../support/plan/plan-workspace.ts"
import { missingSandbox } from "../support/requirement.ts"
import { open, reply } from "../support/script-replies.ts"

const whenNobody = ["deny", "rest"] as const
const isConfined = missingSandbox === null

test("policy decides as the table says, for every scope, every value and with or without a sandbox", () => {
  const wrong: string[] = []
  for (const scope of scopes)
    for (const policy of policies)
      for (const confined of [true, false])
        for (const action of actions) {
          const at = { scope, policy, isConfined: confined }
          const [got, want] = [decided(action, at), expected(action, at)]
          if (got !== want) wrong.push(`${action.name} ${JSON.stringify(at)}: ${got}, expected ${want}`)
        }
  expect(wrong).toEqual([])
})

function decided({ effects }: Action, { scope, policy, isConfined: confined }: Circumstances): string {
  const placed = effects.map(effect => (effect.kind === "execute" ? { ...effect, confined } : effect))
  const defaults: CategoryDefaults = {
    FILE_READ: policy,
    FILE_WRITE: policy,
    FILE_DELETE: policy,
    DIRECTORY_CREATE: policy,
    TERMINAL_COMMAND: policy,
    EXTERNAL_REQUEST: policy,
  }
  return decideOn(placed satisfies readonly Effect[], {
    ...(scope === "" ? {} : { yes: scope }),
    grant: { ...planned, isUnseen: true },
    options: { defaults },
  }).decision
}

/** Each pair of scope and lane once, the other values in turn: that policy itself is right is shown above. */
describe.each(scopes.map((scope, index) => [scope === "" ? "no scope" : scope, scope, index] as const))(
  "with %s",
  (_name, scope, index) => {
    const at = (offset: number): Circumstances => ({
      scope,
      isConfined,
      policy: policies[(index + offset) % policies.length] ?? "prompt",
    })
    const nobody = (offset: number) => whenNobody[(Math.floor(index / 4) + offset) % 2] ?? "deny"

    test("a run asks about its plan, and its calls are answered as the table says", async () => {
      const [circumstances, unanswered] = [at(0), nobody(0)]
      using room = roomFor(circumstances.policy, unanswered)
      if (index % 2 === 0) {
        expect(await room.run(withPlan(scope), false)).toBe(exitCodeOf(circumstances, unanswered))
      } else if (!acceptsPlans(scope)) {
        expect(await room.run(scope, false)).toBe(10)
        expect(room.outcomes()).toEqual([])
        expect(await room.resume(withPlan(scope))).toBe(exitCodeOf(circumstances, unanswered))
      } else expect(await room.run(scope, false)).toBe(exitCodeOf(circumstances, unanswered))
      expect(room.outcomes()).toEqual(outcomesOf(circumstances, unanswered))
    })

    test("a resume without scopes has those of the run", async () => {
      const [circumstances, unanswered] = [at(1), nobody(1)]
      using room = roomFor(circumstances.policy, unanswered)
      expect(await room.run(withPlan(scope), true)).toBe(0)
      expect(await room.resume(null)).toBe(exitCodeOf(circumstances, unanswered))
      expect(room.outcomes()).toEqual(outcomesOf(circumstances, unanswered))
    })
  },
)

/** No scope answers what remains to be asked there, which the two ends of the list show. */
describe.each(policies)("where configuration says %s", policy => {
  test.each(["none", "all,network"])(
    "a plan that a person approved is run as written with --yes=%s",
    async scope => {
      const circumstances = { scope, policy, isConfined }
      using room = roomFor(policy, "rest")
      const allowed = calls.filter(action => expectedOfStep(action, circumstances) === "allow")
      expect(await room.runPlan(scope, allowed)).toEqual(allowed.map(() => "succeeded"))
      for (const action of calls.filter(each => !allowed.includes(each))) {
        const isDenied = expectedOfStep(action, circumstances) === "deny"
        expect(await room.runPlan(scope, [action])).toEqual([isDenied ? "denied" : "refused"])
      }
      expect(await room.runPlan(scope, calls.slice(0, 1), true)).toEqual(["refused"])
    },
  )
})

/** The calls of the model, one after the other, each with what becomes of it where nobody is there. */
const calls = actions.filter(({ call }) => call !== null)

function outcomesOf(at: Circumstances, unanswered: "deny" | "rest"): readonly string[] {
  const outcomes: string[] = []
  for (const action of calls) {
    const want = expected(action, at)
    outcomes.push(want === "allow" ? "succeeded" : want === "deny" ? "denied" : asked[unanswered])
    if (want === "ask" && unanswered === "rest") break
  }
  return outcomes
}

const asked = { deny: "refused", rest: "interrupted" } as const

/** A question that is left open rests; else the step fails for the last thing it was not let do. */
function exitCodeOf(at: Circumstances, unanswered: "deny" | "rest"): number {
  const last = outcomesOf(at, unanswered).findLast(outcome => outcome !== "succeeded")
  return last === "interrupted" ? 10 : last === "denied" ? 32 : 33
}

function withPlan(scope: string): string {
  return scope === "" || scope === "none" ? "plan" : `plan,${scope}`
}

/** Sessions in this process, begun as the command line begins them, in a workspace of their own. */
interface MatrixRoom extends Disposable {
  run(scope: string | null, planOnly: boolean): Promise<number>
  resume(scope: string | null): Promise<number>
  /** Approves these steps and runs them, and returns what became of each. */
  runPlan(scope: string, steps: readonly Action[], isConfirmed?: boolean): Promise<readonly string[]>
  /** What became of the calls of the model. */
  outcomes(): readonly string[]
}

function roomFor(policy: Policy, unanswered: "deny" | "rest"): MatrixRoom {
  const files = { "a.txt": "a\n", "old.txt": "o\n", "dist/x.js": "x\n", tool: "#!/bin/sh\n" }
  const room = agentWorkspace({ files })
  chmodSync(join(room.workspace.root, "tool"), 0o755)
  mkdirSync(join(room.workspace.root, "src"))
  configure(room, policy, unanswered)
  room.script(
    reply.plan({ ...planned, steps: [open("s1", "GENERATE_CODE")] }),
    reply.calls(...calls.flatMap(({ call }) => (call === null ? [] : [call]))),
    reply.giveUp("that was all"),
  )
  const outcomes: string[] = []
  let [sessionId, recorded] = ["", ""]
  const drive = async (
    given: string | null,
    work: (service: AppService, surface: AgentSurface) => Promise<AgentEnd>,
  ): Promise<number> => {
    const service = opened(room, given)
    const onEvent: AgentSurface["onEvent"] = ({ type, data }) => {
      // as: the shape of the event.
      if (type === "tool_call.settled") outcomes.push((data as { readonly outcome: string }).outcome)
    }
    recorded = given ?? recorded
    const surface = { acceptsPlans: recorded !== "" && readYes(recorded, true).scopes.plan, onEvent }
    try {
      const end = await work(service, surfaceOf(room.scriptFile, { surface }))
      sessionId = end.sessionId
      return end.exitCode
    } finally {
      await service.close()
    }
  }
  return {
    run: (scope, planOnly) =>
      drive(scope, (service, surface) =>
        service.run("do what is asked", settingsOf({ settings: { planOnly, yes: scope } }), surface),
      ),
    resume: scope =>
      drive(scope, (service, surface) => {
        const change = (settings: PipelineSettings) => ({
          ...settings,
          planOnly: false,
          yes: scope ?? settings.yes,
        })
        return service.resume(sessionId, { change, skipsFailed: false }, surface)
      }),
    runPlan: (scope, steps, isConfirmed = false) => runPlan(room, scope, steps, isConfirmed),
    outcomes: () => outcomes,
    [Symbol.dispose]: () => room[Symbol.dispose](),
  }
}

async function runPlan(
  room: AgentWorkspace,
  scope: string,
  steps: readonly Action[],
  isConfirmed: boolean,
): Promise<readonly string[]> {
  const service = opened(room, scope === "" ? null : scope)
  try {
    const more = isConfirmed ? { requires_confirmation: true } : {}
    const called = steps.flatMap(({ call }): PlanStepText[] => (call === null ? [] : [[...call, more]]))
    const { plan } = runnableOf(planText(called, "p"))
    await service.approvePlan(plan, 3_600_000, () => undefined)
    const { step_results } = await service.runPlan({
      plan,
      where: "plan.json",
      approvalId: null,
      watcher: {},
      isInteractive: false,
      signal: new AbortController().signal,
      prompt: async () => null,
      notice: () => undefined,
    })
    return step_results.map(({ error_code }) => outcomeByCode.get(error_code) ?? `${error_code}`)
  } finally {
    await service.close()
  }
}

const outcomeByCode: ReadonlyMap<string | null, string> = new Map([
  [null, "succeeded"],
  ["ACODE-EXEC-005", "refused"],
  ["E105", "refused"],
  ["ACODE-EXEC-004", "denied"],
  ["ACODE-SEC-003", "denied"],
])

function opened(room: AgentWorkspace, scope: string | null): AppService {
  return openService({
    environment: readEnvironment(room.environment),
    workspace: room.workspace.root,
    configFile: undefined,
    ...(scope === null ? {} : { yes: readYes(scope, true) }),
    notice: () => undefined,
  })
}

function configure({ workspace }: AgentWorkspace, policy: Policy, unanswered: "deny" | "rest"): void {
  const keys = ["file_read", "file_write", "file_delete", "directory_create"]
  const names = [...keys, "terminal_commands", "external_requests"]
  const approvals = { ...Object.fromEntries(names.map(name => [name, policy])), non_interactive: unanswered }
  mkdirSync(join(workspace.configHome, "acode"), { mode: 0o700 })
  const file = join(workspace.configHome, "acode", "config.yml")
  writeFileSync(file, JSON.stringify({ schema_version: "1", approvals }))
}
