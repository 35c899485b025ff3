import { planTools } from "../../../src/app/plan-tools.ts"
import type { Json } from "../../../src/base/canonical.ts"
import type {
  PipelineState,
  PlanVersion,
  StageRun,
  StepState,
  Turn,
  TurnCall,
} from "../../../src/domain/pipeline/state.ts"
import type { ModelSelection, StageModel } from "../../../src/domain/pipeline-settings.ts"
import { orderedSteps } from "../../../src/domain/plan/order.ts"
import type { Plan } from "../../../src/domain/plan/plan.ts"
import { readPlan } from "../../../src/domain/plan/reading.ts"
import type { StageView } from "../../../src/engine/stages/contract.ts"
import { toolDescriptions } from "../../../src/engine/stages/model-schemas.ts"
import { createStages } from "../../../src/engine/stages/stages.ts"
import { RecordedSession, settingsOf } from "../../support/pipeline/pipeline-events.ts"

export const stages = createStages({ planTools, toolDescriptions })

export function planOf(json: Json): Plan {
  const reading = readPlan(JSON.stringify(json), planTools)
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
  return reading.plan
}

/** One task with one open step and a criterion of each of two kinds. */
const onlyStep = {
  id: "s1",
  title: "write it",
  description: "Write src/email.ts.",
  action: "WRITE_FILE",
  depends_on: [],
}

export const smallTask = {
  id: "t1",
  title: "validator",
  description: "Add a validator.",
  complexity: 2,
  depends_on: [],
  resources: { read: ["src/**"], write: ["src/email.ts"], commands: [["npm", "test"]], hosts: [] },
  acceptance: [
    { id: "a1", kind: "command", command: ["npm", "test"], expect_exit: 0 },
    { id: "a2", kind: "judgement", text: "errors are clear" },
  ],
  steps: [onlyStep],
} satisfies Json

export const smallPlan = {
  plan_id: "p1",
  goal: "validate addresses",
  intent: "MUTATE",
  tasks: [smallTask],
  evidence_referenced: [],
} satisfies Json

export function planVersion(json: Json, more: Partial<PlanVersion> = {}): PlanVersion {
  return {
    version: 1,
    seq: 5,
    plan: planOf(json),
    checks: [],
    isApproved: true,
    isUnconfined: false,
    isUnseen: false,
    question: null,
    ...more,
  }
}

export function stepsOf(plan: Plan): readonly StepState[] {
  return orderedSteps(plan).map(({ task, step, index }) => ({
    task,
    step,
    index,
    status: "pending",
    attempts: 0,
    startedAtMs: null,
    callCount: 0,
    changedPaths: [],
    commandCount: 0,
    lastCommand: null,
    refusedSeq: 0,
    lastCall: null,
    refusalCode: null,
    summary: null,
  }))
}

export function stateOf(more: Partial<PipelineState> = {}): PipelineState {
  const { state } = new RecordedSession(settingsOf())
  return { ...state, request: "Validate e-mail addresses.", state: "EXECUTING", drivenSinceMs: 0, ...more }
}

/** A server with one model for every stage. */
export function selectionOf(more: Partial<StageModel> = {}): ModelSelection {
  const model: StageModel = {
    name: "some-model",
    rung: "native",
    editFormat: "replace",
    windowTokens: 32_768,
    outputTokensMax: 4_096,
    ...more,
  }
  return {
    protocol: "openai",
    endpoint: "http://127.0.0.1:1",
    consentBy: null,
    planner: model,
    executor: model,
    verifier: model,
    reviewer: model,
  }
}

export function viewOf(state: PipelineState, more: Partial<StageView> = {}): StageView {
  return {
    state,
    step: null,
    outline: "",
    hasCodeIndex: false,
    instructions: [],
    skills: "",
    files: [],
    diff: "",
    findings: [],
    leftOut: [],
    olderResults: "someOld",
    ...more,
  }
}

export function stageRun(more: Partial<StageRun>): StageRun {
  return {
    stage: "planner",
    attempt: 0,
    enteredAtMs: 0,
    enteredSeq: 1,
    tokensBefore: 0,
    feedback: [],
    checks: [],
    question: null,
    ...more,
  }
}

export function turnOf(more: Partial<Turn>): Turn {
  return {
    turn: 1,
    seq: 9,
    atMs: 0,
    text: "",
    calls: [],
    output: null,
    problems: [],
    isCutOff: false,
    failure: null,
    ...more,
  }
}

export function callOf(id: string, tool: string, text: string | null, args: Json = {}): TurnCall {
  return {
    id,
    tool,
    arguments: args,
    argsDigest: `digest of ${id}`,
    result: text === null ? null : { outcome: "succeeded", certainty: "done", text, digest: `sha256:${id}` },
  }
}

/** The messages without the marks, which are hashes. */
export function unmarked(text: string): string {
  return text.replace(/ [0-9a-f]{24}\n/g, " MARK\n").replace(/\n[0-9a-f]{24}>>>/g, "\nMARK>>>")
}
