import type { Json } from "../../base/canonical.ts"
import type { LeftOut } from "../../domain/pipeline/left-out.ts"
import type { Review } from "../../domain/pipeline/review.ts"
import type { PipelineState, StepState, Turn } from "../../domain/pipeline/state.ts"
import type { PlanTools } from "../../domain/plan/rules.ts"
import type { Stage } from "../../domain/stage.ts"
import type { ModelMessage, ToolDescription } from "../../provider/contract.ts"

/** A stage as data: what a model is told, what it may use, and what its answer has to be. */
export interface StageDefinition {
  readonly stage: Stage
  /** Names of the tools it may use, `finish_step` among them; empty for stages that answer with JSON. */
  readonly tools: readonly string[]
  /** Those of them that a model is offered for the present step, as it is told about them. */
  offered(view: StageView): readonly ToolDescription[]
  readonly format: { readonly name: string; readonly schema: Json } | null
  /** The whole transcript for the next turn, built from the state and from what was looked up for it. */
  messages(view: StageView): readonly ModelMessage[]
  /** What the answer says, or everything that is wrong with it. Null for stages that answer by calling tools. */
  readonly read: ((text: string, view: StageView) => StageAnswer) | null
}

export type StageAnswer =
  | { readonly output: Json; readonly problems?: undefined }
  | { readonly problems: readonly string[]; readonly output?: undefined }

/** What stages are made of. */
export interface StageParts {
  /** What is known about tools, to check the concrete steps of a plan. */
  readonly planTools: PlanTools
  readonly toolDescriptions: readonly ToolDescription[]
}

/** What a stage sees: the state of the session, and what was looked up in the workspace on entering it. */
export interface StageView {
  readonly state: PipelineState
  readonly step: StepState | null
  /** A short outline of the repository: directories and files, bounded. */
  readonly outline: string
  /** AGENTS.md, CLAUDE.md: data about the project, marked as such. */
  readonly instructions: readonly ReadText[]
  /** Names and descriptions of the skills there are, one line each, bounded; empty where there are none. */
  readonly skills: string
  /** What a person wants a model to see from the beginning (`--context-files`). */
  readonly files: readonly ReadText[]
  /** For the verifier and the reviewer: what the session changed, as unified diffs, bounded and redacted. */
  readonly diff: string
  /** For the reviewer: what acode itself found, such as refused actions. */
  readonly findings: readonly AcodeFinding[]
  /** How results before the newest one are told. */
  readonly olderResults: OlderResults
  /** What all of these have beyond their bounds, and do not show. */
  readonly leftOut: readonly LeftOut[]
}

/** Some of them as old ones, each as a new one, or each as an old one. */
export type OlderResults = "someOld" | "allNew" | "allOld"

/** A file as it was read. */
export interface ReadText {
  readonly path: string
  readonly text: string
  /** About how much of it was not read; left out where it was read whole. */
  readonly leftOutTokens?: number
}

/** What was looked up, and about how much of it is not shown. */
export interface BoundedText {
  readonly text: string
  readonly leftOutTokens: number
}

/** A fact that acode established by itself. No model can approve over a critical one. */
export interface AcodeFinding {
  readonly severity: Review["findings"][number]["severity"]
  readonly text: string
}

/** Answers that were not of the right shape, each with exactly what was wrong with it. */
export function failedTries(turns: readonly Turn[]): readonly ModelMessage[] {
  return turns
    .filter(({ failure, problems }) => failure === null && problems.length > 0)
    .flatMap(({ text, problems }) => [
      { role: "assistant" as const, text, calls: [] },
      { role: "user" as const, text: correction(problems) },
    ])
}

function correction(problems: readonly string[]): string {
  const listed = problems.map(problem => `- ${problem}`).join("\n")
  return `That answer cannot be used:\n${listed}\nAnswer again with the whole JSON object, and nothing else.`
}
